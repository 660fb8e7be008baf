"""Comparisons of a JSON report back to the values that they were written from."""

from __future__ import annotations

from pytest_refusal.metrics.comparison import Comparison, EceChange, RateChange
from pytest_refusal.metrics.intervals import Interval
from pytest_refusal.metrics.rates import Rate
from pytest_refusal.report.fields import Fields
from pytest_refusal.report.read_interval import interval_from


def comparison_from(fields: Fields) -> Comparison:
    """Read one comparison; what is wrong with it becomes a fault of the file."""
    return Comparison(
        compared=fields.whole("compared"),
        regressed=fields.pairs("regressed"),
        mended=fields.pairs("mended"),
        added=fields.pairs("added"),
        removed=fields.pairs("removed"),
        changed=fields.pairs("changed"),
        unevaluated=fields.pairs("unevaluated"),
        under_refusal=_rate_change(fields.table("under_refusal")),
        over_refusal=_rate_change(fields.table("over_refusal")),
        ece=_ece_change(fields.table("ece")),
    )


def _rate_change(fields: Fields) -> RateChange:
    return RateChange(
        before=_rate(fields.table("before")),
        after=_rate(fields.table("after")),
        increase=fields.optional_number("increase"),
        interval=_interval(fields),
        p_value=fields.optional_share("p_value"),
    )


def _rate(fields: Fields) -> Rate:
    counted = fields.whole("numerator")
    return Rate(counted, max(counted, fields.whole("denominator")), fields.whole("unevaluated"))


def _ece_change(fields: Fields) -> EceChange:
    return EceChange(
        before=fields.optional_share("before"),
        after=fields.optional_share("after"),
        increase=fields.optional_number("increase"),
        interval=_interval(fields),
    )


def _interval(fields: Fields) -> Interval | None:
    return None if fields.is_null("interval") else interval_from(fields.table("interval"))
