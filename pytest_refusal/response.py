"""A policy's response: the text, and what the provider said beside it. No I/O."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What came back for one prompt.

    text: what the assistant said, "" if nothing.
    refusal: the text of a structured refusal, if the provider has such a field.
    finish_reason: the provider's own word, verbatim; None if there is none to give.
    tool_calls: names of the tools that the model called.
    confidence: stated beside the text, in [0, 1]; None to look for a tag in the text.
    earlier: the replies to the earlier messages of a conversation, oldest first.
    latency_s: seconds from question to response.
    """

    text: str = ""
    refusal: str | None = None
    finish_reason: str | None = None
    block: Block | None = None
    tool_calls: tuple[str, ...] = ()
    usage: Usage | None = None
    model: str | None = None
    confidence: float | None = None
    earlier: tuple[str, ...] = ()
    latency_s: float | None = None
