"""Sync policies that may be asked by several threads at a time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable
from contextlib import suppress

from pytest_refusal.execution.wrapping import WrappingPolicy
from pytest_refusal.prompt import Prompt
from pytest_refusal.protocols import Policy
from pytest_refusal.response import Response

_Result = tuple[object, BaseException | None]


class ThreadedPolicy(WrappingPolicy):
    """A sync policy, each of whose responses is made on a thread of its own.

    concurrency: how many threads there may be.  They are daemons: what hangs is left behind
    at the end of the session and not waited for.
    """

    def __init__(self, policy: Policy, *, threads: int) -> None:
        super().__init__(policy)
        self.concurrency = threads
        self._slots = asyncio.Semaphore(threads)

    async def respond(self, prompt: Prompt, *, sample: int) -> Response:
        """Wait for a thread, and for the response that it makes; raises what the policy does."""
        async with self._slots:
            answered: asyncio.Future[_Result] = asyncio.get_running_loop().create_future()
            threading.Thread(
                target=self._answer,
                args=(answered, prompt, sample),
                name=f"pytest-refusal {self.name}",
                daemon=True,
            ).start()
            response, error = await answered
        if error is not None:
            raise error
        # Whether it is a response is checked where it is asked.
        return await response if isinstance(response, Awaitable) else response  # type: ignore[return-value]  # as said

    def _answer(self, answered: asyncio.Future[_Result], prompt: Prompt, sample: int) -> None:
        result: _Result
        try:
            result = self.policy.respond(prompt, sample=sample), None
        except BaseException as error:  # raised again by the one who waits
            result = None, error
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            answered.get_loop().call_soon_threadsafe(_settle, answered, result)


def _settle(answered: asyncio.Future[_Result], result: _Result) -> None:
    if not answered.done():
        answered.set_result(result)
