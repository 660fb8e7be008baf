"""What asking has cost so far, and the limits on it."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from pathlib import Path
from threading import Lock

from pytest_refusal.errors import PolicyError
from pytest_refusal.response import Usage


class SpentError(PolicyError):
    """The budget of the run is spent: no request was sent."""

    reason = "budget"


@dataclass(slots=True, kw_only=True)
class Meter:
    """Counts for one policy in one process; two add up.

    calls: requests sent, retries among them.  waited_s: seconds spent waiting before retries.
    cost: in the currency of the configured prices.  unpriced: responses that have a price and
    came without a count of tokens.
    """

    calls: int = 0
    retries: int = 0
    replayed: int = 0
    waited_s: float = 0.0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0

    def add(self, other: Meter) -> None:
        """Add the counts of another process."""
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))

    def plain(self) -> dict[str, float]:
        """Return the counts by name, for JSON."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tariff:
    """What a million tokens cost."""

    input_per_million: float
    output_per_million: float

    def cost(self, usage: Usage | None) -> float:
        """Return what one response cost; 0 where its tokens are not known."""
        if usage is None:
            return 0.0
        into = (usage.prompt_tokens or 0) * self.input_per_million
        return (into + (usage.completion_tokens or 0) * self.output_per_million) / 1e6


class Budget:
    """The limits of a run on its requests, held by all its processes together.

    tally: an empty file that all processes share; None where there is one process only.
    max_cost is that of the run. Costs are known after the call only, so each of its processes keeps
    to its share, and reserves what its dearest response has cost.
    """

    def __init__(
        self,
        *,
        max_calls: int | None = None,
        max_cost: float | None = None,
        tally: Path | None = None,
        processes: int = 1,
    ) -> None:
        self._max_calls = max_calls
        self._max_cost = max_cost
        self._processes = processes
        self._tally = tally
        self._taken = 0
        self._under_way = 0
        self._cost = 0.0
        self._dearest = 0.0
        self._message: str | None = None
        # A judge is asked on a loop of its own, while the policies are asked on theirs.
        self._lock = Lock()

    @property
    def message(self) -> str | None:
        """Why no request is sent any more; None while some may be."""
        return self._message

    def take(self) -> None:
        """Take one request out of the budget; raises SpentError where none is left."""
        with self._lock:
            if self._max_cost is not None:
                reserved = (self._under_way + 1) * self._dearest
                if self._cost + reserved > self._max_cost / self._processes:
                    raise self._spent(self._too_dear(self._max_cost))
            if self._max_calls is not None and self._next_number() > self._max_calls:
                calls = "1 call" if self._max_calls == 1 else f"{self._max_calls} calls"
                raise self._spent(f"the limit of {calls} is reached")
            self._under_way += 1

    def settle(self, cost: float) -> None:
        """Note what a request that was taken has cost."""
        with self._lock:
            self._under_way -= 1
            self._cost += cost
            self._dearest = max(self._dearest, cost)

    def _too_dear(self, limit: float) -> str:
        named = f"the limit on cost ({limit:g})"
        if self._processes > 1:
            return f"one of {self._processes} processes has used up its share of {named}"
        return f"{named} {'is' if self._cost > limit else 'would be'} exceeded"

    def _spent(self, why: str) -> SpentError:
        self._message = why
        return SpentError(f"not asked: {why}")

    def _next_number(self) -> int:
        if self._tally is None:
            self._taken += 1
            return self._taken
        # One byte a call: where an appended byte ends up is the number of the call, and the
        # system keeps appends of several processes apart.
        file = os.open(self._tally, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, b".")
            return os.lseek(file, 0, os.SEEK_CUR)
        finally:
            os.close(file)
