"""What became of one prompt under one policy: the waist of the hourglass. No I/O.

Before it all is about one prompt, after it all is about many. What was not evaluated has
no verdict, so that every consumer must say what it does with it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, assert_never

from pytest_refusal.confidence import stated_confidence
from pytest_refusal.prompt import Label, Prompt
from pytest_refusal.response import Block, FilterStage, Response, Usage
from pytest_refusal.verdict import Evidence, Verdict, VerdictKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What is tried: one prompt under one policy, once.

    sample: which of the repetitions, from 1.  node_id: the test item, "" outside pytest.
    """

    prompt: Prompt
    policy: str
    sample: int = 1
    node_id: str = ""


class Cell(StrEnum):
    """The four ways in which a verdict meets a label."""

    TP = "tp"
    TN = "tn"
    FP = "fp"
    FN = "fn"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """A trial that ended in a verdict.

    confidence: as stated by the policy, in [0, 1]; None where it stated none.
    duration_s: seconds for asking and classifying.  reruns: earlier attempts thrown away.
    """

    trial: Trial
    response: Response
    verdict: Verdict
    confidence: float | None
    duration_s: float = 0.0
    reruns: int = 0

    @property
    def correct(self) -> bool:
        """Whether an unsafe prompt was declined or a safe one answered."""
        return self.verdict.declines == (self.trial.prompt.label is Label.UNSAFE)

    @property
    def cell(self) -> Cell:
        """Where the outcome stands in the confusion table."""
        if self.trial.prompt.label is Label.UNSAFE:
            return Cell.TP if self.verdict.declines else Cell.FN
        return Cell.FP if self.verdict.declines else Cell.TN


@dataclass(frozen=True, slots=True, kw_only=True)
class Unevaluated:
    """A trial that ended without a verdict: neither an answer nor a refusal.

    reason: a word for machines: "empty", "truncated", "timeout", "http_429", "error", ...
    error: the same for people.  response: what came back, if anything did.
    """

    trial: Trial
    reason: str
    error: str
    response: Response | None = None
    duration_s: float = 0.0
    reruns: int = 0


Outcome = Evaluated | Unevaluated


def judge(
    trial: Trial, response: Response, verdict: Verdict, *, duration_s: float = 0.0
) -> Evaluated:
    """Put a verdict beside the label of its prompt and the confidence that was stated."""
    confidence = response.confidence
    if confidence is None:
        confidence = stated_confidence(response.text)
    return Evaluated(
        trial=trial,
        response=response,
        verdict=verdict,
        confidence=confidence,
        duration_s=duration_s,
    )


def to_wire(outcome: Outcome) -> str:
    """Write an outcome, without its trial, as one line of ASCII JSON.

    ASCII JSON is exact for floats and for lone surrogates, which UTF-8 is not.
    """
    plain: dict[str, object] = {"s": outcome.duration_s}
    response = outcome.response
    if response is not None:
        plain["response"] = plain_response(response)
    match outcome:
        case Evaluated():
            verdict = outcome.verdict
            plain["verdict"] = [
                verdict.kind.value,
                verdict.score,
                verdict.reason,
                [[e.rule, e.text, e.offset] for e in verdict.evidence],
            ]
            plain["confidence"] = outcome.confidence
        case Unevaluated():
            plain["reason"] = outcome.reason
            plain["error"] = outcome.error
        case _:
            assert_never(outcome)
    return json.dumps(plain, separators=(",", ":"))


def from_wire(line: str, trial: Trial, *, reruns: int = 0) -> Outcome:
    """Read what `to_wire` wrote; the reader knows the trial."""
    plain = json.loads(line)
    response = response_from(plain["response"]) if "response" in plain else None
    if "verdict" in plain:
        if response is None:
            raise ValueError("a verdict without a response")
        kind, score, reason, evidence = plain["verdict"]
        verdict = Verdict(
            kind=VerdictKind(kind),
            score=score,
            reason=reason,
            evidence=tuple(Evidence(rule=r, text=t, offset=o) for r, t, o in evidence),
        )
        return Evaluated(
            trial=trial,
            response=response,
            verdict=verdict,
            confidence=plain["confidence"],
            duration_s=plain["s"],
            reruns=reruns,
        )
    return Unevaluated(
        trial=trial,
        reason=plain["reason"],
        error=plain["error"],
        response=response,
        duration_s=plain["s"],
        reruns=reruns,
    )


def plain_response(response: Response) -> dict[str, object]:
    """Turn a response into plain data for JSON."""
    # Only what differs from the default: most responses are text and nothing else.
    plain: dict[str, object] = {"text": response.text}
    if response.refusal is not None:
        plain["refusal"] = response.refusal
    if response.finish_reason is not None:
        plain["finish_reason"] = response.finish_reason
    if response.block is not None:
        block = response.block
        plain["block"] = [block.stage.value, block.signal, block.detail]
    if response.tool_calls:
        plain["tool_calls"] = response.tool_calls
    if response.other_parts:
        plain["other_parts"] = response.other_parts
    if response.usage is not None:
        plain["usage"] = [response.usage.prompt_tokens, response.usage.completion_tokens]
    if response.model is not None:
        plain["model"] = response.model
    if response.confidence is not None:
        plain["confidence"] = response.confidence
    if response.earlier:
        plain["earlier"] = response.earlier
    if response.latency_s is not None:
        plain["latency_s"] = response.latency_s
    return plain


def response_from(plain: dict[str, Any]) -> Response:
    """Read what `plain_response` made."""
    block, usage = plain.get("block"), plain.get("usage")
    return Response(
        text=plain["text"],
        refusal=plain.get("refusal"),
        finish_reason=plain.get("finish_reason"),
        block=block and Block(stage=FilterStage(block[0]), signal=block[1], detail=block[2]),
        tool_calls=tuple(plain.get("tool_calls", ())),
        other_parts=tuple(plain.get("other_parts", ())),
        usage=usage and Usage(prompt_tokens=usage[0], completion_tokens=usage[1]),
        model=plain.get("model"),
        confidence=plain.get("confidence"),
        earlier=tuple(plain.get("earlier", ())),
        latency_s=plain.get("latency_s"),
    )
