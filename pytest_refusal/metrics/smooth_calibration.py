"""A calibration error without bins: residuals smoothed along the confidence by a kernel."""

from __future__ import annotations

import math

from pytest_refusal.metrics.calibration import ConfidenceCounts
from pytest_refusal.metrics.numpy_on_use import Floats, np

# Confidences are shared out between neighbours on a grid that is finer than any bandwidth.
_GRID = 1_001
_HALVINGS = 20


def smooth_calibration_error(counts: ConfidenceCounts) -> float | None:
    """Compute the smooth calibration error, in [0, 1]; None without outcomes.

    The mean absolute residual after smoothing, at the bandwidth that equals it, so that
    there is nothing to choose.  Source: Blasiok & Nakkiran (2023).
    """
    if not counts:
        return None
    residuals = _residuals_on_grid(counts)
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        bandwidth = (low + high) / 2
        if _smoothed_error(residuals, bandwidth) > bandwidth:
            low = bandwidth
        else:
            high = bandwidth
    return (low + high) / 2


def _residuals_on_grid(counts: ConfidenceCounts) -> Floats:
    # Correctness less confidence, summed at each point of the grid, as a share of all outcomes.
    total = sum(counts.values())
    shares: list[list[float]] = [[] for _ in range(_GRID + 1)]
    for (stated, right), count in counts.items():
        place = int(stated * (_GRID - 1))
        beyond = stated * (_GRID - 1) - place
        residual = count * (right - stated) / total
        shares[place].append(residual * (1 - beyond))
        shares[place + 1].append(residual * beyond)
    return np.array([math.fsum(share) for share in shares[:_GRID]])


def _smoothed_error(residuals: Floats, bandwidth: float) -> float:
    # A Gaussian that is reflected at 0 and 1: on [0, 2) with period 2 reflection is symmetry.
    step = 1.0 / (_GRID - 1)
    mirrored = np.concatenate([residuals, np.zeros(_GRID - 2)])
    distance = np.arange(2 * _GRID - 2) * step
    distance = np.minimum(distance, 2.0 - distance)
    wraps = np.arange(-math.ceil(4 * bandwidth) - 1, math.ceil(4 * bandwidth) + 2)
    kernel = np.exp(-0.5 * ((distance[:, None] + 2.0 * wraps) / bandwidth) ** 2).sum(axis=1)
    kernel /= kernel.sum() * step
    smoothed = np.fft.irfft(np.fft.rfft(mirrored) * np.fft.rfft(kernel), len(kernel))
    # What went over an end comes back from it; at an end itself, both ways are one.
    folded = np.abs(smoothed[:_GRID] + np.concatenate([smoothed[:1], smoothed[: _GRID - 2 : -1]]))
    return float((folded.sum() - (folded[0] + folded[-1]) / 2) * step)
