from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace

import pytest

from pytest_refusal.errors import PolicyError
from pytest_refusal.execution.asking import AskError, ask, is_reduced
from pytest_refusal.execution.loop import BackgroundLoop
from pytest_refusal.prompt import Label, Message, Prompt, Role
from pytest_refusal.response import Block, FilterStage, Response, Usage

Reply = str | Response | BaseException


@pytest.fixture
def loop() -> Iterator[BackgroundLoop]:
    with BackgroundLoop() as loop:
        yield loop


@dataclass
class Scripted:
    """A policy that gives its replies in order and remembers what it was sent."""

    replies: list[Reply]
    takes_conversation: bool = True
    later: bool = False
    name: str = "scripted"
    sent: list[list[str]] = field(default_factory=list)

    def respond(self, prompt: Prompt, *, sample: int) -> Response | Awaitable[Response]:
        self.sent.append([f"{m.role.value}:{m.content}" for m in prompt.messages])
        reply = self.replies[len(self.sent) - 1]
        return self._later(reply) if self.later else self._now(reply)

    def _now(self, reply: Reply) -> Response:
        if isinstance(reply, BaseException):
            raise reply
        return Response(text=reply) if isinstance(reply, str) else reply

    async def _later(self, reply: Reply) -> Response:
        await asyncio.sleep(0)
        return self._now(reply)


def talk(*messages: str) -> Prompt:
    """Make a prompt of `s:`, `u:` and `a:` messages."""
    roles = {"s": Role.SYSTEM, "u": Role.USER, "a": Role.ASSISTANT}
    parts = [message.partition(":") for message in messages]
    said = tuple(Message(role=roles[role], content=content) for role, _, content in parts)
    return Prompt(id="t", messages=said, label=Label.SAFE)


@pytest.mark.parametrize("usage", [None, Usage(prompt_tokens=1, completion_tokens=2)])
def test_all_that_was_said_is_kept(loop: BackgroundLoop, usage: Usage | None) -> None:
    full = Response(
        text="Hi.",
        refusal="No.",
        finish_reason="stop",
        block=Block(stage=FilterStage.PROMPT, signal="filter"),
        tool_calls=("look_up",),
        other_parts=("thinking",),
        usage=usage,
        model="m",
    )
    found = ask(Scripted([full]), talk("u:hello"), sample=1, loop=loop)
    assert replace(found, latency_s=None) == full


def test_one_message_is_one_request(loop: BackgroundLoop) -> None:
    policy = Scripted(["hi"])
    response = ask(policy, talk("u:hello"), sample=1, loop=loop)
    assert response.text == "hi"
    assert response.latency_s is not None
    assert 0 <= response.latency_s < 1
    assert policy.sent == [["user:hello"]]


@pytest.mark.parametrize("later", [False, True])
def test_own_replies_join_the_history(loop: BackgroundLoop, later: bool) -> None:
    policy = Scripted(["one", "two", "three"], later=later)
    response = ask(policy, talk("s:be kind", "u:a", "u:b", "u:c"), sample=1, loop=loop)
    assert response.text == "three"
    assert response.earlier == ("one", "two")
    assert policy.sent == [
        ["system:be kind", "user:a"],
        ["system:be kind", "user:a", "assistant:one", "user:b"],
        ["system:be kind", "user:a", "assistant:one", "user:b", "assistant:two", "user:c"],
    ]


def test_a_written_history_is_sent_as_it_stands(loop: BackgroundLoop) -> None:
    policy = Scripted(["ok"])
    prompt = talk("u:a", "a:sure", "u:b", "u:c")
    assert ask(policy, prompt, sample=1, loop=loop).earlier == ()
    assert policy.sent == [["user:a", "assistant:sure", "user:b", "user:c"]]


def test_a_policy_of_texts_is_asked_once(loop: BackgroundLoop) -> None:
    policy = Scripted(["ok"], takes_conversation=False)
    prompt = talk("u:a", "u:b")
    assert ask(policy, prompt, sample=1, loop=loop).text == "ok"
    assert len(policy.sent) == 1
    assert is_reduced(policy, prompt)
    assert not is_reduced(policy, talk("u:a"))
    assert not is_reduced(Scripted([]), prompt)


def test_a_structured_refusal_serves_as_the_earlier_reply(loop: BackgroundLoop) -> None:
    policy = Scripted([Response(refusal="No."), "two"])
    assert ask(policy, talk("u:a", "u:b"), sample=1, loop=loop).earlier == ("No.",)
    assert policy.sent[1] == ["user:a", "assistant:No.", "user:b"]


