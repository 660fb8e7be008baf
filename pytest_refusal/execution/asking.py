"""How any policy is asked for one response: its errors, its deadline, its time."""

from __future__ import annotations

import asyncio
import inspect
from dataclasses import replace
from time import perf_counter

from pytest_refusal.errors import PolicyError
from pytest_refusal.execution.clock import CLOCK, Clock
from pytest_refusal.execution.conversation import (
    AskError,
    Conversation,
    Step,
    calls_of,
    converse,
    is_reduced,
)
from pytest_refusal.execution.loop import BackgroundLoop
from pytest_refusal.foreign import describe
from pytest_refusal.prompt import Prompt
from pytest_refusal.protocols import Policy
from pytest_refusal.response import Response, misfit

__all__ = ["AskError", "ask", "ask_on_loop", "calls_of", "close_with", "is_async", "is_reduced"]

# What is raised inside a policy and not meant for a runner of tests above it.
_FOREIGN = (Exception, SystemExit, asyncio.CancelledError)


def ask(policy: Policy, prompt: Prompt, *, sample: int, loop: BackgroundLoop) -> Response:
    """Ask a policy for its response, with the time it took and its replies to earlier turns.

    Raises AskError for whatever the policy raises, but for an interrupt and for the
    exceptions by which a test runner steers.
    """
    if getattr(policy, "timeout_s", None) is not None:
        close_with(policy, loop)
        return loop.run(ask_on_loop(policy, prompt, sample=sample))
    started = perf_counter()
    conversation = converse(policy, prompt)
    step = next(conversation)
    while True:
        try:
            response = _respond(policy, step, sample, loop)
        except AskError as error:
            after = _go_on(conversation, error)
        else:
            after = _go_on(conversation, response)
        if isinstance(after, Response):
            return _timed(after, perf_counter() - started)
        step = after


def is_async(policy: Policy) -> bool:
    """Whether a policy says beforehand that its responses are to be awaited."""
    return getattr(policy, "concurrency", 0) > 0 or inspect.iscoroutinefunction(policy.respond)


def close_with(policy: Policy, loop: BackgroundLoop) -> None:
    """Have what a policy holds open closed when the loop is."""
    closer = getattr(policy, "aclose", None)
    if closer is not None:
        loop.close_at_end(id(policy), closer)


async def ask_on_loop(policy: Policy, prompt: Prompt, *, sample: int) -> Response:
    """Ask like `ask`, on a running loop, within the `timeout_s` that the policy may have.

    What a policy spends on waiting for its turn is no part of that time.
    """
    timeout_s: float | None = getattr(policy, "timeout_s", None)
    conversation = converse(policy, prompt)
    step = next(conversation)
    deadline = asyncio.timeout(timeout_s)
    clock = Clock(deadline)
    CLOCK.set(clock)
    try:
        async with deadline:
            while True:
                try:
                    response = await _respond_on_loop(policy, step, sample)
                except AskError as error:
                    after = _go_on(conversation, error)
                else:
                    after = _go_on(conversation, response)
                if isinstance(after, Response):
                    return _timed(after, clock.seconds)
                step = after
    except TimeoutError as error:
        if not deadline.expired():
            raise
        text = f"no response within {timeout_s:g} s{_notes(error.__cause__)}"
        raise step.error(text, reason="timeout") from None


def _go_on(conversation: Conversation, result: Response | AskError) -> Step | Response:
    try:
        if isinstance(result, AskError):
            return conversation.throw(result)
        return conversation.send(result)
    except StopIteration as end:
        final: Response = end.value
        return final


def _respond(policy: Policy, step: Step, sample: int, loop: BackgroundLoop) -> Response:
    try:
        response = policy.respond(step.prompt, sample=sample)
        if not isinstance(response, Response) and inspect.isawaitable(response):
            response = loop.run(response)
    except _FOREIGN as error:
        raise _ask_error(error, step) from error
    return _checked(response, policy, step)


async def _respond_on_loop(policy: Policy, step: Step, sample: int) -> Response:
    try:
        response = policy.respond(step.prompt, sample=sample)
        if not isinstance(response, Response) and inspect.isawaitable(response):
            response = await response
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise _ask_error(error, step) from error
    except (Exception, SystemExit) as error:
        raise _ask_error(error, step) from error
    return _checked(response, policy, step)


def _checked(response: object, policy: Policy, step: Step) -> Response:
    if not isinstance(response, Response):
        text = f"policy {policy.name!r} returned {type(response).__name__}; expected a Response"
        raise step.error(text, reason="invalid_response")
    wrong = misfit(response)
    if wrong is not None:
        text = f"policy {policy.name!r} returned a Response whose {wrong}"
        raise step.error(text, reason="invalid_response")
    return response


def _ask_error(error: BaseException, step: Step) -> AskError:
    if isinstance(error, PolicyError):
        return step.error(str(error), reason=error.reason)
    reason = "timeout" if isinstance(error, TimeoutError) else "error"
    return step.error(describe(error), reason=reason)


def _notes(error: BaseException | None) -> str:
    """Return what was noted on a cancellation: how often it had been tried, and in vain."""
    notes = getattr(error, "__notes__", ())
    return f" ({'; '.join(notes)})" if notes else ""


def _timed(response: Response, latency_s: float) -> Response:
    if response.earlier or response.confidence is not None or response.usage is not None:
        return replace(response, latency_s=latency_s)
    # Written out for the common case: `replace` costs several times as much.
    return Response(
        text=response.text,
        refusal=response.refusal,
        finish_reason=response.finish_reason,
        block=response.block,
        tool_calls=response.tool_calls,
        other_parts=response.other_parts,
        model=response.model,
        latency_s=latency_s,
    )
