"""Asking again, at a pace and within a budget, until there is a response or no hope."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable

from pytest_refusal.errors import PolicyError, TransientPolicyError
from pytest_refusal.execution.breaker import Breaker, StoppedError
from pytest_refusal.execution.clock import CLOCK
from pytest_refusal.execution.meter import Budget, Meter, SpentError, Tariff
from pytest_refusal.execution.pace import Pace
from pytest_refusal.execution.wrapping import WrappingPolicy
from pytest_refusal.prompt import Prompt
from pytest_refusal.protocols import Policy
from pytest_refusal.response import Response

# The waiting of OpenAI's client: half a second doubled each time, at most eight, less up to
# a quarter; what the server asks for is followed up to two minutes.
_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 8.0
_JITTER = 0.25
LONGEST_SERVER_WAIT_S = 120.0


class RetryingPolicy(WrappingPolicy):
    """A policy that asks another one, again where that may help.

    A block or a refusal is a response and is never asked for again.
    meter: what it has cost so far.  breaker: whether it is asked any more, and why not.
    budget: the limits of the run; may be set before the first request.
    """

    def __init__(
        self,
        policy: Policy,
        *,
        retries: int = 6,
        concurrency: int = 8,
        timeout_s: float | None = None,
        asks_confidence: bool = False,
        asks_by_token: bool = False,
        tariff: Tariff | None = None,
        budget: Budget | None = None,
        randomness: random.Random | None = None,
    ) -> None:
        super().__init__(policy)
        self.concurrency = concurrency
        self.timeout_s = timeout_s
        self.asks_confidence = asks_confidence
        self.asks_by_token = asks_by_token
        self.budget = budget or Budget()
        self.meter = Meter()
        self.breaker = Breaker(policy.name)
        self._retries = retries
        self._pace = Pace(concurrency)
        self._tariff = tariff
        self._random = randomness or random.Random()  # noqa: S311  # jitter, no secret

    async def respond(self, prompt: Prompt, *, sample: int) -> Response:
        """Ask until there is a response; raises PolicyError where it gives up."""
        attempt = 0
        last = ""
        try:
            while True:
                attempt += 1
                try:
                    response = await self._attempt(prompt, sample, attempt)
                except TransientPolicyError as error:
                    last = str(error)
                    await asyncio.sleep(self._wait_s(error, attempt))
                else:
                    self.breaker.succeeded()
                    self._pace.succeeded()
                    return response
        except asyncio.CancelledError as cancelled:
            if last:
                cancelled.add_note(f"{_times(attempt)}, the last one that ended: {last}")
            raise
        except (StoppedError, SpentError):
            raise  # says nothing about the server
        except PolicyError as error:
            self.breaker.failed(error)
            raise

    @property
    def is_priced(self) -> bool:
        """Whether it is known what a request costs."""
        return self._tariff is not None

    def hide(self, text: str) -> str:
        """Return `text` without the keys of the policy that is asked."""
        hide = getattr(self.policy, "hide", None)
        return text if hide is None else str(hide(text))

    async def _attempt(self, prompt: Prompt, sample: int, attempt: int) -> Response:
        clock = CLOCK.get()
        if attempt == 1 and clock is not None:
            clock.hold()
        async with self._pace.turn() as started_at:
            if clock is not None:
                clock.go_on()
            self.breaker.check()
            self.budget.take()
            self.meter.calls += 1
            self.meter.retries += attempt > 1
            cost = 0.0
            try:
                response = self.policy.respond(prompt, sample=sample)
                if isinstance(response, Awaitable):
                    response = await response
                cost = self._count(response)
            except TransientPolicyError as error:
                if error.slow_down:
                    wait_s = min(error.wait_s or 0.0, LONGEST_SERVER_WAIT_S)
                    self._pace.slow_down(wait_s, started_at=started_at)
                raise
            finally:
                self.budget.settle(cost)
            return response

    def _wait_s(self, error: TransientPolicyError, attempt: int) -> float:
        """Return how long to wait before the next attempt; raises PolicyError to give up."""
        wanted = error.wait_s
        if wanted is not None and wanted > LONGEST_SERVER_WAIT_S:
            text = f"{error}; the server asks to wait {wanted:g} s, which is too long"
            raise PolicyError(text, reason=error.reason) from error
        if attempt > self._retries:
            text = f"gave up after {_times(attempt)}: {error}"
            raise PolicyError(text, reason=error.reason) from error
        if wanted is None:
            wanted = min(_FIRST_WAIT_S * 2.0 ** (attempt - 1), _LONGEST_WAIT_S)
            wanted *= 1 - _JITTER * self._random.random()
        else:
            # Not all at the same moment: that is what the server asked to be spared.
            wanted += _JITTER * self._random.random() * min(wanted, 1.0)
        self.meter.waited_s += wanted
        return wanted

    def _count(self, response: Response) -> float:
        if response.usage is not None:
            self.meter.prompt_tokens += response.usage.prompt_tokens or 0
            self.meter.completion_tokens += response.usage.completion_tokens or 0
        if self._tariff is None:
            return 0.0
        # What a filter stopped is seldom counted, and seldom billed.
        if response.block is None and not (response.usage and response.usage.is_known):
            self.meter.unpriced += 1
        cost = self._tariff.cost(response.usage)
        self.meter.cost += cost
        return cost


def _times(attempt: int) -> str:
    return "1 attempt" if attempt == 1 else f"{attempt} attempts"
