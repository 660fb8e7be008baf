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
# With no more words than this, a text is held against every language.
_FEW_WORDS = 12
# Beyond this, two frequent words may be there by chance: languages share some.
_SOME_WORDS = 40
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

# Acts that say nothing by themselves of whether something is declined.
_BESIDE = frozenset(
    {
        Act.OFFER,
        Act.ALTERNATIVE,
        Act.COMPLY,
        Act.WILLING,
        Act.CLARIFY,
        Act.PREAMBLE,
        Act.SELF,
        Act.FICTION,
    }
)
# Acts that say nothing more where the sentence declines outright.
_OUTRANKED = frozenset({Act.ABSTAIN, Act.INCAPABLE, Act.CANNOT, Act.UNFIT})


class Found(NamedTuple):
    """An act that was found: by which rule, where, and in which sentence."""

    start: int
    end: int
    rule: str
    act: Act
    sentence: int


class ActFinder:
    """Finds the acts of a text by the rules of several languages at once.

    A text is held against the rules of a language only if it shows a sign of it: its script,
    or a few of its frequent words.
    """

    def __init__(self, rulesets: Iterable[RuleSet]) -> None:
        self._lexicons = [_Lexicon(ruleset) for ruleset in rulesets]
        self._spaced = [lexicon for lexicon in self._lexicons if lexicon.script is None]
        self._scripts = [lexicon for lexicon in self._lexicons if lexicon.script is not None]
        self._common: dict[str, list[int]] = defaultdict(list)
        for number, lexicon in enumerate(self._spaced):
            for word in lexicon.common:
                self._common[word].append(number)

    def find(self, view: View) -> list[Found]:
        """Find what `view` does, in the order of the text.

        Acts that only weigh beside others are not sought where nothing tells of declining.
        """
        used = self._used_in(view)
        search = _Search()
        found = _find_telling(used, search, view)
        if found:
            _find_beside(used, search, view, found)
        return sorted(set(found))

    def _used_in(self, view: View) -> list[_Lexicon]:
        words = len(view.words)
        if words <= _FEW_WORDS:
            used = list(self._spaced)
        else:
            votes = [0] * len(self._spaced)
            for word in self._common.keys() & view.words:
                for number in self._common[word]:
                    votes[number] += 1
            least = 2 if words <= _SOME_WORDS else 3
            used = [self._spaced[number] for number, count in enumerate(votes) if count >= least]
        if not view.is_ascii:
            used += [x for x in self._scripts if x.script and x.script.search(view.text)]
        return used


def _find_telling(used: list[_Lexicon], search: _Search, view: View) -> list[Found]:
    text = view.text
    found: list[Found] = []
    weaker: list[tuple[_Literal, int]] = []
    for lexicon in used:
        for literal in lexicon.telling_in(view):
            start = text.find(literal[0])
            if start < 0:
                continue
            if literal[2]:
                _find_phrase(literal, start, view, found)
            elif literal[1].act in _OUTRANKED:
                weaker.append((literal, start))
            else:
                search.find_patterns(literal, start, view, found)
    found = _own(found, view)
    # Where something is declined, weaker acts would be left out again: not worth a search.
    search.settled = {item.sentence for item in found if item.act is Act.DECLINE}
    also: list[Found] = []
    for literal, start in weaker:
        search.find_patterns(literal, start, view, also)
    return found + _own(also, view)


def _find_beside(used: list[_Lexicon], search: _Search, view: View, found: list[Found]) -> None:
    search.settled = set()
    for lexicon in used:
        for literal in lexicon.beside_in(view):
            start = view.text.find(literal[0])
            if start >= 0:
                if literal[2]:
                    _find_phrase(literal, start, view, found)
                else:
                    search.find_patterns(literal, start, view, found)
        for rule in lexicon.openings:
            _find_opening(rule, view, found)


def _own(found: list[Found], view: View) -> list[Found]:
    return [f for f in found if f.act not in _OWN or not view.is_anothers(f.start, f.end)]


class _Lexicon:
    """The literals of one language, by their rarest word where words stand apart."""

    def __init__(self, ruleset: RuleSet) -> None:
        self.common = ruleset.common
        self.script = ruleset.script
        self.openings = [rule for rule in ruleset.rules if rule.openings]
        literals = [literal for rule in ruleset.rules for literal in _literals(rule)]
        self._telling = _index([x for x in literals if x.rule.act not in _BESIDE], ruleset)
        self._beside = _index([x for x in literals if x.rule.act in _BESIDE], ruleset)

    def telling_in(self, view: View) -> list[_Literal]:
        """Return literals that may be in the text, of acts that tell of declining."""
        return _candidates(self._telling, view)

    def beside_in(self, view: View) -> list[_Literal]:
        """Return literals that may be in the text, of acts that weigh beside those."""
        return _candidates(self._beside, view)


class _Literal(NamedTuple):
    text: str
    rule: Rule
    is_phrase: bool


def _index(literals: list[_Literal], ruleset: RuleSet) -> dict[str, list[_Literal]]:
    """Put literals under their rarest word; all under "" where words do not stand apart."""
    index: dict[str, list[_Literal]] = defaultdict(list)
    for literal in literals:
        key = _rarest_word(literal.text, ruleset) if ruleset.spaced else ""
        index[key].append(literal)
    return index


def _candidates(index: dict[str, list[_Literal]], view: View) -> list[_Literal]:
    found = [literal for word in index.keys() & view.words for literal in index[word]]
    return found or index.get("", [])


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


class _Search:
    """One search for patterns: no sentence is tried twice, and none that is settled."""

    def __init__(self) -> None:
        self.settled: set[int] = set()
        self._tried: set[tuple[Matcher, int]] = set()

    def find_patterns(self, literal: _Literal, start: int, view: View, found: list[Found]) -> None:
        cue, rule, _ = literal
        text, matcher, tried = view.text, rule.matcher(cue), self._tried
        for position in _occurrences(text, cue, start):
            index = view.sentence_at(position)
            if index in self.settled:
                continue
            low, high = view.sentences[index]
            low, high = max(low, position - rule.before), min(high, position + rule.after)
            if (matcher, low) in tried:
                continue
            tried.add((matcher, low))
            if rule.needs and not _has_any(text[low:high], rule.needs):
                continue
            match = _match(matcher, rule.starts, text, low, high)
            if match:
                found.append(Found(match.start(), match.end(), rule.name, rule.act, index))


def _has_any(text: str, literals: tuple[str, ...]) -> bool:
    for literal in literals:  # noqa: SIM110 (a loop takes half the time of a generator here)
        if literal in text:
            return True
    return False


def _match(
    matcher: Matcher, starts: tuple[str, ...], text: str, low: int, high: int
) -> re.Match[str] | None:
    while high > low and text[high - 1].isspace():
        high -= 1
    if matcher.opening:
        start = low
        while start < high and not text[start].isalnum():
            start += 1
        match = matcher.opening.match(text, start, high)
        if match:
            return match
    if matcher.inside is None:
        return None
    if not starts:
        return matcher.inside.search(text, low, high)
    leftmost = None
    before = high
    for literal in starts:
        start = text.find(literal, low, before)
        while start >= 0:
            match = matcher.inside.match(text, start, high)
            if match:
                leftmost, before = match, start
                break
            start = text.find(literal, start + 1, before)
    return leftmost


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