UNUSABLE = {
    "empty": ("", "empty", "the reply was empty"),
    "blank": (" \n", "empty", "the reply was empty"),
    "cut": (Response(text="Well", finish_reason="MAX_TOKENS"), "truncated", "cut off (MAX_TOKENS)"),
    "blocked": (
        Response(text="", block=Block(stage=FilterStage.PROMPT, signal="content_filter")),
        "blocked",
        "blocked by the provider (content_filter)",
    ),
    "raises": (ValueError("x"), "error", "ValueError: x"),
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_a_turn_that_fails_is_named(loop: BackgroundLoop, case: str) -> None:
    reply, reason, told = UNUSABLE[case]
    policy = Scripted(["one", reply, "three"])  # type: ignore[list-item]  # a table of mixed types
    with pytest.raises(AskError) as caught:
        ask(policy, talk("u:a", "u:b", "u:c"), sample=1, loop=loop)
    assert str(caught.value).startswith("turn 2 of 3: ")
    assert told in str(caught.value)
    assert (caught.value.reason, caught.value.turn, caught.value.turns) == (reason, 2, 3)
    assert len(policy.sent) == 2


class Mute(Exception):  # noqa: N818  # a foreign name
    def __str__(self) -> str:
        raise ValueError("no")


class NotThere(PolicyError):  # noqa: N818  # a foreign name
    reason = "not_recorded"


def recursing(depth: int = 0) -> int:
    return recursing(depth + 1)


ERRORS = {
    "plain": (ValueError("bad"), "error", "ValueError: bad (tests/execution/test_asking.py:"),
    "no message": (ValueError(), "error", "ValueError (tests"),
    "exit": (SystemExit(3), "error", "SystemExit: 3"),
    "cancelled": (asyncio.CancelledError(), "error", "CancelledError"),
    "timeout": (TimeoutError("slow"), "timeout", "TimeoutError: slow"),
    "mute": (Mute(), "error", "Mute (its message cannot be shown)"),
    "ours": (NotThere("nothing there"), "not_recorded", "nothing there"),
    "group": (
        ExceptionGroup("two", [ValueError("a"), ExceptionGroup("in", [KeyError("b")])]),
        "error",
        "ExceptionGroup: two (2 sub-exceptions): ValueError: a; KeyError: 'b'",
    ),
    "long": (ValueError("x" * 5_000_000), "error", "x..."),
}


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("case", ERRORS)
def test_what_a_policy_raises_is_told(loop: BackgroundLoop, case: str, later: bool) -> None:
    error, reason, told = ERRORS[case]
    with pytest.raises(AskError) as caught:
        ask(Scripted([error], later=later), talk("u:a"), sample=1, loop=loop)
    assert told in str(caught.value).replace(f"{__file__}", "tests/execution/test_asking.py")
    assert caught.value.reason == reason
    assert len(str(caught.value)) < 3000


def policy_of(function: Callable[[], object]) -> Scripted:
    class Calling(Scripted):
        def respond(self, prompt: Prompt, *, sample: int) -> Response:
            return function()  # type: ignore[return-value]  # foreign code returns anything

    return Calling([])


def test_a_recursion_without_end_is_told(loop: BackgroundLoop) -> None:
    with pytest.raises(AskError, match=r"RecursionError: maximum recursion depth") as caught:
        ask(policy_of(recursing), talk("u:a"), sample=1, loop=loop)
    assert str(caught.value).count("in recursing") == 1


def test_what_is_no_response_is_told(loop: BackgroundLoop) -> None:
    with pytest.raises(AskError, match="policy 'scripted' returned dict; expected a Response"):
        ask(policy_of(dict), talk("u:a"), sample=1, loop=loop)


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), pytest.skip.Exception("not today")])
def test_interrupts_and_the_runners_own_exceptions_pass(
    loop: BackgroundLoop, error: BaseException, later: bool
) -> None:
    with pytest.raises(type(error)):
        ask(Scripted([error], later=later), talk("u:a"), sample=1, loop=loop)


def test_no_thread_is_started_for_a_policy_that_is_not_async(loop: BackgroundLoop) -> None:
    ask(Scripted(["x"]), talk("u:a"), sample=1, loop=loop)
    assert loop._thread is None
