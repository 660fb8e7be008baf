"""No pattern repeats words that nothing keeps apart: such a one takes exponential time."""

from __future__ import annotations

import re

import pytest

from pytest_refusal.classifier.ruleset import LANGUAGES, load_rules

WORD = re.compile(r"\(\?:\[\\w'-\]\+\)|\[\\w'-\]\+|\\w\+")
REPEATED = re.compile(r"\(\?:([^()]*)\)(?:\{\d*,(?!1\})\d*\}|[*+])")
# A blank that must be there, or a mark at the beginning.
KEPT_APART = re.compile(r"\\s\+|^[-,;:]")


def endless_parts(source: str) -> list[str]:
    """Return repeated alternatives in which a word may follow a word with nothing between."""
    plain = WORD.sub("WORD", source)
    return [
        part
        for group in REPEATED.finditer(plain)
        for part in group[1].split("|")
        if "WORD" in part and not KEPT_APART.search(part)
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_pattern_of_a_language_is_one(language: str) -> None:
    found = {
        (rule.name, part)
        for rule in load_rules(language)
        for source in rule.sources
        for part in endless_parts(source)
    }
    assert found == set()


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        (r"ne\s+(?:\s*(?:[\w'-]+),?){0,9}\s+pas", [r"\s*WORD,?"]),
        (r"(?:\w+)*!", ["WORD"]),
        (r"(?:(?:[\w'-]+),?\s+){0,9}not", []),
        (r"help(?:-\w+){0,3}", []),
        (r"(?:can|may)+", []),
        (r"(?:a\s+WORD)?", []),
    ],
)
def test_such_a_part_is_known(source: str, parts: list[str]) -> None:
    assert endless_parts(source) == parts
