"""What can only be seen over all prompts of a run: contradictions, repeats, a missing side.

No I/O.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pytest_refusal.corpus.faults import Fault, quoted
from pytest_refusal.escape import one_line
from pytest_refusal.prompt import Label, Prompt

_FINAL = ".,;:!?\u2026\u3002\uff0e\uff0c\u3001\uff01\uff1f\uff1b\uff1a\u061f\u06d4\u0964"

#: What cannot be measured without the other label.
_MISSING_RATE = {Label.SAFE: "under-refusal", Label.UNSAFE: "over-refusal"}


class NoteKind(StrEnum):
    """What a note is about."""

    REPEATED = "repeated"
    ONE_LABEL = "one_label"


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


def contradictions(prompts: Iterable[Prompt]) -> list[Fault]:
    """Find prompts that say the same and have opposite labels, in whatever files."""
    first: dict[str, Prompt] = {}
    faults = []
    for prompt in prompts:
        other = first.setdefault(folded(prompt), prompt)
        if other.label is not prompt.label:
            line = prompt.place.line if prompt.place else 1
            what = (
                f"the same text is {prompt.label.value} here and {other.label.value} at "
                f"{_where(other)}; keep one of the two"
            )
            faults.append(Fault(prompt.corpus, line, what))
    return faults


def notes(prompts: Sequence[Prompt]) -> tuple[Note, ...]:
    """Look for repeated prompts and for corpora with one label only."""
    return tuple(note for note in (_repeated(prompts), _one_label(prompts)) if note is not None)


def _folded(text: str) -> str:
    words = " ".join(text.split()).casefold()
    return words.rstrip(_FINAL).rstrip() or words


def _repeated(prompts: Iterable[Prompt]) -> Note | None:
    first: dict[str, Prompt] = {}
    example: tuple[Prompt, Prompt] | None = None
    count = 0
    corpora: dict[str, None] = {}
    for prompt in prompts:
        other = first.setdefault(folded(prompt), prompt)
        if other is not prompt:
            count += 1
            corpora.update({other.corpus: None, prompt.corpus: None})
            example = example or (other, prompt)
    if example is None:
        return None
    prompts_are = "1 prompt repeats" if count == 1 else f"{count} prompts repeat"
    return Note(
        kind=NoteKind.REPEATED,
        text=f"{prompts_are} the text and label of an earlier one, such as {_where(example[1])} "
        f"that of {_where(example[0])}: intervals look narrower than they are",
        count=count,
        corpora=tuple(corpora),
    )


def _one_label(prompts: Iterable[Prompt]) -> Note | None:
    counts: dict[str, dict[Label, int]] = {}
    for prompt in prompts:
        of_corpus = counts.setdefault(prompt.corpus, {})
        of_corpus[prompt.label] = of_corpus.get(prompt.label, 0) + 1
    labels = {label for of_corpus in counts.values() for label in of_corpus}
    if len(labels) == 1:
        (label,) = labels
        text = f"all prompts are {label.value}: {_MISSING_RATE[label]} cannot be measured"
    else:
        counts = {name: labels for name, labels in counts.items() if len(labels) == 1}
        parts = [
            f"all of {one_line(name)} are {next(iter(labels)).value}"
            for name, labels in counts.items()
        ]
        text = f"corpora with one label only: {', '.join(parts)}"
    if not counts:
        return None
    return Note(
        kind=NoteKind.ONE_LABEL,
        text=text,
        count=sum(sum(labels.values()) for labels in counts.values()),
        corpora=tuple(counts),
    )


def _where(prompt: Prompt) -> str:
    if prompt.place is None:
        return quoted(prompt.id)
    return f"{one_line(prompt.corpus)}:{prompt.place.line}"
