"""The edges of the bins are those of the definition, to the last digit."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_refusal.metrics.calibration import bin_edges


@pytest.mark.parametrize("bins", [1, 2, 3, 5, 7, 10, 15, 20, 49, 100, 333, 1000])
def test_edges_are_those_of_linspace(bins: int) -> None:
    assert bin_edges(bins).tolist() == np.linspace(0, 1, bins + 1).tolist()


def test_every_number_of_bins_that_may_be_set() -> None:
    differ = [
        n for n in range(1, 1001) if bin_edges(n).tolist() != np.linspace(0, 1, n + 1).tolist()
    ]
    assert differ == []
