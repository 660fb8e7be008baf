"""Google's `generateContent`, as plain JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

from pytest_refusal.errors import PolicyError
from pytest_refusal.policy.digging import count, dig, items, joined_texts, pairs, text, word
from pytest_refusal.policy.token_confidence import ALTERNATIVES, share_of_yes
from pytest_refusal.policy.wire import (
    Request,
    Sampling,
    join_url,
    messages_with_system,
    model_fingerprint,
    split_system,
)
from pytest_refusal.prompt import ConfidenceQuestion, Prompt, Role
from pytest_refusal.response import Block, FilterStage, Response, Usage

_KNOWN_PARTS = frozenset({"text", "functionCall", "thought", "thoughtSignature"})


@dataclass(frozen=True, slots=True, kw_only=True)
class GeminiContent:
    """`generateContent` at one base URL, such as ".../v1beta".

    The safety settings of the server are part of the system under test: the team's own go
    into `extra`, or none.
    """

    base_url: str = field(repr=False)  # may hold a password
    model: str
    sampling: Sampling
    takes_conversation: ClassVar[bool] = True

    @property
    def url(self) -> str:
        """Where requests go."""
        model = self.model if "/" in self.model else f"models/{self.model}"
        return join_url(self.base_url, f"{model}:generateContent")

    @property
    def fingerprint(self) -> Mapping[str, object]:
        """All that determines a response beside the messages."""
        return model_fingerprint("gemini", self.url, self.model, self.sampling)

    def headers(self, key: str | None) -> Mapping[str, str]:
        """Return the key in a header, if there is one: in the URL it would be logged."""
        return {"x-goog-api-key": key} if key else {}

    def request(self, prompt: Prompt, *, sample: int) -> Request:
        """Ask for one response."""
        sampling = self.sampling
        system, messages = split_system(messages_with_system(prompt, sampling.system))
        wanted = {
            "temperature": sampling.temperature,
            "seed": sampling.seed_of(sample),
            "maxOutputTokens": sampling.max_tokens,
        }
        extra = dict(sampling.extra)
        own_config = extra.pop("generationConfig", None)
        config = {name: value for name, value in wanted.items() if value is not None}
        if isinstance(own_config, Mapping):
            config.update(own_config)
        if isinstance(prompt, ConfidenceQuestion) and prompt.by_token:
            config |= {"maxOutputTokens": 1, "responseLogprobs": True, "logprobs": ALTERNATIVES}
        body: dict[str, object] = {
            "contents": [
                {
                    "role": "model" if message.role is Role.ASSISTANT else "user",
                    "parts": [{"text": message.content}],
                }
                for message in messages
            ]
        }
        if system:
            body["systemInstruction"] = {"parts": [{"text": system}]}
        if config:
            body["generationConfig"] = config
        return Request(url=self.url, body=body | extra)

    def blocked(self, status: int, body: object) -> Response | None:  # noqa: ARG002  # the shape of Wire
        """Return None: blocks come as a success here."""
        return None

    def response(self, body: object) -> Response:
        """Read a response; raises PolicyError if there is neither a candidate nor a block."""
        response = read_content(body)
        chosen = dig(body, "candidates", 0, "logprobsResult", "topCandidates", 0)
        asked_for = dig(dict(self.sampling.extra), "generationConfig", "responseLogprobs")
        if isinstance(chosen, dict) and asked_for is None:
            tokens = (
                (dig(one, "token"), dig(one, "logProbability"))
                for one in items(chosen, "candidates")
            )
            response = replace(response, confidence=share_of_yes(tokens))
        return response


def read_content(body: object) -> Response:
    """Read the body of a `generateContent` response.

    A blocked prompt has no candidates at all.  Raises PolicyError where there are none and
    no block says why.
    """
    usage = Usage(
        prompt_tokens=count(body, "usageMetadata", "promptTokenCount"),
        completion_tokens=count(body, "usageMetadata", "candidatesTokenCount"),
    )
    model = text(body, "modelVersion")
    candidate = dig(body, "candidates", 0)
    if not isinstance(candidate, dict):
        reason = word(body, "promptFeedback", "blockReason")
        if not reason:
            raise PolicyError(
                "the response holds no candidate and no block reason", reason="no_choice"
            )
        detail = _blocked_categories(dig(body, "promptFeedback"))
        block = Block(stage=FilterStage.PROMPT, signal=reason, detail=detail)
        return Response(block=block, usage=usage, model=model)
    parts = items(candidate, "content", "parts")
    finish_reason = word(candidate, "finishReason") or "null"
    categories = _blocked_categories(candidate)
    return Response(
        text=joined_texts(parts) or "",
        finish_reason=finish_reason,
        block=Block(stage=FilterStage.COMPLETION, signal=finish_reason, detail=categories)
        if categories
        else None,
        tool_calls=tuple(name for part in parts if (name := text(part, "functionCall", "name"))),
        other_parts=_other_parts(parts, thought=count(body, "usageMetadata", "thoughtsTokenCount")),
        usage=usage,
        model=model,
    )


def _other_parts(parts: list[object], *, thought: int | None) -> tuple[str, ...]:
    found = ["thinking"] if thought else []
    for part in parts:
        if dig(part, "thought") is True:
            found.append("thinking")
        else:
            found += [name for name, _ in pairs(part) if name not in _KNOWN_PARTS]
    return tuple(dict.fromkeys(found))


def _blocked_categories(value: object) -> str:
    return ", ".join(
        f"{text(rating, 'category')}: {text(rating, 'probability')}"
        for rating in items(value, "safetyRatings")
        if dig(rating, "blocked") is True
    )
