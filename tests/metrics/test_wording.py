"""Numbers in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_refusal.metrics.rates import Rate
from pytest_refusal.metrics.wording import fraction, number


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "no data"),
        (0.0, "0"),
        (1.0, "1"),
        (0.25, "0.25"),
        (2 / 17, "0.118"),
        (0.0005001, "0.001"),
        (0.0004, "0.0004"),
        (3.84e-4, "0.0004"),
        (0.99961, "0.9996"),
        (0.99999, "0.99999"),
        (5e-17, "0"),
        (1 - 2e-16, "1"),
        (-0.0001, "-0.0001"),
    ],
)
def test_number_has_as_many_decimals_as_it_needs(value: float | None, text: str) -> None:
    assert number(value) == text


@given(st.integers(1, 5_000_000), st.data())
def test_a_rate_looks_like_none_or_all_only_where_it_is(denominator: int, data: st.DataObject):
    numerator = data.draw(st.integers(0, denominator))
    text = number(numerator / denominator)
    assert (text == "0") == (numerator == 0)
    assert (text == "1") == (numerator == denominator)


def test_one_in_ten_thousand_is_not_nothing() -> None:
    assert fraction(Rate(1, 10_000, 0)) == "1/10000 = 0.0001"
