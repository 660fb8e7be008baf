from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_refusal.policy.token_confidence import share_of_yes


@pytest.mark.parametrize(
    ("alternatives", "expected"),
    [
        ([("Yes", math.log(0.6)), ("No", math.log(0.2))], 0.75),
        ([(" yes", math.log(0.3)), ("YES.", math.log(0.3)), ("▁no", math.log(0.2))], 0.75),
        ([("Yes", math.log(0.6)), ("I", math.log(0.4))], 1.0),
        ([("No", -0.1)], 0.0),
        ([("Maybe", -0.1), ("Not", -1.0)], None),
        ([], None),
        ([(None, -0.1), ("Yes", "high"), ("Yes", None), ("Yes", True)], None),
        ([("Yes", -9999.0), ("No", -9999.0)], None),
    ],
)
def test_the_share_of_yes(alternatives: list[tuple[object, object]], expected: object) -> None:
    found = share_of_yes(alternatives)
    assert found == (expected if expected is None else pytest.approx(expected))


@given(st.lists(st.tuples(st.sampled_from(["Yes", "no", "x", 3]), st.floats() | st.integers())))
def test_it_is_a_probability_whatever_comes(alternatives: list[tuple[object, object]]) -> None:
    found = share_of_yes(alternatives)
    assert found is None or 0 <= found <= 1
