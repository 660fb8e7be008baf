"""Which literals of the rules stand in a text, and where: the first and quickest look at it.

One expression finds the literals of the languages in which words stand apart; those of the others
are found by their first characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

from pytest_refusal.classifier.ruleset import Act, Language, Rule
from pytest_refusal.classifier.view import View, words_of

# Of many places of a literal the first and the last ones are looked at.
_FIRST, _LAST = 24, 8
_MOST_PLACES = _FIRST + _LAST
# Nor are more different ones looked at: what people write has six for ten that are allowed, and
# half of the most where it is long.
_FEWEST_AT_ALL, _CHARACTERS_A_LITERAL, _MOST_AT_ALL = 80, 64, 400
_SPACES = re.compile(" +")
# With what a word begins before which another is shortened.
_ELIDED_BEFORE = "aeiouyhàâäéèêëìîïòôöùûüœ"


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


class Stage(IntEnum):
    """When what a literal tells of is sought.

    TELLING: in any text.
    WEAKER: after that, where nothing is declined.
    BESIDE: only where something tells of declining.
    """

    TELLING = 0
    WEAKER = 1
    BESIDE = 2


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """A phrase of a rule, or a cue for its patterns.

    has_marks: whether there is more in it than words, where words stand apart.
    """

    text: str
    rule: Rule
    stage: Stage
    is_phrase: bool
    has_marks: bool


#: A literal, and where it stands in a text.
Placed = tuple[Literal, list[int]]
#: Literals that were found, in the order of the text, and where they stand.
Places = dict[Literal, list[int]]
PlacedByStage = tuple[list[Placed], list[Placed], list[Placed]]


class LiteralIndex:
    """The literals of one language."""

    def __init__(self, language: Language, rules: Iterable[Rule]) -> None:
        literals = [literal for rule in rules for literal in _literals(rule)]
        self._spaced = language.spaced
        self._found_by: list[_Words | _Characters] = [
            _Words(literals) if self._spaced else _Characters(literals)
        ]
        if language.elides:
            # Those that may follow an apostrophe, as in "l'aide".
            begun = [x for x in literals if x.text[0] in _ELIDED_BEFORE]
            self._found_by.append(_Words(begun, after="'"))

    def place(self, view: View, most: int, by_stage: PlacedByStage) -> int:
        """Add where literals stand in `view`, and return how many of `most` are left."""
        text = view.text
        where = f" {view.words} ".replace(" '", "  ") if self._spaced else text
        for index in self._found_by:
            places = index.places_in(where, most)
            most -= len(places)
            for literal, starts in places.items():
                if len(starts) > _MOST_PLACES:
                    del starts[_FIRST:-_LAST]
                by_stage[literal.stage].append(
                    (literal, _with_marks(literal.text, text, starts))
                    if literal.has_marks
                    else (literal, starts)
                )
        return most


def most_literals(view: View) -> int:
    """Return how many different literals of a text are looked at."""
    return min(_FEWEST_AT_ALL + len(view.text) // _CHARACTERS_A_LITERAL, _MOST_AT_ALL)


class _Words:
    """One expression for many literals that are whole words.

    It is compiled when it is first needed: many runs never meet the language.
    after: what stands before them.
    """

    def __init__(self, literals: Iterable[Literal], *, after: str = " ") -> None:
        self._literals = _by_text(literals, lambda text: " ".join(words_of(text).split()))
        # As they are matched: with what stands before, and a space after.
        self._begun_by = {
            f"{after}{text} ": [
                literal
                for beginning in _beginnings(text, self._literals)
                if not _goes_on(text, len(beginning))
                for literal in self._literals[beginning]
            ]
            for text in self._literals
        }
        self._after = after

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        # Emphasis, too, became a space: "do **not** write".
        any_of = _any_of(self._literals).replace(re.escape(" "), " ++")
        # One character comes first, because the search skips to it at once.
        return re.compile(f"{self._after}{any_of} ")

    def places_in(self, words: str, most: int) -> Places:
        """Return where literals stand, up to where `most` different ones were found."""
        places: Places = {}
        search, begun_by = self._pattern.search, self._begun_by
        # They may overlap.  To look ahead for them takes twice as long as to match them and to go
        # back.
        match = search(words)
        while match and len(places) <= most:
            text, start = match[0], match.start()
            for literal in begun_by.get(text) or begun_by[_SPACES.sub(" ", text)]:
                if literal in places:
                    places[literal].append(start)
                else:
                    places[literal] = [start]
            match = search(words, start + 1)
        return places


class _Characters:
    """Expressions for literals that stand anywhere, by their first character.

    They are compiled when they are first needed: few of them can begin in one text.
    """

    def __init__(self, literals: Iterable[Literal]) -> None:
        by_text = _by_text(literals, str)
        self._begun_by = {
            text: [literal for x in _beginnings(text, by_text) for literal in by_text[x]]
            for text in by_text
        }
        self._by_first: dict[str, list[str]] = {}
        for text in by_text:
            self._by_first.setdefault(text[0], []).append(text)
        self._first = re.compile(f"[{re.escape(''.join(sorted(self._by_first)))}]")
        self._patterns: dict[str, re.Pattern[str]] = {}

    def places_in(self, text: str, most: int) -> Places:
        """Return where literals stand, up to where `most` different ones were found."""
        places: Places = {}
        patterns = self._patterns
        for first in self._first.finditer(text):
            if len(places) > most:
                break
            start, character = first.start(), first[0]
            if character not in patterns:
                patterns[character] = re.compile(_any_of(self._by_first[character]))
            match = patterns[character].match(text, start)
            if match:
                for literal in self._begun_by[match[0]]:
                    places.setdefault(literal, []).append(start)
        return places


def _with_marks(literal: str, text: str, starts: list[int]) -> list[int]:
    return [start for start in starts if text.startswith(literal, start)]


def _beginnings(text: str, literals: Mapping[str, object]) -> list[str]:
    """Return the literals with which `text` begins, itself the last."""
    return [text[:end] for end in range(1, len(text) + 1) if text[:end] in literals]


def _by_text(
    literals: Iterable[Literal], text_of: Callable[[str], str]
) -> dict[str, list[Literal]]:
    texts: dict[str, list[Literal]] = {}
    for literal in literals:
        texts.setdefault(text_of(literal.text), []).append(literal)
    return texts


def _literals(rule: Rule) -> list[Literal]:
    return [
        Literal(
            text,
            rule,
            _stage_of(rule.act, is_phrase=is_phrase),
            is_phrase,
            rule.spaced and words_of(text) != text,
        )
        for texts, is_phrase in ((rule.phrases, True), (rule.cues, False))
        for text in texts
    ]


def _stage_of(act: Act, *, is_phrase: bool) -> Stage:
    if act in _BESIDE:
        return Stage.BESIDE
    # What phrases tell of costs no search.
    return Stage.WEAKER if act in _OUTRANKED and not is_phrase else Stage.TELLING


def _goes_on(text: str, end: int) -> bool:
    return text[end : end + 1].isalnum() or text[end : end + 1] in ("'", "-")


def _any_of(texts: Iterable[str]) -> str:
    """Return an expression that matches the longest of `texts` that it can."""
    tree: _Tree = {}
    for text in texts:
        node = tree
        for character in text:
            node = node.setdefault(character, {})
        node[""] = {}
    return _spelled(tree) if tree else "(?!)"


_Tree = dict[str, "_Tree"]


def _spelled(tree: _Tree) -> str:
    branches = []
    for character in sorted(filter(None, tree)):
        # As long as there is but one way on, it is written as it is read.
        ahead, node = re.escape(character), tree[character]
        while len(node) == 1 and "" not in node:
            [(following, node)] = node.items()
            ahead += re.escape(following)
        branches.append(ahead + _spelled(node))
    if not branches:
        return ""
    if "" in tree:
        # To match nothing, too, is quicker as one more branch than as a repetition.
        branches.append("")
    return f"(?:{'|'.join(branches)})"
