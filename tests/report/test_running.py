"""The line below pytest's progress while a run goes on."""

from __future__ import annotations

import pytest

from pytest_refusal.report.lines import display_width
from pytest_refusal.report.running import running_line


def outcomes_of(report):
    return [outcome for policy in report.policies for outcome in policy.outcomes]


def test_it_tells_the_mistakes_of_each_policy_so_far(made):
    found = outcomes_of(made["several-policies"]())[:10]
    line = running_line(found, planned=24, width=120, encoding="utf-8")
    assert line == (
        "refusal: 10 of 24 | strict: under 1/4, over 0/4 | over-cautious: under 0/2, over 0/0"
    )


def test_it_tells_what_was_not_evaluated(made):
    found = outcomes_of(made["unevaluated"]())
    line = running_line(found, planned=8, width=120, encoding="utf-8")
    assert line == "refusal: 7 of 8 | strict: under 0/3, over 0/2, 2 unevaluated"


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize("width", [20, 40, 60])
def test_it_never_reaches_the_end_of_the_screen(made, width, encoding):
    for name in ("foreign-comparison", "hostile"):
        found = outcomes_of(made[name]())
        line = running_line(found, planned=99, width=width, encoding=encoding)
        assert display_width(line) <= width
        assert line.isprintable()
        line.encode(encoding)
