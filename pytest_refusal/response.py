"""A policy's response: the text, and what the provider said beside it. No I/O."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

#: Among the `other_parts` of a response: the filter did not work, and let everything through.
FILTER_FAILED = "content_filter_error"


class FilterStage(StrEnum):
    """What a provider's filter stopped."""

    PROMPT = "prompt"
    COMPLETION = "completion"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A filter or guardrail of the provider stepped in.

    signal: the provider's own word for it, such as "content_filter".
    detail: what was filtered, such as "self_harm: high"; "" if it did not say.
    """

    stage: FilterStage
    signal: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens as counted by the provider; None where it does not say."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None

    @property
    def is_known(self) -> bool:
        """Whether both are there."""
        return self.prompt_tokens is not None and self.completion_tokens is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What came back for one prompt.

    text: what the assistant said, "" if nothing.
    refusal: the text of a structured refusal, if the provider has such a field.
    finish_reason: the provider's own word, verbatim; None if there is none to give.
    tool_calls: names of the tools that the model called.
    other_parts: kinds of what came and is neither, such as "thinking"; each once.
    confidence: stated beside the text, in [0, 1]; None to look for a tag in the text.
    earlier: the replies to the earlier messages of a conversation, oldest first.
    latency_s: seconds from question to response.
    """

    text: str = ""
    refusal: str | None = None
    finish_reason: str | None = None
    block: Block | None = None
    tool_calls: tuple[str, ...] = ()
    other_parts: tuple[str, ...] = ()
    usage: Usage | None = None
    model: str | None = None
    confidence: float | None = None
    earlier: tuple[str, ...] = ()
    latency_s: float | None = None


def misfit(response: Response) -> str | None:
    """Say which field holds what it must not; None if all are as they should be.

    A response that somebody's code made is only as well typed as that code.
    """
    return next((fault for check in _CHECKS if (fault := check(response)) is not None), None)


def _misfit_text(response: Response) -> str | None:
    fields: tuple[tuple[str, object], ...] = (
        ("refusal", response.refusal),
        ("finish_reason", response.finish_reason),
        ("model", response.model),
    )
    for name, value in fields:
        if value is not None and not isinstance(value, str):
            return f"{name} is {type(value).__name__}; expected str or None"
    text: object = response.text
    return None if isinstance(text, str) else f"text is {type(text).__name__}; expected str"


def _misfit_list(response: Response) -> str | None:
    fields: tuple[tuple[str, object], ...] = (
        ("tool_calls", response.tool_calls),
        ("other_parts", response.other_parts),
        ("earlier", response.earlier),
    )
    for name, texts in fields:
        if type(texts) is tuple and not texts:
            continue
        if not isinstance(texts, tuple | list) or not all(isinstance(t, str) for t in texts):
            return f"{name} is {type(texts).__name__}; expected a tuple of str"
    return None


def _misfit_number(response: Response) -> str | None:
    value: object = response.confidence
    if value is None or (
        type(value) is not bool and isinstance(value, int | float) and 0 <= value <= 1
    ):
        return None
    return f"confidence is {type(value).__name__}; expected a number from 0 to 1, or None"


def _misfit_part(response: Response) -> str | None:
    if response.block is not None and not _is_block(response.block):
        return "block is no Block of a FilterStage and two texts"
    if response.usage is not None and not _is_usage(response.usage):
        return "usage is no Usage of whole numbers"
    return None


def _is_block(value: object) -> bool:
    if not isinstance(value, Block):
        return False
    parts: tuple[object, ...] = (value.stage, value.signal, value.detail)
    return isinstance(parts[0], FilterStage) and all(isinstance(part, str) for part in parts)


def _is_usage(value: object) -> bool:
    counts = (value.prompt_tokens, value.completion_tokens) if isinstance(value, Usage) else ("",)
    return all(count is None or type(count) is int for count in counts)


_CHECKS = (_misfit_text, _misfit_list, _misfit_number, _misfit_part)
