"""An interval of a JSON report back to the value that it was written from."""

from __future__ import annotations

from pytest_refusal.metrics.intervals import Interval, IntervalMethod
from pytest_refusal.report.fields import Fields


def interval_from(fields: Fields) -> Interval:
    """Read one interval; what is wrong with it becomes a fault of the file."""
    return Interval(
        lower=fields.number("lower", low=-1.0),
        upper=fields.number("upper", low=-1.0),
        confidence_level=fields.share("confidence_level"),
        method=fields.choice("method", IntervalMethod, IntervalMethod.WILSON),
    )
