"""Which literals of the rules stand in a text, and where: the first and quickest look at it.

One expression finds the literals of the languages in which words stand apart; those of the others
are found by their first characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from pytest_refusal.classifier.language import ShownLanguages
from pytest_refusal.classifier.ruleset import Act, Rule, RuleSet
from pytest_refusal.classifier.view import View, words_of

# Of many places of a literal the first and the last ones are looked at.
_FIRST, _LAST = 24, 8
# Nor are more different ones looked at: what people write has six for ten that are allowed, and
# half of the most where it is long.
_FEWEST_AT_ALL, _CHARACTERS_A_LITERAL, _MOST_AT_ALL = 80, 64, 400
_SPACES = re.compile(" +")


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

    language: the number of its language among those that are sought.
    has_marks: whether there is more in it than words, where words stand apart.
    """

    text: str
    rule: Rule
    language: int
    stage: Stage
    is_phrase: bool
    has_marks: bool


#: A literal, and where it stands in a text.
Placed = tuple[Literal, list[int]]


class LiteralIndex:
    """The literals of several languages."""

    def __init__(self, rulesets: Sequence[RuleSet]) -> None:
        spaced: list[Literal] = []
        others: list[Literal] = []
        for language, ruleset in enumerate(rulesets):
            for rule in ruleset.rules:
                (spaced if ruleset.spaced else others).extend(_literals(rule, language))
        # Apart, so that a text in plain ASCII is not held against the letters of other scripts.
        self._ascii = _Words(x for x in spaced if x.text[0].isascii())
        self._spaced = _Words(x for x in spaced if not x.text[0].isascii())
        self._others = _Characters(others)

    def places_in(self, view: View, shown: ShownLanguages) -> list[Placed]:
        """Return where literals stand, of the languages that are shown."""
        text, words = view.text, " " + view.words
        most = min(_FEWEST_AT_ALL + len(text) // _CHARACTERS_A_LITERAL, _MOST_AT_ALL)
        places = self._ascii.places_in(words, shown, most)
        if not view.is_ascii:
            places += self._spaced.places_in(words, shown, most - len(places))
            places += self._others.places_in(text, shown, most - len(places))
        for literal, starts in places:
            if literal.has_marks:
                starts[:] = [start for start in starts if text.startswith(literal.text, start)]
            if len(starts) > _FIRST + _LAST:
                del starts[_FIRST:-_LAST]
        return places


class _Found:
    """The literals that stand where one is found: it, and those with which it begins."""

    def __init__(self, texts: Mapping[str, Sequence[Literal]], *, spaced: bool) -> None:
        self._literals = {
            text: [
                literal
                for end in range(1, len(text) + 1)
                if not (spaced and _goes_on(text, end))
                for literal in texts.get(text[:end], ())
            ]
            for text in texts
        }

    def places(
        self, found: Iterable[tuple[int, str]], shown: ShownLanguages, most: int
    ) -> list[Placed]:
        """Return where literals stand, up to where `most` different ones were found."""
        places: dict[Literal, list[int]] = {}
        for start, text in found:
            if len(places) > most:
                break
            for literal in self._literals[text]:
                if literal in places:
                    places[literal].append(start)
                elif shown[literal.language]:
                    places[literal] = [start]
        return list(places.items())


class _Words:
    """One expression for many literals that are whole words."""

    def __init__(self, literals: Iterable[Literal]) -> None:
        texts = _by_text(literals, lambda text: _SPACES.sub(" ", words_of(text)))
        # Emphasis, too, became a space: "do **not** write".
        any_of = _any_of(texts).replace(re.escape(" "), " +")
        # A set of characters comes first, because the search skips to one of them at once.
        self._pattern = re.compile(f"[ '](?=({any_of})(?![\\w'-]))")
        self._found = _Found(texts, spaced=True)

    def places_in(self, words: str, shown: ShownLanguages, most: int) -> list[Placed]:
        return self._found.places(self._matches(words), shown, most)

    def _matches(self, words: str) -> Iterator[tuple[int, str]]:
        for match in self._pattern.finditer(words):
            text = match[1]
            yield match.start(), _SPACES.sub(" ", text) if "  " in text else text


class _Characters:
    """Expressions for literals that stand anywhere, by their first character.

    They are compiled when they are first needed: few of them can begin in one text.
    """

    def __init__(self, literals: Iterable[Literal]) -> None:
        texts = _by_text(literals, str)
        self._by_first: dict[str, list[str]] = {}
        for text in texts:
            self._by_first.setdefault(text[0], []).append(text)
        self._first = re.compile(f"[{re.escape(''.join(sorted(self._by_first)))}]")
        self._patterns: dict[str, re.Pattern[str]] = {}
        self._found = _Found(texts, spaced=False)

    def places_in(self, text: str, shown: ShownLanguages, most: int) -> list[Placed]:
        return self._found.places(self._matches(text), shown, most)

    def _matches(self, text: str) -> Iterator[tuple[int, str]]:
        patterns = self._patterns
        for first in self._first.finditer(text):
            start, character = first.start(), first[0]
            if character not in patterns:
                patterns[character] = re.compile(_any_of(self._by_first[character]))
            match = patterns[character].match(text, start)
            if match:
                yield start, match[0]


def _by_text(
    literals: Iterable[Literal], text_of: Callable[[str], str]
) -> dict[str, list[Literal]]:
    texts: dict[str, list[Literal]] = {}
    for literal in literals:
        texts.setdefault(text_of(literal.text), []).append(literal)
    return texts


def _literals(rule: Rule, language: int) -> list[Literal]:
    return [
        Literal(
            text,
            rule,
            language,
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
    return _spelled(tree)


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
    return f"(?:{'|'.join(branches)})" + ("?" if "" in tree else "")
