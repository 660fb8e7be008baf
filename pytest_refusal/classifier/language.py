"""Which languages a text shows a sign of, told by its script and by frequent words.

This is no language detector: it saves the rules of other languages from being tried, and it
keeps a rate from looking sound by accident.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from pytest_refusal.classifier.ruleset import LANGUAGES, Language, load_language
from pytest_refusal.classifier.view import View

_NOTE = "mostly in a language without rules"
# With no more different words than this, one frequent word is a sign.
_FEW_WORDS = 12
# Up to here so many frequent words are a sign; beyond it they may be there by chance, because
# languages share some, and it takes more.
_SOME_WORDS = 40
_SIGNS, _MANY_SIGNS = 2, 3
# In so many characters at the beginning, most texts show their language; if there is no sign of
# another one there or in so many at the end, no other is looked for.
_BEGINNING, _END = 100, 60

_LOOKED_AT = 2000
_FEWEST_WORDS = 6
# Of the words of a text in a covered language, at least this share are frequent ones.
_LEAST_SHARE = 0.15
_AROUND = ".,;:!?\"'()[]\u2026\u201c\u201d\u00ab\u00bb\u00bf\u00a1\u060c\u061f\u0964-\u2013\u2014"
_CODE = re.compile(r"```.*?(?:```|$)", re.DOTALL)
_KANA_HANGUL_HAN = re.compile("[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]")
# A text of fewer words shows its language only by its letters.
_FEWEST_STRANGE = 3
# What may be a letter of a script that no language with rules is written in.
_UNCOVERED = re.compile(
    "[^\u0000-\u007f\u00aa-\u024f\u1e00-\u1eff\u0400-\u052f\u0600-\u06ff\u0750-\u077f\u0900-\u097f"
    "\u1100-\u11ff\u2000-\u206f\u3040-\u318f\u31f0-\u31ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\ufb50-\ufdff\ufe70-\uffef]"
)
# May be one of a script by which a language is told.
_LETTERS = re.compile("[^\u0000-\u05ff\u1e00-\u2fff]")
# More than one of a formula or a quoted word.
_FEWEST_LETTERS = 4
# Letters of these scripts that no language with rules has: Polish, Turkish, Ukrainian, Persian ...
_STRANGE = re.compile(
    "[\u00e5\u00f0\u00f8\u00fe\u0100-\u0151\u0154-\u0177\u0179-\u024f\u1ea0-\u1ef9"
    "\u0454\u0456\u0457\u045e\u0491\u067e\u0686\u0698\u06a9\u06af\u06cc]"
)


class LanguageTeller:
    """Tells the languages of which a text shows a sign, so that only their rules are tried."""

    def __init__(self, languages: Iterable[Language]) -> None:
        self._languages = tuple(languages)
        by_words = [language for language in self._languages if language.script is None]
        # With the words that the others have.
        self._by_words = [
            (one, frozenset().union(*(x.common - one.common for x in by_words if x is not one)))
            for one in by_words
        ]

    def languages_in(self, view: View) -> list[Language]:
        """Return the languages that `view` shows; the first of all if it shows none."""
        lettered: list[Language] = []
        if not view.is_ascii and _LETTERS.search(view.text):
            lettered = [x for x in self._languages if x.script and x.script.search(view.text)]
        beginning, end = view.words[:_BEGINNING].split(), view.words[-_END:].split()
        for language, others in self._by_words:
            if len(language.common.intersection(beginning)) >= _MANY_SIGNS:
                if others.isdisjoint(beginning) and others.isdisjoint(end):
                    return [language, *lettered]
                break
        words = frozenset(view.words.split())
        shown = [x for x, _ in self._by_words if _is_shown(x, words)]
        return [*shown, *lettered] or list(self._languages[:1])


def _is_shown(language: Language, words: frozenset[str]) -> bool:
    signs = len(language.common & words)
    least = 1 if len(words) <= _FEW_WORDS else _SIGNS if len(words) <= _SOME_WORDS else _MANY_SIGNS
    return signs >= least


def uncovered_language(view: View) -> str | None:
    """Return a note if the text is mostly in no language with rules; None if it is in one.

    Code, numbers, and texts of a few words in ordinary letters are taken for covered.
    """
    text = view.text[:_LOOKED_AT]
    if view.has_fence:
        text = _CODE.sub(" ", text)
    if not view.is_ascii:
        if _is_of_another_script(text):
            return _NOTE
        if _KANA_HANGUL_HAN.search(text):
            return None
    parts = text.split()
    common_words = _common_words()
    # Marks around words hide a few of the frequent ones, which seldom makes a difference.
    if any(sum(map(x.__contains__, parts)) >= _LEAST_SHARE * len(parts) for x in common_words):
        return None
    words = [word for part in parts if (word := part.strip(_AROUND)) and word[0].isalpha()]
    if len(words) < _FEWEST_STRANGE:
        return None
    if len(words) < _FEWEST_WORDS and _STRANGE.search(text) is None:
        return None
    for common in common_words:
        if sum(word in common for word in words) >= _LEAST_SHARE * len(words):
            return None
    return _NOTE


def _is_of_another_script(text: str) -> bool:
    others = sum(map(str.isalpha, _UNCOVERED.findall(text)))
    return others >= _FEWEST_LETTERS and 2 * others > sum(map(str.isalpha, text))


@cache
def _common_words() -> tuple[frozenset[str], ...]:
    return tuple(one.common for one in map(load_language, LANGUAGES) if one.common)
