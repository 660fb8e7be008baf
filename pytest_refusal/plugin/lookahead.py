"""Which trials are sure to come after an item in this process, so that they may be asked now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from pytest_refusal.outcome import Trial

# Marks of pytest by which an item may end before it asks.
_MAY_NOT_ASK = ("skip", "skipif", "xfail")


class Lookahead:
    """The items of one process in the order in which they run."""

    def __init__(self) -> None:
        self._items: Sequence[pytest.Item] = ()
        self._trials: list[Trial | None] = []
        self._places: dict[pytest.Item, int] = {}

    def after(self, item: pytest.Item) -> Iterator[Trial]:
        """Yield the trials after `item`, in order, as far as they are certain."""
        # By place: to skip those before it at each look takes long in a long run.
        for place in range(self._place(item) + 1, len(self._trials)):
            trial = self._trials[place]
            if trial is not None:
                yield trial

    def _place(self, item: pytest.Item) -> int:
        if self._items is not item.session.items:
            self._items = item.session.items
            self._trials = [_trial(one) for one in self._items]
            self._places = {one: place for place, one in enumerate(self._items)}
        return self._places[item]


class WorkerLookahead(Lookahead):
    """What the scheduler of xdist has handed to this worker.

    is_firm: whether what was handed out stays; work stealing takes it back, all but the next.
    """

    def __init__(self, config: pytest.Config, *, is_firm: bool) -> None:
        super().__init__()
        self._config = config
        self._is_firm = is_firm
        self._next: pytest.Item | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, nextitem: pytest.Item | None) -> None:
        """Note the item that is sure to come next."""
        self._next = nextitem

    def after(self, item: pytest.Item) -> Iterator[Trial]:  # noqa: ARG002  # xdist says what is next
        """Yield the trial of the next item, then those that wait in the queue of xdist."""
        if self._next is None:
            return
        places = [self._place(self._next), *(handed_out(self._config) if self._is_firm else ())]
        for place in places:
            trial = self._trials[place]
            if trial is not None:
                yield trial


def handed_out(config: pytest.Config) -> Sequence[int]:
    """Return the places of the items that wait in xdist's queue; none if it has another shape.

    xdist has no public way to tell: this reads `WorkerInteractor.torun`, which is a
    `TestQueue` since xdist 3.7 and was a `queue.Queue` before.
    """
    for plugin in config.pluginmanager.get_plugins():
        if type(plugin).__name__ != "WorkerInteractor":
            continue
        try:
            waiting = plugin.torun
            lock = waiting.lock() if hasattr(waiting, "lock") else waiting.mutex
            with lock as locked:
                held = locked if hasattr(waiting, "lock") else waiting.queue
                return [place for place in held if isinstance(place, int)]
        except (AttributeError, TypeError):
            return []
    return []


def _trial(item: pytest.Item) -> Trial | None:
    trial = getattr(item, "trial", None)
    if not isinstance(trial, Trial) or any(item.get_closest_marker(name) for name in _MAY_NOT_ASK):
        return None
    return trial
