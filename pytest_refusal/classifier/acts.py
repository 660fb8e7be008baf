"""What a response does, sentence by sentence: which rules match, and where."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from pytest_refusal.classifier.language import LanguageTeller
from pytest_refusal.classifier.literals import (
    Literal,
    LiteralIndex,
    Placed,
    PlacedByStage,
    most_literals,
)
from pytest_refusal.classifier.others import Others
from pytest_refusal.classifier.ruleset import Act, Language, Matcher, Rule
from pytest_refusal.classifier.view import View, has_any

# A text is searched no more often than this for all rules together: what people write, six
# times for ten that are allowed, at most.
_MOST_AT_ALL, _CHARACTERS_A_SEARCH = 40, 96
# Of more places of a cue in one sentence, the first and the last ones are looked at.
_FIRST, _LAST = 5, 3
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


#: An act that was found: where it begins and ends, by which rule, what it is, and in which
#: sentence.  A plain tuple, because ten are made for a text and taken apart several times.
Found = tuple[int, int, str, Act, int]


class ActFinder:
    """Finds the acts of a text by the rules of several languages at once.

    A text is held against the rules of a language only if it shows a sign of it: its script,
    or a few of its frequent words.
    """

    def __init__(
        self,
        languages: Iterable[Language],
        rules_of: Callable[[str], Sequence[Rule]],
    ) -> None:
        self._teller = LanguageTeller(languages)
        self._rules_of = rules_of
        # Read and compiled when they are first needed, because most runs need few of them; those
        # for texts in plain ASCII are others.
        self._finders: dict[str, _OfLanguage] = {}
        self._matchers: tuple[dict[Literal, Matcher], dict[Literal, Matcher]] = {}, {}

    def find(self, view: View) -> list[Found]:
        """Find what `view` does, in the order of the text.

        Acts that only weigh beside others are not sought where nothing tells of declining.
        """
        finders = [
            self._finders.get(language.code) or self._loaded(language)
            for language in self._teller.languages_in(view)
        ]
        by_stage: PlacedByStage = [], [], []
        most = most_literals(view)
        for finder in finders:
            most = finder.index.place(view, most, by_stage)
        telling, weaker, beside = by_stage
        search = _Search(view, self._matchers[view.is_ascii])
        others = Others(view)
        found = _own(search.find(telling), others)
        if weaker:
            # Where something is declined, weaker acts would be left out again.
            settled = frozenset([s for _, _, _, act, s in found if act is _DECLINE])
            found += _own(search.find(weaker, settled), others)
        if not found:
            return []
        found += search.find(beside)
        for finder in finders:
            finder.add_opening(view, found)
        return sorted(set(found))

    def _loaded(self, language: Language) -> _OfLanguage:
        finder = _OfLanguage(language, self._rules_of(language.code))
        self._finders[language.code] = finder
        return finder


class _OfLanguage:
    """What is sought of one language."""

    def __init__(self, language: Language, rules: Sequence[Rule]) -> None:
        self.index = LiteralIndex(language, rules)
        # By the first character: few of them can begin a given text.
        self._openings: dict[str, list[Rule]] = {}
        for rule in rules:
            for first in sorted({opening[0] for opening in rule.openings}):
                self._openings.setdefault(first, []).append(rule)

    def add_opening(self, view: View, found: list[Found]) -> None:
        """Add the acts with which `view` begins."""
        text, begin = view.text, view.begin
        for rule in self._openings.get(text[begin : begin + 1], ()):
            if text.startswith(rule.openings, begin):
                _find_opening(rule, view, found)


def _own(found: list[Found], others: Others) -> list[Found]:
    return [item for item in found if item[3] not in _OWN or not others.say(item[0], item[1])]


def _find_opening(rule: Rule, view: View, found: list[Found]) -> None:
    text, start = view.text, view.begin
    for opening in rule.openings:
        end = start + len(opening)
        if text.startswith(opening, start) and (not rule.spaced or _is_word(text, start, end)):
            found.append((start, end, rule.name, rule.act, 0))
            return


class _Search:
    """The search for phrases and patterns in one text."""

    def __init__(self, view: View, matchers: dict[Literal, Matcher]) -> None:
        self._view = view
        self._matchers = matchers
        self._done: set[tuple[Rule, int]] = set()
        self._left = _MOST_AT_ALL + len(view.text) // _CHARACTERS_A_SEARCH

    def find(self, placed: Iterable[Placed], settled: frozenset[int] = frozenset()) -> list[Found]:
        """Find what literals tell of, but for the patterns of sentences that are `settled`."""
        found: list[Found] = []
        sentences = self._view.starts
        for literal, starts in placed:
            if literal.is_phrase:
                rule, length = literal.rule, len(literal.text)
                for start in starts:
                    sentence = bisect_right(sentences, start) - 1
                    found.append((start, start + length, rule.name, rule.act, sentence))
            elif self._left > 0:
                self._find_patterns(literal, starts, settled, found)
        return found

    def _find_patterns(
        self, cue: Literal, starts: list[int], settled: frozenset[int], found: list[Found]
    ) -> None:
        """Find patterns of a rule around the places of one of its cues."""
        view, rule = self._view, cue.rule
        text, needs, done = view.text, rule.needs, self._done
        tried = -1
        if len(starts) > _FIRST + _LAST:
            starts = _few_of_each_sentence(starts, view)
        for start in starts:
            sentence = bisect_right(view.starts, start) - 1
            if sentence in settled or (rule, sentence) in done:
                continue
            low, high = view.sentences[sentence]
            first, last = start - rule.before, start + rule.after
            is_begun = low < first
            if is_begun:
                low = first
            if high > last:  # noqa: PLR1730 (this takes a quarter of a call of min)
                high = last
            if low <= tried:
                continue
            tried = low
            self._left -= 1
            if needs and not has_any(text[low:high], needs):
                continue
            matcher = self._matchers.get(cue) or self._compiled(cue)
            match, lead = None, 0
            if matcher.opening and not is_begun:
                opened = low
                while opened < high and not text[opened].isalnum():
                    opened += 1
                match = matcher.opening.match(text, opened, high)
            if match is None and matcher.inside:
                # With a lead, what is sought begins one character into the match, and the text
                # one character into `padded`.
                lead = matcher.lead
                match = matcher.inside.search(view.padded if lead else text, low, high + lead)
            if match:
                begin, end = match.span()
                found.append((begin, end - lead, rule.name, rule.act, sentence))
                done.add((rule, sentence))

    def _compiled(self, cue: Literal) -> Matcher:
        matcher = cue.rule.matcher(cue.text, is_ascii=self._view.is_ascii)
        self._matchers[cue] = matcher
        return matcher


def _few_of_each_sentence(starts: list[int], view: View) -> list[int]:
    few: list[int] = []
    for _, group in groupby(starts, view.sentence_at):
        of_one = list(group)
        few += of_one[:_FIRST] + of_one[_FIRST:][-_LAST:]
    return few


def _is_word(text: str, start: int, end: int) -> bool:
    before = text[start - 1 : start]
    after = text[end : end + 1]
    if before.isalnum():
        return False
    return not text[end - 1].isalnum() or not (after.isalnum() or after == "'")
