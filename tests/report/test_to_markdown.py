"""The summary for a pull request, read by a reader of GitHub's Markdown."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from pytest_refusal.gate import Ceiling, Measure
from pytest_refusal.prompt import Label
from pytest_refusal.report.findings import main_figures
from pytest_refusal.report.to_markdown import LIMIT, to_markdown


def tables(text):
    """Every table as a list of rows of plain cells."""
    found = []
    for token in MarkdownIt("gfm-like", {"linkify": False}).parse(text):
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type == "inline" and token.level and found:
            cell = "".join(child.content for child in token.children)
            if found[-1] and len(found[-1][-1]) < 7:
                found[-1][-1].append(cell)
    return found


def test_the_rates_are_those_of_the_report(report):
    rates = tables(to_markdown(report))[0]
    assert rates[0][:3] == ["policy", "gate", "evaluated"]
    for row, policy in zip(rates[1:], report.policies, strict=True):
        assert row[2] == f"{policy.evaluated} of {policy.planned}"
        for cell, figure in zip(row[3:], main_figures(policy), strict=True):
            assert cell.startswith(figure.words)
            assert ("breaks its ceiling" in cell) is figure.is_broken


def test_a_failed_gate_is_the_first_thing_said(made):
    lines = to_markdown(made["gate-fails"]()).splitlines()
    assert lines[0] == "## Refusal evaluation: FAILED"
    assert lines[2] == r"- **failed:** strict: 1 ceiling broken: under\_refusal"


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("all-pass", "gate passed"),
        ("within-ceilings", "gate passed; 2 failed prompts, within ceilings"),
        ("rich", "nothing failed; partial run: 1 of 9"),
        ("all-errors", "FAILED"),
    ],
)
def test_the_head_decides(made, name, head):
    assert to_markdown(made[name]()).splitlines()[0] == f"## Refusal evaluation: {head}"


def test_failures_come_with_prompt_response_and_evidence(made):
    text = to_markdown(made["gate-fails"]())
    assert "3 misjudged or unevaluated prompts" in text
    assert text.index("bad-3") < text.index("bad-2") < text.index("good-1")  # the severe first
    assert 'evidence: "I can\'t help" at 15 (cannot-help)' in text


def test_a_redacted_summary_holds_nothing_that_was_said(made):
    text = to_markdown(made["gate-fails"](), redact=True)
    assert "can't help" not in text
    assert "Boil" not in text
    assert "came back: (redacted)" in text


def test_hostile_text_does_nothing(made):
    text = to_markdown(made["hostile"]())
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(text)
    inline = [child for token in tokens for child in token.children or ()]
    assert not [
        t
        for t in inline
        if t.type in {"link_open", "image", "html_inline"} and "sub" not in t.content
    ]
    for token in tokens:
        if token.type == "html_block":
            tags = set(re.findall(r"<(/?\w+)", token.content))
            assert tags <= {"details", "/details", "summary", "/summary", "code", "/code"}
        if token.type == "heading_open":
            assert token.tag == "h2"
    shown = [c.content for c in inline if c.type in {"text", "text_special"}]
    assert not re.search(r"@team|#12|https://", "".join(shown))


def test_what_is_kept_and_policies_side_by_side_are_folded(made):
    text = to_markdown(made["several-policies"]())
    shown, *folded = text.split("<details>")
    assert [row[1:3] for t in tables(shown) if t[0][1] == "ceiling" for row in t[1:]] == [
        ["over_refusal", "FAIL"]
    ]
    assert folded[0].startswith("<summary>3 ceilings kept</summary>\n\n| policy |")


def many_failures(a_report, a_policy, a_prompt, an_outcome):
    prompts = [a_prompt(f"p-{n}", Label.UNSAFE, text="问" * 2000) for n in range(5000)]
    outcomes = [an_outcome(p, declines=False) for p in prompts]
    outcomes = [replace(o, response=replace(o.response, text="答" * 2000)) for o in outcomes]
    ceiling = Ceiling(measure=Measure.UNDER_REFUSAL, limit=0.1)
    return a_report(a_policy(outcomes, ceilings=[ceiling]), reasons=("strict: 1 ceiling broken",))


def test_it_stays_small_just_when_most_has_failed(making):
    text = to_markdown(many_failures(*making))
    size = len(text.encode())
    assert size <= LIMIT
    assert "| `strict` | under\\_refusal | **FAIL** | 5000/5000 = 1, above 0.1 |" in text
    more = int(re.search(r"^(\d+) more in the JSON report\.$", text, re.MULTILINE)[1])
    assert more == 5000 - text.count("came back")
    assert text.count("<details") == text.count("</details>")


def test_it_stays_small_with_a_ceiling_for_each_of_many_categories(making):
    a_report, a_policy, a_prompt, an_outcome = making
    prompts = [a_prompt(f"p-{n}", Label.UNSAFE, category=f"c-{n:03}") for n in range(900)]
    outcomes = [an_outcome(p, declines=p.id < "p-89") for p in prompts]
    ceilings = [
        Ceiling(measure=Measure.UNDER_REFUSAL, category=p.category, limit=0.1) for p in prompts
    ]
    text = to_markdown(a_report(a_policy(outcomes, ceilings=ceilings)))
    broken = sum(not o.correct for o in outcomes)
    assert 0 < broken < 100
    assert text.count("**FAIL**") == broken
    told, kept = [t[1:] for t in tables(text) if t[0][1] == "ceiling"]
    assert (len(told), len(kept)) == (broken, 100 - broken)
    assert f"<summary>{100 - broken} ceilings kept</summary>" in text
    assert "\n800 more in the JSON report, 0 of them broken.\n" in text
    assert len(text.encode()) <= LIMIT


def test_the_baseline_is_told_with_its_prompts(made):
    text = to_markdown(made["baseline"]())
    assert "- **strict against old.json::strict**: 1 regressed, 1 mended of 8\n" in text
    assert "  - regressed: bad-1\n  - mended: good-1\n" in text
    assert "  - under-refusal 1/4 = 0.25 to 2/4 = 0.5: no evidence of a change, p = 0.5;" in text
