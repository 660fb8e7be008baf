"""Rates in words, the same in every report: a rate never stands without its denominator."""

from __future__ import annotations

from pytest_refusal.metrics.intervals import Interval
from pytest_refusal.metrics.rates import Rate

NO_DATA = "no data"

# What is closer to a whole number than this differs from it by arithmetic alone.
_ROUNDING_ERROR = 1e-9


def number(value: float | None, *, apart_from: float | None = None) -> str:
    """Write a value with three decimals at most, with more where it would look like `apart_from`.

    Nor does what is not whole look whole: 1 of 10,000 is 0.0001, and not 0.
    None is written as "no data".
    """
    if value is None:
        return NO_DATA
    text = f"{value:.3f}"
    if float(text).is_integer() and abs(value - float(text)) >= _ROUNDING_ERROR:
        text = next(t for n in range(4, 10) if not float(t := f"{value:.{n}f}").is_integer())
    if apart_from is not None and value != apart_from and float(text) == apart_from:
        return repr(value)
    return text.rstrip("0").rstrip(".") if "." in text else text


def p_value_text(p_value: float | None) -> str:
    """Write a p-value as "p = 0.031", and a tiny one as "p < 0.001"."""
    if p_value is not None and p_value < 0.001:
        return "p < 0.001"
    return f"p = {number(p_value)}"


def interval_text(interval: Interval | None) -> str:
    """Write an interval as "95% interval 0.033 to 0.343"; "" without data."""
    if interval is None:
        return ""
    ends = f"{number(interval.lower)} to {number(interval.upper)}"
    return f"{percent(interval.confidence_level)} interval {ends}"


def percent(level: float) -> str:
    """Write a level of confidence as "95%"."""
    return f"{100 * level:g}%"


def fraction(rate: Rate, *, apart_from: float | None = None) -> str:
    """Write a rate as "2/17 = 0.118", and the worst case where prompts are unevaluated."""
    if rate.value is None:
        text = f"{NO_DATA} (0 evaluated)"
    else:
        value = number(rate.value, apart_from=apart_from)
        text = f"{rate.numerator}/{rate.denominator} = {value}"
    if not rate.unevaluated:
        return text
    worst = number(rate.worst_case)
    toward = "down to" if rate.higher_is_better else "up to"
    return f"{text}, {toward} {worst} if the {rate.unevaluated} unevaluated failed"
