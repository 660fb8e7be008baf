from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_refusal.errors import PolicyError, SettingsError
from pytest_refusal.execution.asking import AskError, ask
from pytest_refusal.execution.loop import BackgroundLoop
from pytest_refusal.execution.prefetch import Prefetch, Question
from pytest_refusal.execution.threads import ThreadedPolicy
from pytest_refusal.policy.function import policy_from, threads_of
from pytest_refusal.prompt import Label, Message, Prompt, Role
from pytest_refusal.registry import build_policies
from pytest_refusal.settings import read_settings


@pytest.fixture
def loop() -> Iterator[BackgroundLoop]:
    with BackgroundLoop() as loop:
        yield loop


def prompt(text: str) -> Prompt:
    message = Message(role=Role.USER, content=text)
    return Prompt(id=text, label=Label.SAFE, messages=(message,))


def on_threads(function: Callable[[str], object], threads: int = 3) -> ThreadedPolicy:
    return ThreadedPolicy(policy_from(function, name="mine"), threads=threads)


def test_as_many_threads_as_allowed_are_used_and_no_more(loop: BackgroundLoop) -> None:
    lock = threading.Lock()
    now = most = 0

    def answer(text: str) -> str:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.02)
        with lock:
            now -= 1
        return f"{text}!"

    policy = on_threads(answer)
    questions = [Question(policy=policy, prompt=prompt(str(n))) for n in range(20)]
    prefetch = Prefetch(loop)
    texts = [prefetch.fetch(q, questions[n + 1 :]).text for n, q in enumerate(questions)]
    assert texts == [f"{n}!" for n in range(20)]
    assert most == 3


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ValueError("boo"), "error"),
        (SystemExit("boo"), "error"),
        (TimeoutError("boo"), "timeout"),
        (PolicyError("boo", reason="mine"), "mine"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_raised_on_a_thread_surfaces_at_its_prompt(
    loop: BackgroundLoop, error: BaseException, reason: str
) -> None:
    def fails(text: str) -> str:
        raise error

    with pytest.raises(AskError, match="boo") as caught:
        ask(on_threads(fails), prompt("a"), sample=1, loop=loop)
    assert caught.value.reason == reason


def test_what_is_no_response_is_told(loop: BackgroundLoop) -> None:
    with pytest.raises(AskError, match="returned int; expected str or Response"):
        ask(on_threads(lambda text: 3), prompt("a"), sample=1, loop=loop)


def test_a_thread_that_hangs_is_left_behind() -> None:
    hanging = threading.Event()

    def hangs(text: str) -> str:
        hanging.wait(30)
        return text

    with BackgroundLoop() as loop:
        future = loop.submit(on_threads(hangs).respond(prompt("a"), sample=1))
        future.cancel()
        started = time.monotonic()
    assert time.monotonic() - started < 5
    hanging.set()


class Callee:
    refusal_threads = 4

    def __call__(self, text: str) -> str:
        return text

    def method(self, text: str) -> str:
        return text

    method.refusal_threads = 5  # type: ignore[attr-defined]  # functions take any


def test_a_callable_says_how_many_threads_may_call_it() -> None:
    assert threads_of(Callee(), name="mine") == 4
    assert threads_of(Callee().method, name="mine") == 5
    assert threads_of(len, name="mine") == 0


@pytest.mark.parametrize("told", [-1, True, "8", 1001])
def test_a_number_of_threads_must_be_one(told: object) -> None:
    def answer(text: str) -> str:
        return text

    answer.refusal_threads = told  # type: ignore[attr-defined]  # functions take any
    with pytest.raises(PolicyError, match="from 0 to 1000"):
        threads_of(answer, name="mine")


def test_a_coroutine_function_needs_no_threads() -> None:
    async def answer(text: str) -> str:
        return text

    answer.refusal_threads = 2  # type: ignore[attr-defined]  # functions take any
    settings = read_settings({}, base=Path())
    with pytest.raises(SettingsError, match="threads are for sync callables"):
        build_policies(["mine"], settings, hooked={"mine": answer})
