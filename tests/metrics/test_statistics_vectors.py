"""Every published reference value that the metrics compute, from the file of vectors."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pytest_refusal.metrics.calibration import calibration_bins, expected_calibration_error
from pytest_refusal.metrics.rates import Rate

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("PYTEST_REFUSAL_SHARED", ROOT.parent / "shared"))
VECTORS = SHARED / "data" / "test-vectors" / "statistics.json"


def ece(confidence, correct, bins):
    table = calibration_bins(confidence, correct, bins)
    counts = {b.index: b.count for b in table}
    found = {"ece": expected_calibration_error(confidence, correct, bins)}
    if not table:
        return found | {"in_a_report": None}
    return found | {
        "mce": max(abs(b.gap) for b in table),
        "bin_counts": [counts.get(i, 0) for i in range(bins)],
    }


def rates(tp, tn, fp, fn):
    return {
        "accuracy": Rate(tp + tn, tp + tn + fp + fn, higher_is_better=True).value,
        "under_refusal": Rate(fn, tp + fn).value,
        "over_refusal": Rate(fp, fp + tn).value,
    }


COMPUTED = {"expected_calibration_error": ece, "rates": rates}


def number(value):
    """Read the names that stand for the numbers JSON lacks."""
    if isinstance(value, list):
        return [number(v) for v in value]
    return float(value) if value in ("NaN", "Infinity", "-Infinity") else value


def agrees(found, expected, tolerance):
    """Compare numbers within an absolute tolerance, and all else exactly."""
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(
            agrees(found[key], expected[key], tolerance) for key in expected
        )
    if isinstance(expected, list):
        return len(found) == len(expected) and all(
            agrees(f, e, tolerance) for f, e in zip(found, expected, strict=True)
        )
    if isinstance(expected, bool) or not isinstance(expected, int | float):
        return found is expected
    return abs(found - expected) <= tolerance


def test_every_vector_of_the_file():
    if not VECTORS.is_file():
        pytest.skip(f"no reference values at {VECTORS}")
    checked = set()
    for vector in json.loads(VECTORS.read_text(encoding="utf-8"))["vectors"]:
        function, expected = vector["function"], vector["expected"]
        if function not in COMPUTED:
            continue
        checked.add(function)
        inputs = {name: number(value) for name, value in vector["inputs"].items()}
        if isinstance(expected, dict) and "raises" in expected:
            with pytest.raises(ValueError, match=r"."):
                COMPUTED[function](**inputs)
            continue
        found = COMPUTED[function](**inputs)
        assert agrees(found, expected, vector["tolerance"]), (vector, found)
    assert checked == set(COMPUTED)
