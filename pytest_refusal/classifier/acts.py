"""What a response does, sentence by sentence: which rules match, and where."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from pytest_refusal.classifier.ruleset import Act, Matcher, Rule, RuleSet
from pytest_refusal.classifier.view import View

# Of many occurrences of a literal the first and the last ones are looked at.
_FIRST, _LAST = 24, 8
# A sentence without an end is looked at this far around a cue.
_REACH = 240
# Acts that only count if the speaker does them: not in quotations, code or dialogue.
_OWN = frozenset(
    {
        Act.DECLINE,
        Act.ABSTAIN,
        Act.INCAPABLE,
        Act.OPINION,
        Act.DISCLAIMER,
        Act.CANNOT,
        Act.APOLOGY,
        Act.UNFIT,
    }
)


class Found(NamedTuple):
    """An act that was found: by which rule, where, and in which sentence."""

    start: int
    end: int
    rule: str
    act: Act
    sentence: int


class ActFinder:
    """Finds the acts of a text by the rules of several languages at once.

    Literals are indexed by their rarest word, so that a text is only held against rules of
    which it has a word.
    """

    def __init__(self, rulesets: Iterable[RuleSet]) -> None:
        self._index: dict[str, list[_Literal]] = defaultdict(list)
        self._anywhere: list[_Literal] = []
        self._openings: list[Rule] = []
        for ruleset in rulesets:
            for rule in ruleset.rules:
                for literal in _literals(rule):
                    if ruleset.spaced:
                        self._index[_rarest_word(literal.text, ruleset)].append(literal)
                    else:
                        self._anywhere.append(literal)
                if rule.openings:
                    self._openings.append(rule)

    def find(self, view: View) -> list[Found]:
        """Find what `view` does, in the order of the text."""
        text, index = view.text, self._index
        found: list[Found] = []
        tried: set[tuple[Matcher, int]] = set()
        candidates = [literal for word in index.keys() & view.words for literal in index[word]]
        if not view.is_ascii:
            candidates += self._anywhere
        for literal in candidates:
            start = text.find(literal.text)
            if start >= 0:
                if literal.is_phrase:
                    _find_phrase(literal, start, view, found)
                else:
                    _find_patterns(literal, start, view, tried, found)
        for rule in self._openings:
            _find_opening(rule, view, found)
        found = [f for f in found if f.act not in _OWN or not view.is_anothers(f.start, f.end)]
        return sorted(set(found))


class _Literal(NamedTuple):
    text: str
    rule: Rule
    is_phrase: bool


def _literals(rule: Rule) -> list[_Literal]:
    phrases = [_Literal(phrase, rule, is_phrase=True) for phrase in rule.phrases]
    return phrases + [_Literal(cue, rule, is_phrase=False) for cue in rule.cues]


def _rarest_word(literal: str, ruleset: RuleSet) -> str:
    words = literal.split()
    return max(words, key=lambda word: (word not in ruleset.common, len(word), word)).strip(",.")


def _find_phrase(literal: _Literal, start: int, view: View, found: list[Found]) -> None:
    phrase, rule, _ = literal
    for position in _occurrences(view.text, phrase, start):
        end = position + len(phrase)
        if not rule.spaced or _is_word(view.text, position, end):
            found.append(Found(position, end, rule.name, rule.act, view.sentence_at(position)))


def _find_opening(rule: Rule, view: View, found: list[Found]) -> None:
    text, start = view.text, view.begin
    if text.startswith(rule.openings, start):
        for opening in rule.openings:
            end = start + len(opening)
            if text.startswith(opening, start) and (not rule.spaced or _is_word(text, start, end)):
                found.append(Found(start, end, rule.name, rule.act, 0))
                return


def _find_patterns(
    literal: _Literal,
    start: int,
    view: View,
    tried: set[tuple[Matcher, int]],
    found: list[Found],
) -> None:
    cue, rule, _ = literal
    matcher = rule.matcher(cue)
    for position in _occurrences(view.text, cue, start):
        index = view.sentence_at(position)
        low, high = view.sentences[index]
        if high - low > 2 * _REACH:
            low, high = max(low, position - _REACH), min(high, position + _REACH)
        if (matcher, low) in tried:
            continue
        tried.add((matcher, low))
        match = _match(matcher, view.text, low, high)
        if match:
            found.append(Found(match.start(), match.end(), rule.name, rule.act, index))


def _match(matcher: Matcher, text: str, low: int, high: int) -> re.Match[str] | None:
    while high > low and text[high - 1].isspace():
        high -= 1
    if matcher.opening:
        start = low
        while start < high and not text[start].isalnum():
            start += 1
        match = matcher.opening.match(text, start, high)
        if match:
            return match
    return matcher.inside.search(text, low, high) if matcher.inside else None


def _is_word(text: str, start: int, end: int) -> bool:
    before = text[start - 1 : start]
    after = text[end : end + 1]
    if before.isalnum():
        return False
    return not text[end - 1].isalnum() or not (after.isalnum() or after == "'")


def _occurrences(text: str, literal: str, start: int) -> list[int]:
    """Return where `literal` stands from `start`, its first place, on; not all if many."""
    places = []
    while start >= 0:
        places.append(start)
        start = text.find(literal, start + len(literal))
        if len(places) == _FIRST:
            break
    end = len(text)
    while start >= 0 and len(places) < _FIRST + _LAST:
        end = text.rfind(literal, start, end)
        if end < 0:
            break
        places.append(end)
    return places
