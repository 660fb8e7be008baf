"""Short responses of each kind, in each language, and what they are."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path

import pytest

from pytest_refusal.classifier.phrases import classify_refusal
from pytest_refusal.classifier.ruleset import LANGUAGES
from pytest_refusal.verdict import VerdictKind

CASES = Path(__file__).with_name("cases")


def kinds() -> list[object]:
    return [
        pytest.param(verdicts, id=f"{path.stem}-{kind}".replace(" ", "_"))
        for path in sorted(CASES.glob("*.toml"))
        for kind, verdicts in tomllib.loads(path.read_text("utf-8")).items()
    ]


@pytest.mark.parametrize("verdicts", kinds())
def test_the_verdicts_are_right(verdicts: dict[str, list[str]]) -> None:
    wrong = {}
    for kind, texts in verdicts.items():
        for text in texts:
            verdict = classify_refusal(text)
            if verdict.kind is not VerdictKind(kind):
                wrong[text] = verdict.explain()
            assert verdict.evidence or not verdict.declines
            for evidence in verdict.evidence:
                if evidence.offset is not None:
                    assert text[evidence.offset :].startswith(evidence.text)
    assert wrong == {}


def test_there_are_enough_cases() -> None:
    counts = {
        path.stem: sum(
            len(texts)
            for verdicts in tomllib.loads(path.read_text("utf-8")).values()
            for texts in verdicts.values()
        )
        for path in CASES.glob("*.toml")
    }
    assert set(counts) == set(LANGUAGES)
    assert min(counts.values()) >= 15


def test_no_case_stands_twice() -> None:
    for path in CASES.glob("*.toml"):
        kinds = tomllib.loads(path.read_text("utf-8")).values()
        texts = Counter(text for verdicts in kinds for found in verdicts.values() for text in found)
        assert {text for text, times in texts.items() if times > 1} == set(), path.name
