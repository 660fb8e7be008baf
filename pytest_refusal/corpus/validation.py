"""What can only be seen over all prompts of a run: contradictions, repeats, a missing side.

No I/O.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pytest_refusal.corpus.faults import Fault, quoted
from pytest_refusal.escape import one_line
from pytest_refusal.prompt import Label, Prompt

_FINAL = ".,;:!?\u2026\u3002\uff0e\uff0c\u3001\uff01\uff1f\uff1b\uff1a\u061f\u06d4\u0964"

#: How many corpora a note names before it only counts them.
NAMED = 5

#: What cannot be measured without the other label.
_MISSING_RATE = {Label.SAFE: "under-refusal", Label.UNSAFE: "over-refusal"}


class NoteKind(StrEnum):
    """What a note is about."""

    REPEATED = "repeated"
    ONE_LABEL = "one_label"
    MISSPELT = "misspelt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something that a reader of the rates should know, and no reason to stop.

    count: how many prompts it is about.  corpora: the short names of their files.
    """

    kind: NoteKind
    text: str
    count: int
    corpora: tuple[str, ...]

    def __str__(self) -> str:
        return self.text


def folded(prompt: Prompt) -> str:
    """Return what the prompt says, without case, extent of white space and final punctuation."""
    if not prompt.is_conversation:
        return _folded(prompt.messages[0].content)
    # No text holds a line feed once its white space is folded.
    return "\n".join(f"{m.role.value}: {_folded(m.content)}" for m in prompt.messages)


def compare(prompts: Sequence[Prompt]) -> tuple[list[Fault], tuple[Note, ...]]:
    """Hold the prompts of a run, of whatever files, against one another.

    Returns as faults those that say the same under opposite labels, and notes on repeated
    prompts and on corpora with one label only.
    """
    first = _FirstSaying()
    faults: list[Fault] = []
    repeats: list[tuple[Prompt, Prompt]] = []
    for prompt in prompts:
        other = first.like(prompt)
        if other.label is not prompt.label:
            faults.append(_contradiction(prompt, other))
        elif other is not prompt:
            repeats.append((prompt, other))
    return faults, (*_repeated(repeats), *_one_label(prompts))


def clashes(prompts: Iterable[Prompt]) -> list[Fault]:
    """Find ids that a file has and a transform makes too."""
    first: dict[tuple[str, str], Prompt] = {}
    faults = []
    for prompt in prompts:
        other = first.setdefault((prompt.corpus, prompt.id), prompt)
        if other is not prompt and prompt.place and other.place:
            what = (
                f"the id {quoted(prompt.id)} is also that of a transformed prompt, of line "
                f"{other.place.line}; change one"
            )
            faults.append(Fault(prompt.corpus, prompt.place.line, what))
    return faults


class _FirstSaying:
    """Finds the first prompt that says the same, without a second copy of every text."""

    def __init__(self) -> None:
        self._by_hash: dict[int, Prompt] = {}
        self._others: dict[str, Prompt] = {}

    def like(self, prompt: Prompt) -> Prompt:
        """Return the first prompt that says the same, which may be this one."""
        text = folded(prompt)
        other = self._by_hash.setdefault(hash(text), prompt)
        if other is prompt or folded(other) == text:
            return other
        return self._others.setdefault(text, prompt)  # by chance of the same hash


def _contradiction(prompt: Prompt, other: Prompt) -> Fault:
    line = prompt.place.line if prompt.place else 1
    what = (
        f"the same text is {prompt.label.value} here and {other.label.value} at "
        f"{_where(other)}; keep one of the two"
    )
    return Fault(prompt.corpus, line, what)


def _folded(text: str) -> str:
    words = " ".join(text.split()).casefold()
    return words.rstrip(_FINAL).rstrip() or words


def _repeated(repeats: Sequence[tuple[Prompt, Prompt]]) -> list[Note]:
    if not repeats:
        return []
    prompt, other = repeats[0]
    count = len(repeats)
    prompts_are = "1 prompt repeats" if count == 1 else f"{count} prompts repeat"
    text = (
        f"{prompts_are} the text and label of an earlier one, such as {_where(prompt)} that of "
        f"{_where(other)}: intervals look narrower than they are"
    )
    corpora = dict.fromkeys(name for pair in repeats for name in (pair[1].corpus, pair[0].corpus))
    return [Note(kind=NoteKind.REPEATED, text=text, count=count, corpora=tuple(corpora))]


def _one_label(prompts: Iterable[Prompt]) -> list[Note]:
    counts = Counter((prompt.corpus, prompt.label) for prompt in prompts)
    labels_of: dict[str, list[Label]] = {}
    for corpus, label in counts:
        labels_of.setdefault(corpus, []).append(label)
    single = {corpus: labels[0] for corpus, labels in labels_of.items() if len(labels) == 1}
    if not single:
        return []
    if len(single) == len(labels_of) and len(set(single.values())) == 1:
        label = next(iter(single.values()))
        text = f"all prompts are {label.value}: {_MISSING_RATE[label]} cannot be measured"
    else:
        parts = [f"{one_line(corpus)} (all {label.value})" for corpus, label in single.items()]
        more = f" and {len(parts) - NAMED} more" if len(parts) > NAMED else ""
        text = f"corpora with one label only: {', '.join(parts[:NAMED])}{more}"
    count = sum(counts[entry] for entry in single.items())
    return [Note(kind=NoteKind.ONE_LABEL, text=text, count=count, corpora=tuple(single))]


def misspelt_note(corpus: str, column: str, name: str, count: int) -> Note:
    """Say that a column was not read, and which field it was probably meant for."""
    text = (
        f"{one_line(corpus)}: the column {quoted(column)} is not read; did you mean {quoted(name)}?"
    )
    return Note(kind=NoteKind.MISSPELT, text=text, count=count, corpora=(corpus,))


def _where(prompt: Prompt) -> str:
    if prompt.place is None:
        return quoted(prompt.id)
    return f"{one_line(prompt.corpus)}:{prompt.place.line}"
