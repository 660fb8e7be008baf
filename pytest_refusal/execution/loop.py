"""One event loop on a thread of its own, for callers that are not async."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from types import TracebackType
from typing import Self, TypeVar

T = TypeVar("T")
Closer = Callable[[], Awaitable[None]]

# Work that will not be cancelled is left behind on the daemon thread, not waited for.
_CANCEL_TIMEOUT_S = 2.0
_JOIN_TIMEOUT_S = 5.0

# A signal that arrives just before the main thread sleeps does not wake it: look again.
_WAKE_S = 0.2


class BackgroundLoop:
    """An event loop that runs on a daemon thread from its first use until `close`.

    The caller may itself be inside a running loop: this one knows nothing of it.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._closed = False
        self._ended = False
        self._closers: dict[object, Closer] = {}

    def open(self) -> None:
        """Make the loop now rather than at its first use.

        A loop needs a pair of sockets, and a run may forbid them while a policy is asked.
        """
        with self._lock:
            if not self._closed and self._loop is None:
                self._loop = asyncio.new_event_loop()

    def run(self, awaitable: Awaitable[T]) -> T:
        """Wait for `awaitable` on the loop and return its result, or raise what it raised.

        If the waiting itself is interrupted (Ctrl-C, a timeout by signal), the work is
        cancelled.  Raises RuntimeError once closed.
        """
        return self.result_of(self.submit(awaitable))

    def result_of(self, future: Future[tuple[T | None, BaseException | None]]) -> T:
        """Wait for what was submitted and return its result, or raise what it raised.

        If the waiting itself is interrupted, it is cancelled.
        """
        try:
            result, error = self.wait_for(future)
        except BaseException:
            future.cancel()
            raise
        if error is not None:
            try:
                raise error
            finally:
                del error  # else the traceback, which holds this frame, makes a cycle
        return result  # type: ignore[return-value]  # None only beside an error, or if T has it

    def submit(self, awaitable: Awaitable[T]) -> Future[tuple[T | None, BaseException | None]]:
        """Start `awaitable` on the loop; the future gives its result and its exception."""
        try:
            loop = self._running()
        except Exception:
            if asyncio.iscoroutine(awaitable):
                awaitable.close()  # else Python warns that it was never awaited
            raise
        return asyncio.run_coroutine_threadsafe(_capture(awaitable), loop)

    def wait_for(self, future: Future[T]) -> T:
        """Wait for what was submitted, such that a signal is heard at once."""
        while not future.done() and not wait([future], timeout=_WAKE_S).done:
            pass
        return future.result()

    def close_at_end(self, owner: object, closer: Closer) -> None:
        """Have `closer` awaited on the loop when it closes; once for each owner."""
        self._closers.setdefault(owner, closer)

    def close(self) -> None:
        """Cancel what is pending, close what is open, and end; it cannot be used again."""
        with self._lock:
            self._closed = True
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None:
            return
        if thread is None:
            loop.close()
            return
        ending = self._end(loop)
        try:
            asyncio.run_coroutine_threadsafe(ending, loop)
        except RuntimeError:  # what ran on it has closed it
            ending.close()
        thread.join(_JOIN_TIMEOUT_S)

    async def _end(self, loop: asyncio.AbstractEventLoop) -> None:
        await _cancel_all()
        for closer in self._closers.values():
            with suppress(Exception):  # whoever cannot close is left to the end of the process
                await asyncio.wait_for(closer(), _CANCEL_TIMEOUT_S)
        self._ended = True
        loop.stop()

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            # A policy may stop the loop, or exit in a task of its own: others still wait on it.
            while not self._ended:
                try:
                    loop.run_forever()
                except (SystemExit, KeyboardInterrupt) as error:
                    loop.call_exception_handler(
                        {"message": f"{type(error).__name__} on the event loop", "exception": error}
                    )
        finally:
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._closed:
                raise RuntimeError("the background loop is closed")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._serve, args=(self._loop,), name="pytest-refusal", daemon=True
                )
                self._thread.start()
            return self._loop


async def _capture(awaitable: Awaitable[T]) -> tuple[T | None, BaseException | None]:
    # An exit or an interrupt that left the task would end the loop and everybody's work.
    try:
        return await awaitable, None
    except BaseException as error:  # raised again by the one who waits
        return None, error


async def _cancel_all() -> None:
    pending = asyncio.all_tasks() - {asyncio.current_task()}
    for task in pending:
        task.cancel()
    if pending:
        await asyncio.wait(pending, timeout=_CANCEL_TIMEOUT_S)
