from __future__ import annotations

import asyncio
import selectors

import pytest

from pytest_refusal.execution.pace import Pace


class Clock(selectors.DefaultSelector):
    """A clock that goes on when everybody waits for it."""

    now = 1.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.now += timeout or 0.0
        return super().select(0)


def starts(requests: int, *, slow_down_s: float = 0.0) -> list[tuple[int, float]]:
    """Have requests wait for their turns at the same time; who started, and when."""
    clock = Clock()
    loop = asyncio.SelectorEventLoop(clock)
    loop.time = lambda: clock.now  # type: ignore[method-assign]  # a clock of the test
    started: list[tuple[int, float]] = []

    async def ask(pace: Pace, number: int) -> None:
        async with pace.turn():
            started.append((number, loop.time()))
            await asyncio.sleep(0)

    async def ask_all() -> None:
        pace = Pace(requests)
        if slow_down_s:
            async with pace.turn() as so_far:
                pace.slow_down(slow_down_s, started_at=so_far)
        await asyncio.gather(*(ask(pace, number) for number in range(requests)))

    loop.run_until_complete(ask_all())
    loop.close()
    return started


def test_requests_start_in_order_and_a_moment_apart() -> None:
    assert starts(4) == [(n, pytest.approx(1.0 + n * 0.0015)) for n in range(4)]


def test_after_a_rate_limit_they_wait_and_do_not_start_together_either() -> None:
    assert starts(4, slow_down_s=0.5) == [(n, pytest.approx(1.5 + n * 0.0015)) for n in range(4)]
