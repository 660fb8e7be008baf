"""The summary, word for word, in terminals of several kinds.

Run with REFUSAL_GOLDEN=write to take down what it says now; then read the difference.
"""

from __future__ import annotations

import io
import os
from dataclasses import replace
from pathlib import Path

import pytest
from _pytest._io import TerminalWriter
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_refusal.escape import encodable
from pytest_refusal.plugin.terminal import write_lines
from pytest_refusal.prompt import Label
from pytest_refusal.report.failure_text import describe
from pytest_refusal.report.lines import Line, Style, display_width
from pytest_refusal.report.to_html import to_html
from pytest_refusal.report.to_markdown import to_markdown
from pytest_refusal.report.to_terminal import summary
from pytest_refusal.response import Response

GOLDEN = Path(__file__).parent / "golden"
RUNS = (
    "all-pass",
    "within-ceilings",
    "gate-fails",
    "unevaluated",
    "several-policies",
    "audited",
    "baseline",
    "foreign-script",
    "foreign-comparison",
)


def written(report, *, width, colour=False, encoding="utf-8", verbosity=0):
    file = io.StringIO()
    writer = TerminalWriter(file)
    writer.hasmarkup = colour
    reasons = report.reasons or ()
    lines = summary(report, reasons=reasons, verbosity=verbosity, width=width, encoding=encoding)
    write_lines(writer.line, lines)
    return file.getvalue()


def same_as_golden(name, text):
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("REFUSAL_GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize("colour", [False, True], ids=["plain", "colour"])
@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("name", RUNS)
def test_the_summary_is_this(made, name, width, colour, encoding):
    text = written(made[name](), width=width, colour=colour, encoding=encoding)
    # Text of our own is ASCII, so that only foreign text differs by encoding.
    script = f"-{encoding}" if name.startswith("foreign-") else ""
    same_as_golden(f"{name}-{width}{'-colour' if colour else ''}{script}", text)
    assert text.isascii() or encoding == "utf-8"


def test_details_come_with_verbosity(made):
    same_as_golden("gate-fails-80-verbose", written(made["gate-fails"](), width=80, verbosity=1))
    quiet = written(made["gate-fails"](), width=80, verbosity=-1)
    same_as_golden("gate-fails-80-quiet", quiet)


def test_no_line_is_wider_than_the_terminal_but_what_decides(report):
    for width in (60, 80, 120):
        *lines, last = written(report, width=width).splitlines()
        too_long = [line for line in lines if display_width(line) > width]
        assert all(len(max(line.split(), key=len)) > 20 for line in too_long), too_long
        assert last.startswith("refusal: ")


def test_what_breaks_its_ceiling_stands_out_without_colour(made):
    lines = written(made["gate-fails"](), width=80).splitlines()
    assert "! under-refusal  2/4 = 0.5; 95% interval 0.15 to 0.85" in lines
    assert "  over-refusal   1/4 = 0.25; 95% interval 0.046 to 0.699" in lines


def test_one_prompt_alone_needs_no_statistics(made):
    lines = written(made["single"](), width=80).splitlines()
    assert lines == [
        "refusal: FAILED: strict: 1 under-refusal; partial run: 1 of 8, ceilings are not ruled on"
    ]


def test_regressions_come_before_the_rates(made):
    text = written(made["baseline"](), width=80)
    assert text.index("regressed: bad-1") < text.index("under-refusal  ")


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_columns_stand_below_one_another_whatever_the_terminal_can_write(made, encoding):
    text = written(made["foreign-comparison"](), width=80, encoding=encoding).splitlines()
    start = next(n for n, line in enumerate(text) if line.startswith("  category"))
    column = text[start].index("under-refusal")
    for line in text[start + 1 : start + 3]:
        head, gap = cut(line, column)
        assert gap.startswith(("-", "no data", "0 of", "1 of")), line
        assert head.endswith("  ")


def cut(line, column):
    """Cut a line at a column of the terminal."""
    for place in range(len(line)):
        if display_width(line[:place]) == column:
            return line[:place], line[place:]
    raise AssertionError(line)


@given(st.text(alphabet="ab ();漢é"), st.integers(30, 100))
@settings(deadline=None)
def test_breaking_a_line_loses_no_word(text, width):
    rows = list(Line(text=f"  {text}", style=Style.BAD).broken(width))
    assert " ".join(row.text for row in rows).split() == text.split()
    assert {row.style for row in rows} <= {Style.BAD}


def test_nothing_dangles_where_there_is_no_interval(made):
    whole = made["baseline"]()
    (policy,) = whole.policies
    comparison = policy.baseline.comparison
    one = replace(
        comparison,
        under_refusal=replace(comparison.under_refusal, interval=None),
        ece=replace(comparison.ece, before=0.1, after=0.1, increase=0.0, interval=None),
    )
    report = replace(
        whole,
        policies=(replace(policy, baseline=replace(policy.baseline, comparison=one)),),
    )
    lines = [*written(report, width=200).splitlines(), *to_markdown(report).splitlines()]
    assert [line for line in lines if "ECE 0.1 to 0.1: +0.000" in line]
    assert not [line for line in lines if line.rstrip().endswith((",", ";", ":,"))]
    assert ">()<" not in to_html(report)


@pytest.mark.parametrize("width", range(30, 60))
def test_a_number_stays_with_what_it_is_the_number_of(width):
    line = Line(text="under-refusal 2/17 = 0.118 to 1/17 = 0.059: no evidence, p = 0.25 p < 0.001")
    text = "\n".join(row.text for row in line.broken(width))
    for whole in ("2/17 = 0.118", "1/17 = 0.059", "p = 0.25", "p < 0.001"):
        assert whole in text


def test_the_strip_and_the_details_say_the_same_of_a_bin(made):
    lines = written(made["gate-fails"](), width=80, verbosity=1).splitlines()
    strip = next(line for line in lines if "] 1 (" in line)
    bins = [line for line in lines if ": says " in line]
    assert bins
    for line in bins:
        assert line.rsplit(", ", 1)[1] in strip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Lima. [conf=90]", "none: [conf=90] is not from 0 to 1"),
        ("Lima. [conf=0.9] [conf=high]", "none: [conf=high] is not from 0 to 1"),
        ("Lima.", "none stated"),
    ],
)
def test_a_confidence_that_cannot_be_read_is_shown(making, text, said):
    _, _, a_prompt, an_outcome = making
    outcome = an_outcome(a_prompt("p", Label.UNSAFE), "bot", declines=False)
    outcome = replace(outcome, response=Response(text=text), confidence=None)
    told = describe(outcome, where="c.toml:1", command="pytest", redact=False)
    assert said in told
    assert "[conf=" not in describe(outcome, where="c.toml:1", command="pytest", redact=True)


def test_hostile_names_drive_no_terminal(made):
    text = written(made["hostile"](), width=80)
    assert not [c for c in text if ord(c) < 32 and c != "\n"]
    assert encodable(text, "utf-8") == text
