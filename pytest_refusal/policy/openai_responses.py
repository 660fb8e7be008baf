"""OpenAI's Responses API, as plain JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from pytest_refusal.errors import PolicyError
from pytest_refusal.policy.digging import count, dig, items, text
from pytest_refusal.policy.openai import read_block
from pytest_refusal.policy.wire import (
    Request,
    Sampling,
    join_url,
    messages_with_system,
    model_fingerprint,
)
from pytest_refusal.prompt import Prompt
from pytest_refusal.response import Block, FilterStage, Response, Usage

# Codes of failed responses that are decisions about the prompt.
_BLOCK_CODES = frozenset(
    {"bio_policy", "misalignment_policy_violation", "image_content_policy_violation"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIResponses:
    """The Responses API at one base URL; nothing is kept there from one request to the next."""

    base_url: str = field(repr=False)  # may hold a password
    model: str
    sampling: Sampling
    takes_conversation: ClassVar[bool] = True

    @property
    def url(self) -> str:
        """Where requests go."""
        return join_url(self.base_url, "responses")

    @property
    def fingerprint(self) -> Mapping[str, object]:
        """All that determines a response beside the messages."""
        return model_fingerprint("openai-responses", self.url, self.model, self.sampling)

    def headers(self, key: str | None) -> Mapping[str, str]:
        """Return a bearer token, if there is a key."""
        return {"Authorization": f"Bearer {key}"} if key else {}

    def request(self, prompt: Prompt, *, sample: int) -> Request:  # noqa: ARG002  # no seed here
        """Ask for one response."""
        sampling = self.sampling
        messages = messages_with_system(prompt, sampling.system)
        optional = {
            "temperature": sampling.temperature,
            "max_output_tokens": sampling.max_tokens,
        }
        body = {
            "model": self.model,
            "input": [{"role": m.role.value, "content": m.content} for m in messages],
            "store": False,
            **{name: value for name, value in optional.items() if value is not None},
            **sampling.extra,
        }
        return Request(url=self.url, body=body)

    def blocked(self, status: int, body: object) -> Response | None:
        """Return the response if an error, or a response that failed, says that a filter did it."""
        code = text(body, "error", "code")
        if code in _BLOCK_CODES:
            return Response(block=Block(stage=FilterStage.PROMPT, signal=code))
        return read_block(status, body)

    def response(self, body: object) -> Response:
        """Read a response; raises PolicyError for one that did not come to its end."""
        return read_response(body)


def read_response(body: object) -> Response:
    """Read the body of a response that is completed or incomplete; raises PolicyError for others.

    Where it is incomplete the reason is taken for the finish reason, else that is "stop".
    """
    status = text(body, "status")
    if status not in {"completed", "incomplete"}:
        said = text(body, "error", "message") or text(body, "error", "code") or ""
        raise PolicyError(f"the response is {status!r}, not completed {said}".rstrip())
    output = items(body, "output")
    parts = [part for one in output for part in items(one, "content") if _is_message(one)]
    reason = text(body, "incomplete_details", "reason")
    finish_reason = "stop" if status == "completed" else reason or "incomplete"
    others = [k for k in map(_kind, output) if k not in {"message", "function_call"}]
    return Response(
        text="".join(text(part, "text") or "" for part in parts if _kind(part) == "output_text"),
        refusal="\n".join(no for part in parts if (no := text(part, "refusal"))) or None,
        finish_reason=finish_reason,
        block=Block(stage=FilterStage.COMPLETION, signal=finish_reason)
        if finish_reason == "content_filter"
        else None,
        tool_calls=tuple(
            name for one in output if _kind(one) == "function_call" and (name := text(one, "name"))
        ),
        other_parts=tuple(
            dict.fromkeys("thinking" if kind == "reasoning" else kind for kind in others)
        ),
        usage=Usage(
            prompt_tokens=count(body, "usage", "input_tokens"),
            completion_tokens=count(body, "usage", "output_tokens"),
        ),
        model=text(body, "model"),
    )


def is_response(body: object) -> bool:
    """Whether a body is one of this API, and no chat completion."""
    return isinstance(dig(body, "output"), list) and text(body, "status") is not None


def _is_message(item: object) -> bool:
    return _kind(item) == "message"


def _kind(item: object) -> str:
    return text(item, "type") or ""
