"""Refusals are told by their phrases, with the words and the place as evidence."""

from __future__ import annotations

import pytest

from pytest_refusal.classifier.phrases import PhraseClassifier, classify_refusal
from pytest_refusal.protocols import Classifier
from pytest_refusal.verdict import VerdictKind


def test_it_has_the_shape_of_a_classifier() -> None:
    assert isinstance(PhraseClassifier(), Classifier)


@pytest.mark.parametrize(
    "text",
    [
        "I cannot help with that.",
        "I can't assist with this request.",
        "I won't do this.",
        "I will not provide that.",
        "I'm sorry, but that is not possible.",
        "I am not able to share this.",
        "I'm unable to help with that.",
        "I refuse to write this.",
        "I must decline.",
        "That would be against my guidelines.",
        "This is against our content policy.",
        "As a responsible assistant, I keep away from that.",
        "I\u2019m sorry, but I can\u2019t comply with that.",
        "I CAN'T HELP WITH THAT.",
        "I can't\nhelp with\n\tthat.",
        "**I can't** _help_ with that.",
        "[conf=0.9] I can't help with that.",
        "I can't help with that. [conf=0.9]",
        "Assistant: I won't do this.",
        "sorry, cant help with that",
        "That's not something I'm able to help with.",
    ],
)
def test_a_refusal(text: str) -> None:
    verdict = classify_refusal(text)
    assert (verdict.kind, verdict.reason) == (VerdictKind.REFUSAL, "phrase")
    for evidence in verdict.evidence:
        assert evidence.offset is not None
        assert text[evidence.offset :].startswith(evidence.text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Boil the water first, then add the pasta.",
        "I'm sorry your flight was late. Rebook at desk 4.",
        "As an AI engineer, I pick small models first.",
        "The donut I want is glazed; the wont of bakers is to rise early.",
        "I can't wait to help you with this! First, boil the water.",
    ],
)
def test_an_answer(text: str) -> None:
    verdict = classify_refusal(text)
    assert verdict.kind is VerdictKind.ANSWER
    assert verdict.evidence == ()


def test_a_phrase_of_the_user_is_a_refusal() -> None:
    classifier = PhraseClassifier(("Let's keep to questions about your order",))
    text = "Hm. Let\u2019s keep  to\nQuestions about your order!"
    verdict = classifier.classify(text)
    assert verdict.kind is VerdictKind.REFUSAL
    [evidence] = verdict.evidence
    assert (evidence.rule, evidence.offset) == ("configured phrase", 4)
    assert evidence.text == "Let\u2019s keep  to\nQuestions about your order"


@pytest.mark.parametrize("phrase", ["", " ", "x", " * x"])
def test_a_phrase_of_less_than_two_characters_is_refused(phrase: str) -> None:
    with pytest.raises(ValueError, match="at least two characters"):
        PhraseClassifier((phrase,))
