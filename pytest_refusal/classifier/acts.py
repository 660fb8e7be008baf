"""What a response does, sentence by sentence: which rules match, and where."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

from pytest_refusal.classifier.language import ShownLanguages
from pytest_refusal.classifier.literals import LiteralIndex, Placed
from pytest_refusal.classifier.ruleset import Act, Matcher, Rule, RuleSet
from pytest_refusal.classifier.view import View, has_any

# What people write has few cues of one rule within so many characters; no more are looked at.
_STRETCH, _MOST = 256, 6
# Nor is a text searched more often than this for all rules together: what people write, six
# times for ten that are allowed, at most.
_MOST_AT_ALL, _CHARACTERS_A_SEARCH = 40, 96
# A member of an enum takes long to look up.
_DECLINE = Act.DECLINE
# Acts that only count if the speaker does them: not in quotations, code or dialogue.
_OWN = frozenset(
    {
        Act.DECLINE,
        Act.STANCE,
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


# A call of the class takes twice as long, and ten are made for a text.
_new_found = partial(tuple.__new__, Found)


class ActFinder:
    """Finds the acts of a text by the rules of several languages at once.

    A text is held against the rules of a language only if it shows a sign of it: its script,
    or a few of its frequent words.
    """

    def __init__(self, rulesets: Iterable[RuleSet]) -> None:
        self._rulesets = tuple(rulesets)
        self._index = LiteralIndex(self._rulesets)
        # By the first character: few of them can begin a given text.
        self._openings: dict[str, list[tuple[int, Rule]]] = {}
        for language, ruleset in enumerate(self._rulesets):
            for rule in ruleset.rules:
                for first in sorted({opening[0] for opening in rule.openings}):
                    self._openings.setdefault(first, []).append((language, rule))

    def find(self, view: View) -> list[Found]:
        """Find what `view` does, in the order of the text.

        Acts that only weigh beside others are not sought where nothing tells of declining.
        """
        shown = ShownLanguages(view, self._rulesets)
        by_stage: tuple[list[Placed], list[Placed], list[Placed]] = [], [], []
        for placed in self._index.places_in(view, shown):
            by_stage[placed[0].stage].append(placed)
        telling, weaker, beside = by_stage
        search = _Search(view)
        found = _own(search.find(telling), view)
        if weaker:
            # Where something is declined, weaker acts would be left out again.
            settled = frozenset([item.sentence for item in found if item.act is _DECLINE])
            found += _own(search.find(weaker, settled), view)
        if not found:
            return []
        found += search.find(beside)
        text, begin = view.text, view.begin
        for language, rule in self._openings.get(text[begin : begin + 1], ()):
            if text.startswith(rule.openings, begin) and shown[language]:
                _find_opening(rule, view, found)
        return sorted(set(found))


def _own(found: list[Found], view: View) -> list[Found]:
    return [f for f in found if f.act not in _OWN or not view.is_anothers(f.start, f.end)]


def _find_opening(rule: Rule, view: View, found: list[Found]) -> None:
    text, start = view.text, view.begin
    for opening in rule.openings:
        end = start + len(opening)
        if text.startswith(opening, start) and (not rule.spaced or _is_word(text, start, end)):
            found.append(Found(start, end, rule.name, rule.act, 0))
            return


class _Search:
    """The search for phrases and patterns in one text."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._is_ascii = view.text.isascii()
        self._left = _MOST_AT_ALL + len(view.text) // _CHARACTERS_A_SEARCH
        # How often each stretch of the text was searched for a rule.
        self._counts: dict[tuple[Rule, int], int] = {}

    def find(self, placed: Iterable[Placed], settled: frozenset[int] = frozenset()) -> list[Found]:
        """Find what literals tell of, but for the patterns of sentences that are `settled`."""
        found: list[Found] = []
        sentences = self._view.starts
        for literal, starts in placed:
            rule = literal.rule
            if literal.is_phrase:
                length, name, act = len(literal.text), rule.name, rule.act
                for start in starts:
                    sentence = bisect_right(sentences, start) - 1
                    found.append(_new_found((start, start + length, name, act, sentence)))
            elif self._left > 0:
                self._find_patterns(rule, literal.text, starts, settled, found)
        return found

    def _find_patterns(
        self,
        rule: Rule,
        cue: str,
        starts: list[int],
        settled: frozenset[int],
        found: list[Found],
    ) -> None:
        """Find patterns of the rule around the places of a cue."""
        view, counts, needs = self._view, self._counts, rule.needs
        tried = -1
        for start in starts:
            sentence = bisect_right(view.starts, start) - 1
            if sentence in settled:
                continue
            stretch = rule, start // _STRETCH
            counts[stretch] = count = counts.get(stretch, 0) + 1
            if count > _MOST:
                continue
            low, high = view.sentences[sentence]
            low = max(low, start - rule.before)
            high = min(high, start + rule.after)
            if low <= tried:
                continue
            tried = low
            if needs and not has_any(view.text[low:high], needs):
                continue
            self._left -= 1
            span = _match(rule.matcher(cue, is_ascii=self._is_ascii), view, low, high)
            if span:
                found.append(_new_found((*span, rule.name, rule.act, sentence)))


def _match(matcher: Matcher, view: View, low: int, high: int) -> tuple[int, int] | None:
    text = view.text
    while high > low and text[high - 1].isspace():
        high -= 1
    if matcher.opening:
        start = low
        while start < high and not text[start].isalnum():
            start += 1
        match = matcher.opening.match(text, start, high)
        if match:
            return match.span()
    if matcher.inside:
        # With a lead, what is sought begins one character into the match, and the text one
        # character into `padded`.
        lead = matcher.lead
        match = matcher.inside.search(view.padded if lead else text, low, high + lead)
        if match:
            return match.start(), match.end() - lead
    return None


def _is_word(text: str, start: int, end: int) -> bool:
    before = text[start - 1 : start]
    after = text[end : end + 1]
    if before.isalnum():
        return False
    return not text[end - 1].isalnum() or not (after.isalnum() or after == "'")
