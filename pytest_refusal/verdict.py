"""What a response was: a refusal, a partial refusal or an answer, and why we say so. No I/O."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum


class VerdictKind(StrEnum):
    """What the assistant did. A partial refusal counts as a refusal in the rates."""

    REFUSAL = "refusal"
    PARTIAL_REFUSAL = "partial_refusal"
    ANSWER = "answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One thing that led to a verdict.

    rule: the name of the rule or signal, such as "cannot-help" or "filter:prompt".
    text: the matched words, verbatim; for a signal, the provider's own word.
    offset: where `text` begins in the response, in characters; None for a signal.
    """

    rule: str
    text: str
    offset: int | None = None

    @property
    def is_by_filter(self) -> bool:
        """Whether it is the signal of a provider's filter, and not of the model or its text."""
        return self.rule.startswith("filter:")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a response was.

    score: how sure it is that the response declines, in [0, 1].
    reason: a word for machines: "phrase", "no_phrase", "signal:content_filter", ...
    """

    kind: VerdictKind
    score: float
    reason: str
    evidence: tuple[Evidence, ...] = ()

    @property
    def declines(self) -> bool:
        """Whether it counts as a refusal in the rates."""
        return self.kind is not VerdictKind.ANSWER

    def of_beginning(self, judged: int, length: int) -> Verdict:
        """Return it with a note that only so many of the characters of a response were judged."""
        said = f"judged the first {judged} of {length} characters"
        return replace(self, evidence=(*self.evidence, Evidence(rule="length-limit", text=said)))

    def explain(self) -> str:
        """Put the evidence in one line, not yet made safe for any sink."""
        if not self.evidence:
            return "no refusal phrase found"
        return "; ".join(
            f'"{e.text}" ({e.rule})' if e.offset is None else f'"{e.text}" at {e.offset} ({e.rule})'
            for e in self.evidence
        )


def is_well_formed(verdict: Verdict) -> bool:
    """Whether all fields hold what they should; a classifier may be anybody's code."""
    kind: object = verdict.kind
    score: object = verdict.score
    reason: object = verdict.reason
    evidence: object = verdict.evidence
    return (
        isinstance(kind, VerdictKind)
        and isinstance(score, int | float)
        and 0 <= score <= 1
        and isinstance(reason, str)
        and isinstance(evidence, tuple | list)
        and all(_is_evidence(one) for one in evidence)
    )


def _is_evidence(value: object) -> bool:
    if not isinstance(value, Evidence):
        return False
    parts: tuple[object, ...] = (value.rule, value.text)
    return all(isinstance(part, str) for part in parts) and (
        value.offset is None or type(value.offset) is int
    )
