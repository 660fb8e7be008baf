"""OpenAI Chat Completions, and every server that is compatible with it.

Reads the refusals, blocks and errors of OpenAI, Azure, OpenRouter, LiteLLM, vLLM, Ollama,
llama.cpp and Mistral, each of which has shapes of its own in the same format.
"""

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
)
from pytest_refusal.prompt import ConfidenceQuestion, Prompt
from pytest_refusal.response import FILTER_FAILED, Block, FilterStage, Response, Usage

# Codes of errors that are decisions about the prompt.
_BLOCK_CODES = frozenset({"content_filter", "content_policy_violation", "moderation_blocked"})

# Gateways turn these words of the provider into "stop"; they then give the original beside it.
_SAYS_MORE_THAN_STOP = frozenset(
    {
        *("length", "max_tokens", "model_length", "model_context_window_exceeded"),
        *("content_filter", "refusal", "safety", "prohibited_content", "blocklist", "spii"),
        *("model_armor", "guardrail_intervened", "content_filtered"),
        *("error", "network_error", "malformed_response", "malformed_function_call"),
        *("recitation", "language", "other"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIChat:
    """Chat Completions at one base URL.

    key_header: "Authorization" for a bearer token, else the header that holds the key bare.
    max_tokens_field: reasoning models want "max_completion_tokens".
    """

    base_url: str = field(repr=False)  # may hold a password
    model: str
    sampling: Sampling
    takes_conversation: ClassVar[bool] = True
    key_header: str = "Authorization"
    max_tokens_field: str = "max_tokens"

    @property
    def url(self) -> str:
        """Where requests go."""
        return join_url(self.base_url, "chat/completions")

    @property
    def fingerprint(self) -> Mapping[str, object]:
        """All that determines a response beside the messages."""
        return model_fingerprint("openai", self.url, self.model, self.sampling)

    def headers(self, key: str | None) -> Mapping[str, str]:
        """Return the headers of authentication, if there is a key."""
        if key is None:
            return {}
        bearer = self.key_header == "Authorization"
        return {self.key_header: f"Bearer {key}" if bearer else key}

    def request(self, prompt: Prompt, *, sample: int) -> Request:
        """Ask for one response, not streamed: the whole is needed before it is judged."""
        sampling = self.sampling
        optional = {
            "temperature": sampling.temperature,
            "seed": sampling.seed_of(sample),
            self.max_tokens_field: sampling.max_tokens,
        }
        messages = messages_with_system(prompt, sampling.system)
        body = {
            "model": self.model,
            "messages": [{"role": m.role.value, "content": m.content} for m in messages],
            **{name: value for name, value in optional.items() if value is not None},
            **sampling.extra,
        }
        if isinstance(prompt, ConfidenceQuestion) and prompt.by_token:
            body |= {self.max_tokens_field: 1, "logprobs": True, "top_logprobs": ALTERNATIVES}
        return Request(url=self.url, body=body)

    def blocked(self, status: int, body: object) -> Response | None:
        """Return the response if an error body says that a filter or the model declined."""
        return read_block(status, body, guarded="guardrails" in self.sampling.extra)

    def response(self, body: object) -> Response:
        """Read a chat completion; raises PolicyError if there is no choice in it."""
        response = read_completion(body)
        alternatives = items(body, "choices", 0, "logprobs", "content", 0, "top_logprobs")
        if alternatives and "logprobs" not in self.sampling.extra:
            tokens = ((dig(one, "token"), dig(one, "logprob")) for one in alternatives)
            response = replace(response, confidence=share_of_yes(tokens))
        limit = self.sampling.max_tokens
        spent = response.usage.completion_tokens if response.usage else None
        if response.finish_reason == "stop" and limit and spent is not None and spent >= limit:
            # Old versions of Ollama say "stop" also where they ran into the limit.
            return replace(response, finish_reason="length")
        return response


def read_completion(body: object) -> Response:
    """Read the body of a chat completion.

    Raises PolicyError where it holds no choice and no filter says why.
    """
    usage = Usage(
        prompt_tokens=count(body, "usage", "prompt_tokens"),
        completion_tokens=count(body, "usage", "completion_tokens"),
    )
    choice = dig(body, "choices", 0)
    if not isinstance(choice, dict):
        return _without_choice(body, usage)
    error = dig(choice, "error")
    if error is not None:
        msg = f"the server reports an error: {text(error, 'message') or error}"
        raise PolicyError(msg)
    message = dig(choice, "message")
    content = joined_texts(dig(message, "content"))
    if content is None:
        content = ""
    finish_reason = _finish_reason(choice)
    refusal = text(message, "refusal")
    return Response(
        text=content,
        refusal=refusal if refusal and refusal.strip() else None,
        finish_reason=finish_reason,
        block=_completion_block(body, choice, finish_reason),
        tool_calls=_tool_calls(message),
        other_parts=_other_parts(body, choice),
        usage=usage,
        model=text(body, "model"),
    )


def read_block(status: int, body: object, *, guarded: bool = False) -> Response | None:
    """Return the response if an error is a decision about the prompt; None if it is an error.

    guarded: whether the request asked for a guardrail, which alone makes a 403 that names one
    a block.  Codes and fields decide; the two matches on prose have nothing else to go by.
    """
    error = dig(body, "error")
    code = word(error, "code") or ""
    message = text(error, "message") or ""
    metadata = dig(error, "metadata")
    error_type = text(metadata, "error_type")
    if error_type == "refusal":
        return Response(refusal=message or "refused, without a text")
    inner = text(error, "innererror", "code")
    flagged = dig(metadata, "flagged_input") is not None or bool(items(metadata, "reasons"))
    if status == 403 or code == "403":
        signal = ""
        if flagged or error_type == "content_policy_violation":
            signal = "content_policy_violation"
        elif guarded and _names_guardrail(body):
            signal = "guardrail"
    elif inner == "ResponsibleAIPolicyViolation":
        signal = code if code in _BLOCK_CODES else inner
    elif code in _BLOCK_CODES or (code == "invalid_prompt" and "usage policy" in message.lower()):
        signal = code
    else:
        signal = "content_policy_violation" if "ContentPolicyViolationError" in message else ""
    if not signal:
        return None
    detail = _filtered(dig(error, "innererror", "content_filter_result")) or ", ".join(
        reason for reason in items(metadata, "reasons") if isinstance(reason, str)
    )
    return Response(block=Block(stage=FilterStage.PROMPT, signal=signal, detail=detail))


def _without_choice(body: object, usage: Usage) -> Response:
    detail = ", ".join(
        filter(None, (_filtered(dig(part, "content_filter_results")) for part in _prompts(body)))
    )
    if detail:
        block = Block(stage=FilterStage.PROMPT, signal="content_filter", detail=detail)
        return Response(block=block, usage=usage, model=text(body, "model"))
    raise PolicyError(
        "the response holds no choice and no reason for it; a provider's own API may say more"
        " than its OpenAI-compatible one",
        reason="no_choice",
    )


def _prompts(body: object) -> list[object]:
    return items(body, "prompt_filter_results")


def _finish_reason(choice: object) -> str:
    given = word(choice, "finish_reason")
    native = word(choice, "native_finish_reason") or word(
        choice, "provider_specific_fields", "native_finish_reason"
    )
    if native and native.lower() in _SAYS_MORE_THAN_STOP and given in {"stop", None}:
        return native
    # Null is a word of its own: only a reader of the report can say what a server means by it.
    return given if given is not None else "null"


def _completion_block(body: object, choice: object, finish_reason: str) -> Block | None:
    if text(body, "guardrails_data", "status") == "blocked" or _rails_stopped(body):
        return Block(stage=FilterStage.COMPLETION, signal="guardrail_intervened")
    if finish_reason.lower() != "content_filter":
        return None
    detail = _filtered(dig(choice, "content_filter_results"))
    return Block(stage=FilterStage.COMPLETION, signal=finish_reason, detail=detail)


def _rails_stopped(body: object) -> bool:
    """Whether a rail of NeMo Guardrails that was asked to tell stopped the exchange."""
    rails = items(body, "guardrails_data", "log", "activated_rails")
    return any(dig(rail, "stop") is True for rail in rails)


def _filtered(results: object) -> str:
    """Name what was filtered, with its severity; an annotation alone is no block."""
    found = []
    for category, result in pairs(results):
        if dig(result, "filtered") is True:
            severity = text(result, "severity")
            found.append(f"{category}: {severity}" if severity else category)
    return ", ".join(found)


def _names_guardrail(body: object) -> bool:
    return any("guardrail" in name.lower() for name, _ in pairs(body)) or any(
        "guardrail" in name.lower() for name, _ in pairs(body, "error")
    )


def _other_parts(body: object, choice: object) -> tuple[str, ...]:
    # OpenAI counts the thinking that it does not show; others show it under one of these names.
    message = dig(choice, "message")
    spent = count(body, "usage", "completion_tokens_details", "reasoning_tokens")
    shown = any(dig(message, name) for name in ("reasoning", "reasoning_content", "thinking"))
    found = ["thinking"] if spent or shown else []
    kinds = (text(part, "type") for part in items(message, "content"))
    found += [kind for kind in kinds if kind not in {None, "text", "output_text"}]
    filtered = [dig(part, "content_filter_results") for part in (choice, *_prompts(body))]
    found += [FILTER_FAILED for one in filtered if text(one, "error", "code") == FILTER_FAILED]
    return tuple(dict.fromkeys(found))


def _tool_calls(message: object) -> tuple[str, ...]:
    names = [word(call, "function", "name") for call in items(message, "tool_calls")]
    names.append(word(message, "function_call", "name"))
    return tuple(name for name in names if name)
