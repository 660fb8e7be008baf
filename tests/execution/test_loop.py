from __future__ import annotations

import asyncio
import contextvars
import gc
import signal
import socket
import threading
import time
import warnings
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Any

import pytest

from pytest_refusal.execution.loop import BackgroundLoop


async def add(a: int, b: int) -> int:
    await asyncio.sleep(0)
    return a + b


def wait_for(future: Future[tuple[Any, BaseException | None]]) -> Any:
    result, error = future.result(timeout=5)
    assert error is None
    return result


def threads() -> list[str]:
    return [t.name for t in threading.enumerate() if t.name == "pytest-refusal"]


def test_the_thread_starts_on_first_use_and_ends_with_close() -> None:
    with BackgroundLoop() as loop:
        assert threads() == []
        assert loop.run(add(1, 2)) == 3
        assert threads() == ["pytest-refusal"]
    assert threads() == []


def test_it_serves_a_caller_inside_a_running_loop() -> None:
    with BackgroundLoop() as loop:

        async def caller() -> int:
            return loop.run(add(2, 2))

        assert asyncio.run(caller()) == 4


@pytest.mark.parametrize(
    "kind", [ValueError, SystemExit, KeyboardInterrupt, asyncio.CancelledError]
)
def test_what_the_work_raises_reaches_the_caller_and_the_loop_lives_on(
    kind: type[BaseException],
) -> None:
    async def fail() -> int:
        raise kind("why")

    with BackgroundLoop() as loop:
        with pytest.raises(kind, match="why"):
            loop.run(fail())
        assert loop.run(add(1, 1)) == 2


async def stops_the_loop() -> None:
    asyncio.get_running_loop().stop()


async def exits_in_a_task() -> None:
    await asyncio.wait([asyncio.ensure_future(stop_the_process())])


async def stop_the_process() -> None:
    raise SystemExit("from a task")


@pytest.mark.parametrize("ends_the_loop", [stops_the_loop, exits_in_a_task])
def test_work_that_ends_the_loop_takes_nobody_elses_with_it(
    ends_the_loop: Callable[[], Awaitable[None]],
) -> None:
    for _ in range(50):  # what is lost depends on which thread is faster
        with BackgroundLoop() as loop:
            asked = [loop.submit(add(1, 1)), loop.submit(ends_the_loop())]
            asked += [loop.submit(add(n, n)) for n in range(3)]
            got = [wait_for(future) for future in asked]
            assert got == [2, None, 0, 2, 4]
            assert loop.run(add(2, 3)) == 5
        assert threads() == []


def test_exit_of_a_task_is_told_to_the_log(caplog) -> None:
    with BackgroundLoop() as loop:
        loop.run(exits_in_a_task())
        loop.run(add(1, 1))
    assert [record.message.splitlines()[0] for record in caplog.records] == [
        "SystemExit on the event loop"
    ]


def test_context_variables_of_the_caller_are_seen() -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="no")

    async def look() -> str:
        return variable.get()

    variable.set("yes")
    with BackgroundLoop() as loop:
        assert loop.run(look()) == "yes"


def test_close_cancels_what_is_pending() -> None:
    seen: list[str] = []

    async def endless() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            seen.append("cancelled")

    loop = BackgroundLoop()
    future = loop.submit(endless())
    loop.run(add(0, 0))
    loop.close()
    assert seen == ["cancelled"]
    assert isinstance(future.result(timeout=1)[1], asyncio.CancelledError)


def test_ctrl_c_while_waiting_cancels_the_work() -> None:
    cancelled = threading.Event()
    started = threading.Event()

    async def endless() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    def interrupt() -> None:
        started.wait(5)
        time.sleep(0.3)  # the work starts before the one who waits for it
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    with BackgroundLoop() as loop:
        threading.Thread(target=interrupt).start()
        before = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            loop.run(endless())
        assert cancelled.wait(5)
        assert time.monotonic() - before < 5


def test_a_closed_loop_says_so_and_leaves_nothing_behind() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loop = BackgroundLoop()
        loop.run(add(0, 0))
        loop.close()
        loop.close()
        with pytest.raises(RuntimeError, match="is closed"):
            loop.run(add(1, 1))
        gc.collect()


def test_loop_made_before_sockets_are_forbidden_needs_none(monkeypatch) -> None:
    with BackgroundLoop() as loop:
        loop.open()
        monkeypatch.setattr(socket, "socketpair", None)
        assert loop.run(asyncio.sleep(0, "done")) == "done"


def test_loop_that_was_opened_and_never_used_can_be_closed() -> None:
    loop = BackgroundLoop()
    loop.open()
    loop.close()
    loop.close()
