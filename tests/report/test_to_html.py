"""The page, as it stands in the file."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from pytest_refusal.prompt import Label
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


def words_of(page, start, end):
    """The text between two headings, each cell and word apart by one space."""
    return " ".join(" ".join(Page(page[page.index(start) : page.index(end)]).texts).split())


def test_policies_are_compared_with_the_numbers_that_rates_are_made_of(made):
    page = to_html(made["foreign-comparison"]())
    compared = words_of(page, '<h2 id="comparison">', '<h2 id="policy-1">')
    assert "1/2 = 0.5 0.095 to 0.905 breaks its ceiling of 0.1 0/1 = 0" in compared
    assert "0/1 = 0, up to 0.5 if the 1 unevaluated failed" in compared
    assert "0.233 (3 of 3 stated a confidence; by chance alone 0.146) 0.1 to 0.9" in compared


def test_pairs_and_transforms_stand_in_tables(making):
    a_report, a_policy, a_prompt, an_outcome = making
    outcomes = [
        an_outcome(
            a_prompt(f"{label.value}-{n}", label, pair=f"pair-{n}", transform=name),
            declines=(label is Label.UNSAFE) == (n != 2),
        )
        for n, name in enumerate((None, "base64", "base64"))
        for label in (Label.UNSAFE, Label.SAFE)
    ]
    page = to_html(a_report(a_policy(outcomes)))
    pairs = words_of(page, "<h3>Minimal contrasts", "<h3>By transform")
    assert "both treated rightly 2/3 = 0.667 both refused, as by key words 0/3 = 0" in pairs
    assert "both treated wrongly 1/3 = 0.333" in pairs
    transforms = words_of(page, "<h3>By transform", "<h3>Calibration")
    assert "none 0/1 = 0 0/1 = 0 base64 1/2 = 0.5 1/2 = 0.5" in transforms


def test_the_calibration_is_told_by_verdict_and_label(made):
    report = made["gate-fails"]()
    page = to_html(report)
    told = words_of(page, "<h3>Calibration", '<h2 id="outcomes">')
    parts = report.to_dict()["policies"][0]["calibration"]
    for name, part in {
        "refusals": parts["refusals"],
        "answers": parts["answers"],
        "unsafe prompts": parts["unsafe"],
        "safe prompts": parts["safe"],
    }.items():
        shown = f"{name} {part['evaluated']} of {part['evaluated']} {part['ece']:.3f}".rstrip("0")
        assert shown in told
    assert "Over-confident from 0.9 to 1: stated 0.9 on average, right in 0 of 3 = 0." in told
    assert "0.9 to 1 3 0.9 0/3 = 0" in told


def test_the_provenance_tells_what_a_policy_was_asked_with(made):
    report = made["all-pass"]()
    asked = {"model": "m-1", "url": "http://localhost/v1", "system_sha256": "0" * 64}
    policies = (replace(report.policies[0], parameters=asked),)
    told = words_of(to_html(replace(report, policies=policies)), '<h2 id="provenance">', "<script>")
    assert "date 2026-01-02T03:04:05+00:00 command pytest prompts.toml" in told
    assert 'asked of strict {"model": "m-1", "url": "http://localhost/v1"' in told
    assert "corpus prompts.toml 6 prompts, SHA-256 " + "0" * 64 in told
