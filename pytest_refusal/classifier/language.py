"""Whether a text is in a language that the rules cover, told by its frequent words.

This is no language detector: it only keeps a rate from looking sound by accident.
"""

from __future__ import annotations

import re
from functools import cache

from pytest_refusal.classifier.ruleset import LANGUAGES, load_rules
from pytest_refusal.classifier.view import View

_LOOKED_AT = 2000
_FEWEST_WORDS = 6
# Of the words of a text in a covered language, at least this share are frequent ones.
_LEAST_SHARE = 0.15
_AROUND = ".,;:!?\"'()[]\u2026\u201c\u201d\u00ab\u00bb\u00bf\u00a1\u060c\u061f\u0964-\u2013\u2014"
_CODE = re.compile(r"```.*?(?:```|$)", re.DOTALL)
_KANA_HANGUL_HAN = re.compile("[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]")


def uncovered_language(view: View) -> str | None:
    """Return a note if the text is mostly in no language with rules; None if it is in one.

    Texts of a few words, code and numbers are taken for covered.
    """
    text = view.text[:_LOOKED_AT]
    if "```" in view.raw:
        text = _CODE.sub(" ", text)
    words = [word for part in text.split() if (word := part.strip(_AROUND)) and word[0].isalpha()]
    if len(words) < _FEWEST_WORDS or _KANA_HANGUL_HAN.search(text):
        return None
    for common in _common_words():
        if sum(word in common for word in words) >= _LEAST_SHARE * len(words):
            return None
    return "mostly in a language without rules"


@cache
def _common_words() -> tuple[frozenset[str], ...]:
    return tuple(rules.common for rules in map(load_rules, LANGUAGES) if rules.common)
