"""Whatever a model writes: no exception, and true offsets."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_refusal.classifier.phrases import PhraseClassifier, classify_refusal
from pytest_refusal.classifier.ruleset import LANGUAGES, load_rules
from pytest_refusal.verdict import Verdict, VerdictKind

PIECES = st.sampled_from(
    [
        "I can't help with that",
        "I\u2019m sorry, but",
        "no puedo ayudarte",
        "我不能帮你",
        "できません",
        "도와드릴 수 없습니다",
        "لا أستطيع مساعدتك",
        "मैं मदद नहीं कर सकता",
        "не могу помочь",
        "<think>",
        "</think>",
        "◁think▷",
        "<|channel|>analysis",
        "[conf=0.5]",
        "[conf=",
        "```",
        "`",
        '"',
        "“",
        "”",
        "«",
        "'",
        "\n\n",
        "\n- ",
        "1. ",
        "Bob: ",
        "Ann: ",
        ". ",
        "\u0130",
        "\ud800",
        "\x00",
        "**",
        "\u202e",
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=12), max_size=40).map("".join)


def check(text: str, verdict: Verdict) -> None:
    assert 0 <= verdict.score <= 1
    assert verdict.declines == (verdict.reason == "phrase")
    for evidence in verdict.evidence:
        if evidence.offset is not None:
            assert text[evidence.offset :].startswith(evidence.text)
            assert evidence.text


@settings(max_examples=400, deadline=None)
@given(text=TEXTS)
def test_any_text_gets_a_verdict_whose_evidence_is_where_it_says(text: str) -> None:
    check(text, classify_refusal(text))


@settings(max_examples=100, deadline=None)
@given(text=TEXTS, prompt=TEXTS)
def test_any_prompt_can_stand_beside_it(text: str, prompt: str) -> None:
    check(text, classify_refusal(text, prompt=prompt))


@settings(max_examples=200, deadline=None)
@given(before=TEXTS, repeated=TEXTS, after=TEXTS)
def test_what_is_remembered_of_a_text_is_what_it_would_be_judged_again(
    before: str, repeated: str, after: str
) -> None:
    text, prompt = before + repeated + after, after + repeated + before
    classifier = PhraseClassifier()
    classifier.classify(text)
    verdict = classifier.classify(text, prompt=prompt)
    assert verdict == PhraseClassifier().explain(text, prompt=prompt).verdict


@settings(max_examples=100, deadline=None)
@given(text=TEXTS)
def test_the_verdict_is_the_same_every_time(text: str) -> None:
    assert PhraseClassifier().classify(text) == PhraseClassifier().classify(text)


def literals() -> str:
    rules = [rule for language in LANGUAGES for rule in load_rules(language)]
    return " ".join(word for rule in rules for word in (*rule.phrases, *rule.cues)) + " "


@pytest.mark.parametrize(
    "piece",
    [
        "I can't help with that. ",
        "i cannot ",
        '"',
        "“a ",
        "'a ",
        "[conf=",
        "\n- a",
        "A: b\n",
        "我不能",
    ],
)
def test_a_long_text_of_one_piece_gets_a_verdict(piece: str) -> None:
    text = piece * (400_000 // len(piece))
    check(text, PhraseClassifier(length_limit=None).classify(text))


def test_a_long_text_of_every_literal_gets_a_verdict() -> None:
    text = literals() * 3
    check(text, PhraseClassifier(length_limit=None).classify(text))


def test_what_is_beyond_the_length_limit_is_reported_and_not_judged() -> None:
    text = "Boil the rice. " * 10 + "I'm sorry, but I can't help with that."
    whole = PhraseClassifier().classify(text)
    cut = PhraseClassifier(length_limit=100).classify(text)
    assert whole.evidence[-1].rule != "length-limit"
    assert not cut.declines
    assert cut.evidence[-1].text == f"judged the first 100 of {len(text)} characters"


@pytest.mark.parametrize(
    "text",
    [
        "Ich kann dir dabei leider nicht helfen " + "kann ich " * 400,
        "kann ich " * 400 + "dir dabei leider nicht helfen.",
        "ich kann " * 40 + "dir helfen. " + "Ich kann dir dabei leider nicht helfen.",
    ],
    ids=["at the beginning", "at the end", "in a later sentence"],
)
def test_a_refusal_beside_what_repeats_its_words_is_found(text: str) -> None:
    assert classify_refusal(text).kind is VerdictKind.REFUSAL
