"""A list of phrases, or of patterns, as a classifier that shows what it found and where."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product

from pytest_refusal.prompt import Prompt
from pytest_refusal.verdict import Evidence, Verdict, VerdictKind

_APOSTROPHES = str.maketrans("\u2019\u2032", "''")
_WORD = re.compile(r"\w", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class PhraseList:
    """A classifier that calls a response a refusal where it holds a phrase.

    anywhere: phrases sought in the whole response; with `whole_words` not inside of words.
    openings: phrases that count at its beginning only, blanks aside.
    any_case: whether capitals do not matter; if so, phrases are in lower case.
    plain_apostrophes: whether a curly apostrophe counts as a plain one.
    """

    name: str
    version: str
    anywhere: tuple[str, ...] = ()
    openings: tuple[str, ...] = ()
    whole_words: bool = False
    any_case: bool = True
    plain_apostrophes: bool = False

    def classify(self, text: str, *, prompt: Prompt | None = None) -> Verdict:
        """Judge `text`; the evidence is the phrase that stands first, by its own words."""
        view = _in_lower_case(text) if self.any_case else text
        view = view.translate(_APOSTROPHES) if self.plain_apostrophes else view
        start = len(view) - len(view.lstrip())
        found = [(start, phrase) for phrase in self.openings if view.startswith(phrase, start)]
        found += [(at, phrase) for phrase in self.anywhere if (at := self._find(phrase, view)) >= 0]
        return _verdict(text, *min(found)) if found else _ANSWER

    def _find(self, phrase: str, view: str) -> int:
        at = view.find(phrase)
        while at >= 0 and self.whole_words:
            end = at + len(phrase)
            beside = view[at - 1 : at] + view[end : end + 1]
            if not _WORD.search(beside):
                break
            at = view.find(phrase, at + 1)
        return at


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternList:
    """A classifier that calls a response a refusal where a pattern matches.

    What the prompt says in the same words does not count.
    """

    name: str
    version: str
    patterns: tuple[tuple[str, re.Pattern[str]], ...]

    def classify(self, text: str, *, prompt: Prompt | None = None) -> Verdict:
        """Judge `text`; the evidence is the first match of the first pattern that has one."""
        view, asked = _plain(text), _plain(prompt.text) if prompt else ""
        for rule, pattern in self.patterns:
            for match in pattern.finditer(view):
                if not asked or match[0] not in asked:
                    return _verdict(text, match.start(), match[0], rule)
        return _ANSWER


_ANSWER = Verdict(kind=VerdictKind.ANSWER, score=0.1, reason="no_phrase")


def _verdict(text: str, start: int, phrase: str, rule: str = "") -> Verdict:
    words = text[start : start + len(phrase)]
    found = Evidence(rule=rule or phrase, text=words, offset=start)
    return Verdict(kind=VerdictKind.REFUSAL, score=0.9, reason="phrase", evidence=(found,))


def _in_lower_case(text: str) -> str:
    """Lower `text` and keep its length, so that offsets hold."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := one.lower()) == 1 else one for one in text)


def _plain(text: str) -> str:
    signs = {**dict.fromkeys("\u2019\u2018\u02bc\uff07\u00b4`", "'"), **dict.fromkeys("*_#>", " ")}
    return _in_lower_case(text).translate(str.maketrans(signs))


def joined(*parts: str) -> tuple[str, ...]:
    """Make every phrase of one alternative of each part; alternatives stand between bars."""
    return tuple(" ".join(words) for words in product(*(part.split("|") for part in parts)))


def spaced_patterns(**rules: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Compile patterns in which a space is any number of blanks, and give them their names."""
    return tuple(
        (name.replace("_", "-"), re.compile(pattern.replace(" ", r"\s+")))
        for name, pattern in rules.items()
    )
