"""Handing prompts to the workers of xdist, with the workers played here."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_refusal.plugin.scheduling import AheadScheduling


class Worker:
    """What a scheduler sees of a worker."""

    def __init__(self, name: str) -> None:
        self.gateway = SimpleNamespace(id=name)
        self.queue: list[int] = []
        self.shutting_down = False

    def send_runtest_some(self, indices: list[int]) -> None:
        assert not self.shutting_down
        self.queue.extend(indices)

    def shutdown(self) -> None:
        self.shutting_down = True

    @property
    def can_run(self) -> bool:
        """Whether the next test may run: a worker wants to know what comes after it."""
        return len(self.queue) > 1 or (bool(self.queue) and self.shutting_down)


def start(tests: list[str], workers: int, window: int) -> tuple[AheadScheduling, list[Worker]]:
    options = {"tx": [f"{workers}*popen"], "maxschedchunk": None, "dist": "load"}
    config = SimpleNamespace(
        getoption=options.get, getvalue=options.get, option=SimpleNamespace(**options)
    )
    scheduler = AheadScheduling(
        config, None, window=lambda test: window if test.startswith("prompt") else 0
    )
    nodes = [Worker(f"gw{n}") for n in range(workers)]
    for node in nodes:
        scheduler.add_node(node)
    for node in nodes:
        scheduler.add_node_collection(node, tests)
    scheduler.schedule()
    return scheduler, nodes


def finish_one(scheduler: AheadScheduling, node: Worker, duration: float = 0.0) -> int:
    done = node.queue.pop(0)
    scheduler.mark_test_complete(node, done, duration)
    return done


@pytest.mark.parametrize("duration", [0.0, 1.0], ids=["quick", "slow"])
@pytest.mark.parametrize("count", [40, 100, 500])
def test_every_worker_can_look_ahead_to_the_end(count: int, duration: float) -> None:
    window = 32
    scheduler, nodes = start([f"prompt-{n}" for n in range(count)], 2, window)
    while any(node.can_run for node in nodes):
        if scheduler.pending:
            assert min(len(node.queue) for node in nodes) >= min(window, count // 2) - 1
        for node in nodes:
            if node.can_run:
                finish_one(scheduler, node, duration)
    assert scheduler.tests_finished
    assert not any(node.queue for node in nodes)


def test_workers_that_are_alike_end_alike() -> None:
    scheduler, nodes = start([f"prompt-{n}" for n in range(500)], 4, 16)
    ended = [0] * 4
    while any(node.can_run for node in nodes):
        for number, node in enumerate(nodes):
            if node.can_run:
                finish_one(scheduler, node)
                ended[number] += 1
    assert sum(ended) == 500
    assert max(ended) - min(ended) <= 16


@given(
    tests=st.lists(st.sampled_from(["prompt", "other"]), max_size=60),
    workers=st.integers(1, 5),
    window=st.integers(1, 40),
    choices=st.lists(st.integers(0, 4), min_size=1, max_size=100),
)
def test_every_test_is_run_once(
    tests: list[str], workers: int, window: int, choices: list[int]
) -> None:
    named = [f"{kind}-{number}" for number, kind in enumerate(tests)]
    scheduler, nodes = start(named, workers, window)
    done = []
    turn = 0
    while ready := [node for node in nodes if node.can_run]:
        node = ready[choices[turn % len(choices)] % len(ready)]
        done.append(finish_one(scheduler, node))
        turn += 1
    assert sorted(done) == list(range(len(tests)))
