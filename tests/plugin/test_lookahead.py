"""What waits in the queue of xdist, in each shape that it has had."""

from __future__ import annotations

import collections
import queue
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_refusal.plugin.lookahead import handed_out


class LockedQueue:
    """As since xdist 3.7."""

    def __init__(self, items: list[object]) -> None:
        self._items = collections.deque(items)

    @contextmanager
    def lock(self) -> Iterator[collections.deque[object]]:
        yield self._items


def plain_queue(items: list[object]) -> queue.Queue[object]:
    """As before xdist 3.7."""
    made: queue.Queue[object] = queue.Queue()
    for item in items:
        made.put(item)
    return made


def config_with(**members: object) -> Any:
    interactor = type("WorkerInteractor", (), members)()
    manager = SimpleNamespace(get_plugins=lambda: [object(), interactor])
    return SimpleNamespace(pluginmanager=manager)


@pytest.mark.parametrize("shape", [LockedQueue, plain_queue])
def test_what_was_handed_out_is_read_and_stays(shape: Any) -> None:
    config = config_with(torun=shape([3, 4, "shutdown"]))
    assert handed_out(config) == [3, 4]
    assert handed_out(config) == [3, 4]


@pytest.mark.parametrize("members", [{}, {"torun": None}, {"torun": [1, 2]}])
def test_a_queue_of_another_shape_is_left_alone(members: dict[str, object]) -> None:
    assert handed_out(config_with(**members)) == []


def test_without_xdist_nothing_is_handed_out() -> None:
    manager = SimpleNamespace(get_plugins=lambda: [object()])
    assert handed_out(SimpleNamespace(pluginmanager=manager)) == []
