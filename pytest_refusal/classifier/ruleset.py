"""The rules of each language, as read from the files in `rules/`.  No text is judged here.

A rule finds one act: something that a speaker does when declining or answering.  Its phrases
are sought literally; its patterns are small regular expressions, tried only on sentences that
hold one of its cues.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files

#: Languages with rules, in the order in which they are tried.
LANGUAGES = ("en", "es", "fr", "de", "pt", "it", "ru", "ar", "hi", "ko", "zh", "ja")

# A sentence without an end is looked at this far around a cue.
_REACH = 160
_WORD = r"[\w'-]+"
# How the shorthand of the files is spelled out: a gap of up to n words, an optional space, a
# list of words by its name, a group, a space.
_TOKENS = re.compile(r"[\w'-]+(?:(?:\[\w+\]|\\w[+*]|[?\w'-])+)?")
_PLAIN = re.compile(r"[\w'-]+")
# A group without another one in it.
_INNERMOST = re.compile(r"\(\?:([^()]+)\)")
# From so many alternatives on, they are told apart by their first letters.
_MANY = 6
_SHORTHAND = re.compile(r" ~(\d) | \?|\{(\w+)\}|(?<!\\)\((?!\?)|(?<!\\)\$| ")


class Act(StrEnum):
    """What a sentence does."""

    # Enum's own hash is written in Python, and acts are put into many sets.
    __hash__ = str.__hash__

    DECLINE = "decline"
    STANCE = "stance"
    ABSTAIN = "abstain"
    INCAPABLE = "incapable"
    OPINION = "opinion"
    DISCLAIMER = "disclaimer"
    CANNOT = "cannot"
    UNFIT = "unfit"
    APOLOGY = "apology"
    EMPATHY = "empathy"
    REDIRECT = "redirect"
    MORAL = "moral"
    LECTURE = "lecture"
    CORRECTION = "correction"
    PREMISE = "premise"
    FICTION = "fiction"
    NOREASON = "noreason"
    OFFER = "offer"
    ALTERNATIVE = "alternative"
    COMPLY = "comply"
    WILLING = "willing"
    SELF = "self"
    CLARIFY = "clarify"
    PREAMBLE = "preamble"


class Rule:
    """One rule.

    phrases: sought literally, as whole words where the language has spaces.
    openings: only where a response begins.
    cues: literals, one of which is in every sentence that a pattern matches.
    needs: literals, one of which is in the sentence too; none are needed if it is empty.
    before, after: how far from a cue a match may begin and end, in characters.
    spaced: whether words stand apart in its language.
    sources: the patterns, with their shorthand spelled out.
    """

    def __init__(
        self, table: Mapping[str, object], words: Mapping[str, str], *, spaced: bool
    ) -> None:
        self.name = str(table["name"])
        self.act = Act(str(table["act"]))
        self.phrases = _strings(table, "phrases")
        self.openings = _strings(table, "openings")
        self.cues = _strings(table, "cues")
        self.needs = _strings(table, "needs")
        self.before = _integer(table, "before", _REACH)
        self.after = _integer(table, "after", _REACH)
        self.spaced = spaced
        self.sources = tuple(_spell_out(p, words) for p in _strings(table, "patterns"))

    def matcher(self, cue: str, *, is_ascii: bool) -> Matcher:
        """Compile the patterns that can match a sentence for its `cue`.

        is_ascii: whether the text is in plain ASCII, for which they are quicker.
        """
        likely = tuple(s for s in self.sources if self.spaced and _mentions(s, cue))
        flags = re.ASCII if is_ascii else re.NOFLAG
        return _matcher(likely or self.sources, spaced=self.spaced, flags=flags)


@dataclass(frozen=True, slots=True, eq=False)
class Matcher:
    """Patterns sought anywhere in a sentence, and at its beginning.

    inside: where words stand apart, it begins with a character before what is sought that is in
    no word: the search then skips to such characters.
    lead: how many characters that makes.
    """

    inside: re.Pattern[str] | None
    opening: re.Pattern[str] | None
    lead: int


@cache
def _matcher(sources: tuple[str, ...], *, spaced: bool, flags: re.RegexFlag) -> Matcher:
    quicker = [_INNERMOST.sub(_with_first_letters, source) for source in sources]
    inside = [source for source in quicker if not source.startswith("^")]
    opening = [source[1:] for source in quicker if source.startswith("^")]
    ahead = r"\W" if spaced else ""
    return Matcher(
        inside=re.compile(f"{ahead}(?:{_by_first_word(inside)})", flags) if inside else None,
        opening=re.compile(f"(?:{_by_first_word(opening)})", flags) if opening else None,
        lead=int(spaced),
    )


def _mentions(source: str, cue: str) -> bool:
    """Return whether each word of `cue` can be matched by a word of the pattern `source`."""
    tokens = set(_TOKENS.findall(source.replace(r"\s+", " ").replace(r"\s*", " ")))
    plain = {token for token in tokens if _PLAIN.fullmatch(token)}
    others = [token for token in tokens - plain if token[0].isalnum()]
    return all(
        word in plain or any(re.fullmatch(token, word) for token in others) for word in cue.split()
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """What is known of a language without its rules.

    code: two letters.
    spaced: whether words stand apart; else literals are sought anywhere.
    elides: whether a shortened word may stand before another, as in "l'aide".
    common: frequent words by which a text is told to be in this language.
    script: what tells it where the letters alone do; None for Latin and Cyrillic ones.
    """

    code: str
    name: str
    spaced: bool
    elides: bool
    common: frozenset[str]
    script: re.Pattern[str] | None


@cache
def load_language(code: str) -> Language:
    """Read the head of the file of a language, which takes a hundredth of the time of its rules."""
    table = tomllib.loads(_source(code).partition("\n[")[0])
    return Language(
        code=table["language"],
        name=table["name"],
        spaced=table.get("spaced", True),
        elides=table.get("elides", False),
        common=frozenset(table["common"]),
        script=re.compile(f"[{table['script']}]") if "script" in table else None,
    )


@cache
def load_rules(code: str) -> tuple[Rule, ...]:
    """Read the rules of a language, a two-letter code."""
    table = tomllib.loads(_source(code))
    words = {"word": _WORD}
    for name, alternatives in table.get("words", {}).items():
        words[name] = _spell_out(alternatives, words)
    spaced = load_language(code).spaced
    return tuple(Rule(rule, words, spaced=spaced) for rule in table["rule"])


def _source(code: str) -> str:
    source = files("pytest_refusal.classifier").joinpath("rules", f"{code}.toml")
    return source.read_text(encoding="utf-8")


def _integer(table: Mapping[str, object], key: str, default: int) -> int:
    value = table.get(key, default)
    if not isinstance(value, int):
        msg = f"{key} must be a whole number"
        raise TypeError(msg)
    return value


def _strings(table: Mapping[str, object], key: str) -> tuple[str, ...]:
    value = table.get(key, [])
    if not isinstance(value, list):
        msg = f"{key} must be a list"
        raise TypeError(msg)
    return tuple(str(item) for item in value)


def _spell_out(pattern: str, words: Mapping[str, str]) -> str:
    def spelled(match: re.Match[str]) -> str:
        if match[1]:
            return rf"\s+(?:{_WORD}\s+){{0,{match[1]}}}"
        if match[2]:
            return match[0] if match[2].isdigit() else f"(?:{words[match[2]]})"
        return {" ?": r"\s*", "(": "(?:", " ": r"\s+", "$": r"(?=\s*$)"}[match[0]]

    return _SHORTHAND.sub(spelled, pattern)


def _with_first_letters(group: re.Match[str]) -> str:
    return f"(?:{_by_first_letter(group[1])})"


def _by_first_word(sources: Iterable[str]) -> str:
    """Bring together the patterns that begin with the same word or group of words.

    Where it does not stand, none of them is tried.
    """
    groups: dict[str, list[str]] = {}
    for source in sources:
        first, rest = _first_word(source)
        groups.setdefault(first, []).append(rest)
    return "|".join(
        first + (f"(?:{'|'.join(rests)})" if any(rests) else "") for first, rests in groups.items()
    )


def _first_word(source: str) -> tuple[str, str]:
    """Return the first word or group of a pattern with the space after it, and the rest."""
    words = source.split(r"\s+")
    if len(_split(source)) == 1:
        for count in range(1, len(words)):
            first = r"\s+".join(words[:count])
            if first.count("(") == first.count(")"):
                return first + r"\s+", r"\s+".join(words[count:])
    return source, ""


def _by_first_letter(alternatives: str) -> str:
    """Bring together the alternatives that begin with the same letter.

    They match the same, in the same order, but most are never tried.
    """
    options = _split(alternatives)
    if len(options) < _MANY or not all(map(_begins_with_letter, options)):
        return alternatives
    groups: dict[str, list[str]] = {}
    for option in options:
        groups.setdefault(option[0], []).append(option[1:])
    return "|".join(
        first + (rests[0] if len(rests) == 1 else f"(?:{_by_first_letter('|'.join(rests))})")
        for first, rests in groups.items()
    )


def _split(alternatives: str) -> list[str]:
    options = [""]
    depth = 0
    for character in alternatives:
        if character == "|" and depth == 0:
            options.append("")
            continue
        depth += (character in "([") - (character in ")]")
        options[-1] += character
    return options


def _begins_with_letter(option: str) -> bool:
    return option[:1].isalpha() and option[1:2] not in {"?", "*", "+", "{"}
