"""Which literals of the rules stand in a text, and where: the first and quickest look at it.

One expression finds all literals of the languages in which words stand apart, and one all others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pytest_refusal.classifier.language import ShownLanguages
from pytest_refusal.classifier.ruleset import Rule, RuleSet
from pytest_refusal.classifier.view import View, words_of

# Of many places of a literal the first and the last ones are looked at.
_FIRST, _LAST = 24, 8


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """A phrase of a rule, or a cue for its patterns.

    language: the number of its language among those that are sought.
    has_marks: whether there is more in it than words, where words stand apart.
    """

    text: str
    rule: Rule
    language: int
    is_phrase: bool
    has_marks: bool


#: Where each literal stands that a text holds.
Places = dict[Literal, list[int]]


class LiteralIndex:
    """The literals of several languages."""

    def __init__(self, rulesets: Sequence[RuleSet]) -> None:
        spaced: list[Literal] = []
        others: list[Literal] = []
        for language, ruleset in enumerate(rulesets):
            for rule in ruleset.rules:
                (spaced if ruleset.spaced else others).extend(_literals(rule, language))
        self._spaced = _Search(spaced, spaced=True)
        self._others = _Search(others, spaced=False)

    def places_in(self, view: View, shown: ShownLanguages) -> Places:
        """Return where literals stand, of the languages that are shown."""
        places: Places = {}
        self._spaced.add_places(" " + view.words, shown, places)
        if not view.is_ascii:
            self._others.add_places(view.text, shown, places)
        text = view.text
        for literal, many in places.items():
            if literal.has_marks:
                many[:] = [start for start in many if text.startswith(literal.text, start)]
            if len(many) > _FIRST + _LAST:
                del many[_FIRST:-_LAST]
        return places


class _Search:
    """One expression for many literals; `spaced` if they are whole words."""

    def __init__(self, literals: Iterable[Literal], *, spaced: bool) -> None:
        texts: dict[str, list[Literal]] = {}
        for literal in literals:
            texts.setdefault(words_of(literal.text) if spaced else literal.text, []).append(literal)
        any_of = _any_of(texts)
        # A set of characters comes first, because the search skips to one of them at once.
        if spaced:
            pattern = f"[ '](?=({any_of})(?![\\w'-]))"
        else:
            first = "".join(sorted({text[0] for text in texts}))
            pattern = f"[{re.escape(first)}](?<=(?=({any_of}))(?s:.))"
        self._find = re.compile(pattern).finditer
        # The longest one is found; those stand there too with which it begins.
        self._found = {
            text: [
                literal
                for end in range(1, len(text) + 1)
                if not (spaced and _goes_on(text, end))
                for literal in texts.get(text[:end], ())
            ]
            for text in texts
        }

    def add_places(self, text: str, shown: ShownLanguages, places: Places) -> None:
        found = self._found
        for match in self._find(text):
            for literal in found[match[1]]:
                if literal in places:
                    places[literal].append(match.start())
                elif shown[literal.language]:
                    places[literal] = [match.start()]


def _literals(rule: Rule, language: int) -> list[Literal]:
    return [
        Literal(text, rule, language, is_phrase, rule.spaced and words_of(text) != text)
        for texts, is_phrase in ((rule.phrases, True), (rule.cues, False))
        for text in texts
    ]


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
