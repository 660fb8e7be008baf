"""How any policy is asked for one response: its turns, its errors, its time."""

from __future__ import annotations

import asyncio
import inspect
from dataclasses import replace
from time import perf_counter

from pytest_refusal.errors import PolicyError
from pytest_refusal.execution.loop import BackgroundLoop
from pytest_refusal.foreign import describe
from pytest_refusal.prompt import Message, Prompt, Role
from pytest_refusal.protocols import Policy
from pytest_refusal.response import Response

# Finish reasons, in lower case, after which a reply cannot stand in a history.
_CUT_OFF = frozenset(
    {"length", "max_tokens", "model_length", "model_context_window_exceeded", "max_output_tokens"}
)


class AskError(Exception):
    """A policy gave no response; `str()` is the text for people.

    reason: a word for machines: "timeout", "not_recorded", "http_429", "error", ...
    turn, turns: at which request of how many, both from 1.
    """

    def __init__(self, text: str, *, reason: str, turn: int = 1, turns: int = 1) -> None:
        self.reason = reason
        self.turn = turn
        self.turns = turns
        super().__init__(f"turn {turn} of {turns}: {text}" if turns > 1 else text)


def ask(policy: Policy, prompt: Prompt, *, sample: int, loop: BackgroundLoop) -> Response:
    """Ask a policy for its response, with the time it took and its replies to earlier turns.

    A conversation that holds messages of the assistant is sent as it stands, in one request.
    Where messages of the user follow one another the policy is asked at each, and its own
    reply joins the history; the last response is returned.
    Raises AskError for whatever the policy raises, but for an interrupt and for the
    exceptions by which a test runner steers.
    """
    started = perf_counter()
    *before, last = _turns(policy, prompt)
    turns = len(before) + 1
    history: list[Message] = []
    earlier: list[str] = []
    for turn, messages in enumerate(before, start=1):
        history.extend(messages)
        so_far = replace(prompt, messages=tuple(history))
        response = _ask_once(policy, so_far, sample, loop, turn=turn, turns=turns)
        reply = _usable_reply(response, turn, turns)
        earlier.append(reply)
        history.append(Message(role=Role.ASSISTANT, content=reply))
    if before:
        prompt = replace(prompt, messages=(*history, *last))
    response = _ask_once(policy, prompt, sample, loop, turn=turns, turns=turns)
    return _timed(response, tuple(earlier), perf_counter() - started)


def is_reduced(policy: Policy, prompt: Prompt) -> bool:
    """Whether the policy sees only the last of several messages."""
    return (
        prompt.is_conversation
        and not policy.takes_conversation
        and not _answers_whole_prompts(policy)
    )


def _turns(policy: Policy, prompt: Prompt) -> list[tuple[Message, ...]]:
    """Split the messages so that each part ends where the policy is to reply."""
    messages = prompt.messages
    if (
        len(messages) == 1
        or not policy.takes_conversation
        or _answers_whole_prompts(policy)
        or any(message.role is Role.ASSISTANT for message in messages)
    ):
        return [messages]
    ends = [i + 1 for i, message in enumerate(messages) if message.role is Role.USER]
    ends[-1] = len(messages)  # a system message at the very end belongs to the last turn
    return [messages[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def _answers_whole_prompts(policy: Policy) -> bool:
    # Not in the protocol: only what looks its responses up by prompt has to say so.
    return bool(getattr(policy, "answers_whole_prompts", False))


def _ask_once(
    policy: Policy, prompt: Prompt, sample: int, loop: BackgroundLoop, *, turn: int, turns: int
) -> Response:
    try:
        response = policy.respond(prompt, sample=sample)
        if isinstance(response, Response):
            return response
        if inspect.isawaitable(response):
            response = loop.run(response)
    except PolicyError as error:
        raise AskError(str(error), reason=error.reason, turn=turn, turns=turns) from error
    except TimeoutError as error:
        raise AskError(describe(error), reason="timeout", turn=turn, turns=turns) from error
    except (Exception, SystemExit, asyncio.CancelledError) as error:
        raise AskError(describe(error), reason="error", turn=turn, turns=turns) from error
    if not isinstance(response, Response):
        text = f"policy {policy.name!r} returned {type(response).__name__}; expected a Response"
        raise AskError(text, reason="invalid_response", turn=turn, turns=turns)
    return response


def _usable_reply(response: Response, turn: int, turns: int) -> str:
    """Return the text with which the conversation goes on."""
    finish = (response.finish_reason or "").lower()
    if response.refusal and response.refusal.strip():
        return response.refusal
    if response.block is not None:
        text, reason = f"blocked by the provider ({response.block.signal})", "blocked"
    elif finish in _CUT_OFF:
        text, reason = f"the reply was cut off ({response.finish_reason})", "truncated"
    elif not response.text.strip():
        text, reason = "the reply was empty", "empty"
    else:
        return response.text
    msg = f"{text}; the conversation cannot go on"
    raise AskError(msg, reason=reason, turn=turn, turns=turns)


def _timed(response: Response, earlier: tuple[str, ...], latency_s: float) -> Response:
    # Written out: `dataclasses.replace` costs several times as much.
    return Response(
        text=response.text,
        refusal=response.refusal,
        finish_reason=response.finish_reason,
        block=response.block,
        tool_calls=response.tool_calls,
        usage=response.usage,
        model=response.model,
        confidence=response.confidence,
        earlier=earlier,
        latency_s=latency_s,
    )
