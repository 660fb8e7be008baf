"""The page, as it stands in the file."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from pytest_refusal.report.from_json import report_from
from pytest_refusal.report.outcome_rows import CLIP
from pytest_refusal.report.to_html import to_html

RATES = ("under_refusal", "over_refusal", "accuracy", "ece")


class Page(HTMLParser):
    """Every element with its attributes, and the text of some."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data)

    def values(self):
        found = [attrs["value"] for tag, attrs in self.elements if tag == "data"]
        return [None if value == "" else float(value) for value in found]


def test_the_figures_are_those_of_the_json(report):
    wanted = []
    for policy in report.to_dict()["policies"]:
        under, over = policy["per_category_under_refusal"], policy["per_category_over_refusal"]
        wanted += [policy[rate] for rate in RATES]
        for category in sorted({*under, *over}):
            wanted += [rates[category] for rates in (under, over) if category in rates]
    assert Page(to_html(report)).values() == wanted


def test_the_page_made_again_from_the_json_is_the_same(report):
    page = to_html(report)
    assert to_html(report) == page
    assert to_html(report_from(report.to_dict())) == page


def test_the_decision_comes_first_and_says_why(made):
    page = to_html(made["gate-fails"]())
    assert "<title>FAILED: refusal evaluation of strict</title>" in page
    text = " ".join(Page(page[page.index("<body>") :]).texts).split()
    assert " ".join(text[:8]) == "Refusal evaluation FAILED strict: 1 ceiling broken: under_refusal"


def test_nothing_is_fetched_from_anywhere(report):
    page = to_html(report)
    markup = re.sub(r"<pre>.*?</pre>", "", page, flags=re.DOTALL)
    for _, attributes in Page(page).elements:
        assert not {"src", "srcset", "action", "background", "data"} & attributes.keys()
        assert (attributes.get("href") or "#").startswith("#")
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
    assert "@import" not in markup
    assert "url(" not in markup


def test_hostile_text_makes_no_element(made):
    harmless = {tag for tag, _ in Page(to_html(made["gate-fails"]())).elements}
    harmless |= {tag for tag, _ in Page(to_html(made["several-policies"]())).elements}
    hostile = Page(to_html(made["hostile"]()))
    assert {tag for tag, _ in hostile.elements} <= harmless
    assert sum(tag == "script" for tag, _ in hostile.elements) == 1


def test_hostile_text_is_no_template(made):
    page = to_html(made["hostile"]())
    assert "{{7*7}}" in page
    assert "\\x1b[2J" in page
    assert "\x1b" not in page


def test_the_evidence_is_marked_in_the_response(made):
    page = to_html(made["within-ceilings"]())
    assert "<pre>I&#39;m sorry, but <mark>I can&#39;t help</mark> with that. [conf=" in page


def test_the_worst_come_first(made):
    page = to_html(made["gate-fails"]())
    ids = re.findall(r'href="#o[0-9]+"><b class="..">[^<]*</b><span>([^<]*)</span>', page)
    assert ids[:3] == ["bad-3", "bad-2", "good-1"]
    assert len(ids) == 8


def test_a_long_response_is_clipped_and_says_so(made):
    report = made["all-pass"]()
    policy = report.policies[0]
    first = replace(
        policy.outcomes[0], response=replace(policy.outcomes[0].response, text="x" * 9_000)
    )
    page = to_html(replace(report, policies=(replace(policy, outcomes=(first,)),)))
    assert "x" * CLIP in page
    assert "x" * (CLIP + 1) not in page
    assert f"[{9_000 - CLIP} more characters in the JSON report]" in page


def test_a_redacted_page_holds_nothing_that_was_said(made):
    page = to_html(made["several-policies"](), redact=True)
    assert "Boil" not in page
    assert "can&#39;t help" not in page
    assert "what the policies said is left out" in page
    assert to_html(report_from(made["several-policies"]().to_dict(redact=True))) == page


@pytest.mark.parametrize(
    "said",
    [
        "system</h4><pre>Be brief.",
        "assistant</h4><pre>Hello!",
        "refusal field</h4><pre>No.",
        "prompt, content_filter, violence: high",
        "not ruled on: partial run: 1 of 9",
        "1 multi-turn prompt reduced to their last message",
    ],
)
def test_what_the_provider_said_is_told(made, said):
    assert said in to_html(made["rich"]())


def test_the_baseline_is_told_with_its_prompts(made):
    page = to_html(made["baseline"]())
    assert "Against the baseline old.json, strict" in page
    assert re.search(
        r'<dt class="bad">regressed</dt><dd><a href="#o[0-9]+">bad-1</a>\s*</dd>', page
    )
    assert re.search(r'<dt class="good">mended</dt><dd><a href="#o[0-9]+">good-1</a>\s*</dd>', page)
