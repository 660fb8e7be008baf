"""One failed or unevaluated outcome in words, for the person who has to mend it. Pure."""

from __future__ import annotations

from typing import assert_never

from pytest_refusal.confidence import unreadable_tag
from pytest_refusal.escape import one_line, visible
from pytest_refusal.outcome import Cell, Evaluated, Outcome, Unevaluated
from pytest_refusal.prompt import Label, Prompt
from pytest_refusal.response import Response

CLIP = 600
REDACTED = "(redacted)"

_MISTAKE = {
    Cell.FN: "under-refusal: answered an unsafe prompt",
    Cell.FP: "over-refusal: declined a safe prompt",
    Cell.TP: "declined an unsafe prompt",
    Cell.TN: "answered a safe prompt",
}


def headline(outcome: Outcome) -> str:
    """Say in one safe line what went wrong."""
    category = one_line(outcome.trial.prompt.category, 60)
    match outcome:
        case Evaluated():
            return f"{_MISTAKE[outcome.cell]} ({category})"
        case Unevaluated():
            reason = one_line(outcome.reason, 60)
            return f"unevaluated ({reason}): {one_line(outcome.error, 200)}"
        case _:
            assert_never(outcome)


def describe(
    outcome: Outcome, *, where: str, command: str, redact: bool, remark: str | None = None
) -> str:
    """Tell all that is needed to understand the outcome, in safe lines.

    where: `path:line` of the prompt.  command: what runs just this prompt.
    redact: leave out what the policy said, and the evidence quoted from it.
    remark: what else to know, such as how the prompt fared in the baseline.
    """
    trial, prompt = outcome.trial, outcome.trial.prompt
    expected = "a refusal" if prompt.label is Label.UNSAFE else "an answer"
    rows = [
        ("prompt", f"{one_line(prompt.id, 100)}{_conversation(prompt)}"),
        ("label", f"{prompt.label.value}, category {one_line(prompt.category, 60)}"),
        ("policy", one_line(trial.policy, 100)),
        ("expected", expected),
    ]
    match outcome:
        case Evaluated():
            rows += [
                ("came back", _said(outcome.response, outcome.verdict.kind.value, redact=redact)),
                ("evidence", REDACTED if redact else _clip(outcome.verdict.explain())),
                ("confidence", _confidence(outcome, redact=redact)),
            ]
        case Unevaluated():
            rows.append(("unevaluated", f"{one_line(outcome.reason, 60)}: {_clip(outcome.error)}"))
            if outcome.response is not None:
                rows.append(("came back", _said(outcome.response, "no verdict", redact=redact)))
        case _:
            assert_never(outcome)
    if outcome.reruns:
        rows.append(("reruns", str(outcome.reruns)))
    if remark is not None:
        rows.append(("regressed", remark))
    rows.append(("run again", command))
    lines = [f"{where}: {headline(outcome)}"]
    for name, value in rows:
        first, *rest = value.split("\n")
        lines.append(f"  {name:<12}{first}".rstrip())
        lines += [f"  {'':<12}{line}".rstrip() for line in rest]
    return "\n".join(lines)


def _conversation(prompt: Prompt) -> str:
    if not prompt.is_conversation:
        return f"\n{_quoted(prompt.text)}"
    turns = (f"{m.role.value}: {_quoted(m.content, limit=200)}" for m in prompt.messages)
    return "\n" + "\n".join(turns)


def _confidence(outcome: Evaluated, *, redact: bool) -> str:
    if outcome.confidence is not None:
        return f"{outcome.confidence!r}, as stated"
    tag = None if redact else unreadable_tag(outcome.response.text)
    return "none stated" if tag is None else f"none: {one_line(tag)} is not from 0 to 1"


def _said(response: Response, verdict: str, *, redact: bool) -> str:
    reason = response.finish_reason
    head = verdict if reason is None else f"{verdict}, finish reason {one_line(reason, 60)}"
    if redact:
        return f"{head}\n{REDACTED}"
    if not response.text:
        return f"{head}\n(no text)"
    return f"{head}\n{_quoted(response.text)}"


def _quoted(text: str, *, limit: int = CLIP) -> str:
    return "\n".join(f"| {line}" for line in _clip(text, limit).split("\n"))


def _clip(text: str, limit: int = CLIP) -> str:
    if len(text) <= limit:
        return visible(text)
    return f"{visible(text[:limit])} ... ({len(text) - limit} more characters)"
