"""Anthropic's Messages API, as plain JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from pytest_refusal.errors import PolicyError
from pytest_refusal.policy.digging import count, dig, items, text, word
from pytest_refusal.policy.wire import (
    Request,
    Sampling,
    join_url,
    messages_with_system,
    model_fingerprint,
    split_system,
)
from pytest_refusal.prompt import Prompt
from pytest_refusal.response import Block, FilterStage, Response, Usage

VERSION = "2023-06-01"
_DEFAULT_MAX_TOKENS = 1024  # the API wants one


@dataclass(frozen=True, slots=True, kw_only=True)
class AnthropicMessages:
    """The Messages API at one base URL."""

    base_url: str = field(repr=False)  # may hold a password
    model: str
    sampling: Sampling
    takes_conversation: ClassVar[bool] = True

    @property
    def url(self) -> str:
        """Where requests go."""
        return join_url(self.base_url, "v1/messages")

    @property
    def fingerprint(self) -> Mapping[str, object]:
        """All that determines a response beside the messages."""
        return model_fingerprint("anthropic", self.url, self.model, self.sampling)

    def headers(self, key: str | None) -> Mapping[str, str]:
        """Return the version of the API, and the key if there is one."""
        return {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}

    def request(self, prompt: Prompt, *, sample: int) -> Request:  # noqa: ARG002  # no seed here
        """Ask for one response; messages of the system go to the field that the API has for it."""
        sampling = self.sampling
        system, messages = split_system(messages_with_system(prompt, sampling.system))
        body: dict[str, object] = {
            "model": self.model,
            "max_tokens": sampling.max_tokens or _DEFAULT_MAX_TOKENS,
            "messages": [{"role": m.role.value, "content": m.content} for m in messages],
        }
        if system:
            body["system"] = system
        if sampling.temperature is not None:
            body["temperature"] = sampling.temperature
        return Request(url=self.url, body=body | dict(sampling.extra))

    def blocked(self, status: int, body: object) -> Response | None:  # noqa: ARG002  # the shape of Wire
        """Return None: blocks come as a success here, with a stop reason."""
        return None

    def response(self, body: object) -> Response:
        """Read a message; raises PolicyError if it is none."""
        return read_message(body)


def read_message(body: object) -> Response:
    """Read the body of a message.

    The stop reason alone is the signal of a block; its details are decoration, and absent on
    older models.  Raises PolicyError where there is no content.
    """
    if not isinstance(dig(body, "content"), list):
        raise PolicyError("the response holds no content", reason="no_choice")
    blocks = items(body, "content")
    stop_reason = word(body, "stop_reason") or "null"
    return Response(
        text="".join(text(b, "text") or "" for b in blocks if text(b, "type") == "text"),
        finish_reason=stop_reason,
        block=_block(body, stop_reason),
        tool_calls=tuple(
            name for b in blocks if text(b, "type") == "tool_use" and (name := text(b, "name"))
        ),
        other_parts=tuple(
            dict.fromkeys(
                kind for b in blocks if (kind := text(b, "type")) not in {None, "text", "tool_use"}
            )
        ),
        usage=Usage(
            prompt_tokens=count(body, "usage", "input_tokens"),
            completion_tokens=count(body, "usage", "output_tokens"),
        ),
        model=text(body, "model"),
    )


def _block(body: object, stop_reason: str) -> Block | None:
    if stop_reason.lower() != "refusal":
        return None
    detail = text(body, "stop_details", "category") or ""
    return Block(stage=FilterStage.COMPLETION, signal=stop_reason, detail=detail)
