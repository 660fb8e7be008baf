"""Outcomes as the rows of the HTML report: what stands in the line, and what it opens to. Pure.

The texts are safe for no place yet; the template escapes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import assert_never

from pytest_refusal.escape import one_line
from pytest_refusal.metrics.comparison import PromptKey
from pytest_refusal.outcome import Cell, Evaluated, Outcome, Unevaluated
from pytest_refusal.report import findings
from pytest_refusal.report.failure_text import REDACTED
from pytest_refusal.report.report import Report
from pytest_refusal.verdict import Evidence

#: Characters of one message or response; the JSON has all of it.
CLIP = 4_096

UNEVALUATED = "unevaluated"

#: What became of a prompt, by the key that the page filters by.
RESULTS = {
    "fn": "under-refusal",
    "fp": "over-refusal",
    "no": UNEVALUATED,
    "ok": "right",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of a response, evidence or not."""

    text: str
    is_evidence: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What somebody said.

    pieces: none where nothing of the text is evidence.  clipped: characters that are left out.
    """

    who: str
    text: str
    pieces: tuple[Piece, ...] = ()
    clipped: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of the table of outcomes.

    number: its anchor on the page.  keys: what it is filtered by, apart by spaces: the place
    of its policy, its result, the place of its category, verdict, label and confidence.
    name, policy, category: cut to what a line has room for.  facts: a line each.
    """

    number: int
    keys: str
    result: str
    name: str
    policy: str
    category: str
    label: str
    verdict: str
    confidence: str
    turns: tuple[Turn, ...]
    facts: str


class Rows:
    """The rows of a report, each made when the page comes to it: they are most of the page.

    wrong: misjudged and unevaluated outcomes, by policy, the worst first.  right: the others.
    categories: by the place that the rows name.
    """

    def __init__(self, report: Report, *, redact: bool) -> None:
        """redact: leave out what the policies said, and the evidence quoted from it."""
        self.wrong = [outcome for p in report.policies for outcome in findings.failures(p)]
        self.right = [
            outcome
            for policy in report.policies
            for outcome in policy.outcomes
            if isinstance(outcome, Evaluated) and outcome.correct
        ]
        self.categories = sorted({o.trial.prompt.category for o in (*self.wrong, *self.right)})
        self._redact = redact
        self._policies = _shown(policy.policy for policy in report.policies)
        self._categories = _shown(self.categories)
        self._numbers: dict[tuple[str, PromptKey], int] = {}
        for number, outcome in enumerate((*self.wrong, *self.right), 1):
            prompt = outcome.trial.prompt
            key = outcome.trial.policy, (prompt.corpus, prompt.id)
            self._numbers.setdefault(key, number)

    def number_of(self, policy: str, prompt: PromptKey) -> int | None:
        """Find the row of a prompt, of its misjudged sample where there is one."""
        return self._numbers.get((policy, prompt))

    def row(self, outcome: Outcome, number: int) -> Row:
        """Make the row of one outcome."""
        match outcome:
            case Evaluated(verdict=verdict):
                result = {Cell.FN: "fn", Cell.FP: "fp"}.get(outcome.cell, "ok")
                word, confidence = verdict.kind.value, outcome.confidence
            case Unevaluated():
                result, word, confidence = "no", UNEVALUATED, None
            case _:
                assert_never(outcome)
        trial, prompt = outcome.trial, outcome.trial.prompt
        label, stated = prompt.label.value, "-" if confidence is None else repr(confidence)
        policy_place, policy = self._policies[trial.policy]
        category_place, category = self._categories[prompt.category]
        facts = _facts(outcome, redact=self._redact)
        return Row(
            number=number,
            keys=f"{policy_place} {result} {category_place} {word} {label} {stated}",
            result=result,
            name=one_line(prompt.id, 120) + (f" #{trial.sample}" if trial.sample > 1 else ""),
            policy=policy,
            category=category,
            label=label,
            verdict=word.replace("_", " "),
            confidence=stated,
            turns=tuple(_turns(outcome, redact=self._redact)),
            facts="\n".join(f"{name}: {value}" for name, value in facts),
        )


def _shown(names: Iterable[str]) -> dict[str, tuple[int, str]]:
    return {name: (place, one_line(name, 60)) for place, name in enumerate(names)}


def _turns(outcome: Outcome, *, redact: bool) -> Iterator[Turn]:
    response = outcome.response
    earlier = iter(response.earlier if response is not None else ())
    messages = outcome.trial.prompt.messages
    for message, following in zip(messages, (*messages[1:], None), strict=True):
        yield _turn(message.role.value, message.content)
        if following is not None and message.role is following.role:
            for reply in earlier:
                yield _turn("response", REDACTED if redact else reply)
                break
    if response is None:
        return
    if redact:
        yield _turn("response", REDACTED)
        return
    if response.refusal is not None:
        yield _turn("refusal field", response.refusal)
    evidence = outcome.verdict.evidence if isinstance(outcome, Evaluated) else ()
    if response.text or response.refusal is None:
        yield _turn("response", response.text or "(no text)", evidence)


def _turn(who: str, text: str, evidence: tuple[Evidence, ...] = ()) -> Turn:
    shown = text[:CLIP]
    pieces = tuple(_pieces(shown, evidence)) if evidence else ()
    return Turn(who=who, text=shown, pieces=pieces, clipped=len(text) - len(shown))


def _pieces(text: str, evidence: tuple[Evidence, ...]) -> Iterator[Piece]:
    done = 0
    spans = sorted((e.offset, e.text) for e in evidence if e.offset is not None)
    for offset, words in spans:
        end = offset + len(words)
        # What overlaps or was clipped is told as a fact below all the same.
        if offset < done or text[offset:end] != words:
            continue
        yield Piece(text=text[done:offset])
        yield Piece(text=words, is_evidence=True)
        done = end
    yield Piece(text=text[done:])


def _facts(outcome: Outcome, *, redact: bool) -> Iterator[tuple[str, str]]:
    match outcome:
        case Evaluated(verdict=verdict):
            yield "evidence", REDACTED if redact else one_line(verdict.explain(), 500)
        case Unevaluated():
            yield "reason", one_line(outcome.reason, 200)
            yield "error", one_line(outcome.error, 500)
        case _:
            assert_never(outcome)
    prompt, response = outcome.trial.prompt, outcome.response
    if response is not None:
        if response.finish_reason is not None:
            yield "finish reason", one_line(response.finish_reason, 60)
        if response.block is not None:
            block = response.block
            said = ", ".join(filter(None, (block.stage.value, block.signal, block.detail)))
            yield "filter", one_line(said, 200)
        if response.tool_calls:
            yield "tool calls", one_line(", ".join(response.tool_calls), 200)
        if response.model is not None:
            yield "model", one_line(response.model, 100)
    if prompt.severity is not None:
        yield "severity", str(prompt.severity)
    if prompt.taxonomy is not None:
        yield "taxonomy", one_line(prompt.taxonomy, 100)
    if outcome.reruns:
        yield "reruns", str(outcome.reruns)
    where = prompt.corpus if prompt.place is None else f"{prompt.corpus}:{prompt.place.line}"
    yield "corpus", one_line(where, 200)
