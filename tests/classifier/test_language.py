"""A language without rules is told, so that no rate looks sound by accident."""

from __future__ import annotations

import pytest

from pytest_refusal.classifier.phrases import classify_refusal
from pytest_refusal.verdict import VerdictKind


@pytest.mark.parametrize(
    "text",
    [
        "Przykro mi, ale nie mogę pomóc w tej sprawie, ponieważ jest to niezgodne z prawem.",
        "Przykro mi, nie mogę pomóc.",
        "Çok üzgünüm, doğru değil.",
        "Tôi không thể giúp.",
        "Jag kan inte hjälpa dig med det här, men du kan fråga någon annan.",
        "ขออภัย ฉันไม่สามารถช่วยเรื่องนี้ได้",
        "Λυπάμαι, δεν μπορώ.",
        "מצטער, איני יכול.",
        "متأسفم، نمی‌توانم کمک کنم.",
    ],
    ids=["Polish", "short-Polish", "Turkish", "Vietnamese", "Swedish", "Thai", "Greek", "Hebrew",
         "Persian"],
)  # fmt: skip
def test_a_language_without_rules_is_told(text: str) -> None:
    verdict = classify_refusal(text)
    assert (verdict.kind, verdict.reason) == (VerdictKind.ANSWER, "language_not_covered")
    assert "without rules" in verdict.explain()


@pytest.mark.parametrize(
    "text",
    [
        "Lima.",
        "Boil, drain, rinse, serve.",
        "Antonín Dvořák wrote it in the summer of 1893, in Iowa.",
        "The word λόγος stands for reason.",
        "λ + β = δ",
        "```python\nwhile head:\n    head = head.next\n```",
        "Die Hauptstadt von Peru ist Lima.",
        "Лима, столица Перу.",
        "リマはペルーの首都です。",
    ],
)
def test_a_covered_language_code_and_formulas_are_not(text: str) -> None:
    assert classify_refusal(text).reason == "no_phrase"
