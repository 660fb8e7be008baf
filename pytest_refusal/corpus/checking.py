"""What a reviewer of a corpus should look at, beyond what makes it unusable. No I/O."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pytest_refusal.corpus.faults import quoted
from pytest_refusal.corpus.validation import folded
from pytest_refusal.escape import one_line
from pytest_refusal.prompt import Label, Prompt

#: Characters in a prompt; longer ones are often a table that was cut wrongly.
LONG = 20_000

# UTF-8 that was read as Latin-1, what stands for a lost character, and entities of HTML.
_MISREAD = re.compile(
    "[\u00c2\u00c3][\u0080-\u00bf]|\u00e2\u20ac[\u0080-\u2122]?|\ufffd"
    "|&(?:amp|lt|gt|quot|nbsp|#[0-9]{1,6}|#x[0-9a-fA-F]{1,6});"
)
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069]"
)


class FindingKind(StrEnum):
    """What a finding is about."""

    REPEATED = "repeated"
    NEAR_DUPLICATE = "near duplicate"
    NEAR_CONTRADICTION = "near contradiction"
    LONG = "very long"
    ENCODING = "suspicious encoding"
    INVISIBLE = "invisible characters"
    CATEGORY = "similar categories"
    PAIR = "incomplete pair"
    COLUMN = "misspelt column"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something to look at: where, and why."""

    kind: FindingKind
    where: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """How many prompts there are of each kind."""

    by_label: Counter[str]
    by_category: Counter[tuple[str, str]]
    by_language: Counter[str]


def summarise(prompts: Iterable[Prompt]) -> Summary:
    """Count prompts by label, by category and label, and by language."""
    counted = list(prompts)
    return Summary(
        by_label=Counter(prompt.label.value for prompt in counted),
        by_category=Counter((prompt.category, prompt.label.value) for prompt in counted),
        by_language=Counter(prompt.language or "" for prompt in counted),
    )


def findings(prompts: Sequence[Prompt]) -> list[Finding]:
    """Look for all that a reviewer should see, in time linear in the text."""
    return [
        *_alike(prompts),
        *(finding for prompt in prompts for finding in _of_text(prompt)),
        *_similar_categories(prompts),
        *_incomplete_pairs(prompts),
    ]


def _alike(prompts: Iterable[Prompt]) -> Iterator[Finding]:
    by_text: dict[str, Prompt] = {}
    by_letters: dict[str, Prompt] = {}
    for prompt in prompts:
        first = by_text.setdefault(folded(prompt), prompt)
        if first is not prompt:
            if first.label is prompt.label:
                yield _finding(FindingKind.REPEATED, prompt, f"says the same as {_place(first)}")
            continue
        near = by_letters.setdefault(_letters(prompt), prompt)
        if near is prompt:
            continue
        like = f"is much like {_place(near)}"
        if near.label is prompt.label:
            yield _finding(FindingKind.NEAR_DUPLICATE, prompt, like)
        else:
            what = f"{like}, and is {prompt.label.value} where that is {near.label.value}"
            yield _finding(FindingKind.NEAR_CONTRADICTION, prompt, what)


def _letters(prompt: Prompt) -> str:
    """Return the words of a prompt without accents, signs and order."""
    text = "\n".join(message.content for message in prompt.messages)
    plain = unicodedata.normalize("NFKD", text).casefold()
    letters = "".join(sign for sign in plain if sign.isalnum() or sign.isspace())
    return " ".join(sorted(letters.split())) or text


def _of_text(prompt: Prompt) -> Iterator[Finding]:
    length = sum(len(message.content) for message in prompt.messages)
    if length > LONG:
        yield _finding(FindingKind.LONG, prompt, f"has {length} characters")
    checks: list[tuple[FindingKind, re.Pattern[str], Callable[[str], str]]] = [
        (FindingKind.ENCODING, _MISREAD, lambda seen: f"has {quoted(seen)}, a sign misread"),
        (FindingKind.INVISIBLE, _INVISIBLE, lambda seen: f"has the character {quoted(seen)}"),
    ]
    for kind, pattern, describe in checks:
        match = next((m for msg in prompt.messages if (m := pattern.search(msg.content))), None)
        if match is not None:
            yield _finding(kind, prompt, describe(match[0]))


def _similar_categories(prompts: Iterable[Prompt]) -> Iterator[Finding]:
    first: dict[str, str] = {}
    for category in sorted({prompt.category for prompt in prompts}):
        others = {first.setdefault(key, category) for key in _spellings(category)}
        for other in sorted(others - {category}):
            what = f"is nearly {quoted(other)}; one category that is written in two ways?"
            yield Finding(kind=FindingKind.CATEGORY, where=quoted(category), what=what)


def _spellings(category: str) -> set[str]:
    """Return keys of which names that differ by case, separator or one letter share one."""
    plain = re.sub(r"[\W_]+", "", category.casefold())
    # Numbered names differ by a digit on purpose.
    shortened = {
        plain[:at] + plain[at + 1 :]
        for at, sign in enumerate(plain[:64])
        if not sign.isdecimal() and len(plain) > 4
    }
    return {plain, *shortened}


def _incomplete_pairs(prompts: Iterable[Prompt]) -> Iterator[Finding]:
    by_pair: dict[tuple[str, str], list[Prompt]] = {}
    for prompt in prompts:
        if prompt.pair is not None:
            by_pair.setdefault((prompt.corpus, prompt.pair), []).append(prompt)
    for (_, pair), members in by_pair.items():
        labels = Counter(prompt.label for prompt in members)
        if labels[Label.SAFE] != 1 or labels[Label.UNSAFE] != 1:
            what = (
                f"pair {quoted(pair)} has {labels[Label.SAFE]} safe and "
                f"{labels[Label.UNSAFE]} unsafe; a minimal contrast has one of each"
            )
            yield _finding(FindingKind.PAIR, members[0], what)


def _finding(kind: FindingKind, prompt: Prompt, what: str) -> Finding:
    return Finding(kind=kind, where=_place(prompt), what=what)


def _place(prompt: Prompt) -> str:
    line = "" if prompt.place is None else f":{prompt.place.line}"
    return f"{one_line(prompt.corpus)}{line}"
