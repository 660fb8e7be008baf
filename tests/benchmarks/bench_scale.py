"""Whether loading, collection and the run grow with the corpus and no faster.

Run as `python tests/benchmarks/bench_scale.py`.  Each figure is the least processor time of
several processes, less that of one with ten prompts.  The ratio is what a prompt costs over what
it costs among the fewest that can be told from the start of a process, whose time varies by more
than 1,000 prompts need to be collected.  The floor is pytest alone with as many bare items.
For how a format is loaded there is `bench_corpus.py`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench_cost import FLOOR, Cost, measure, measure_python

LOAD = "from pytest_refusal import load_corpus; load_corpus('prompts.jsonl')"
OWN_TEST = "def test_own(refusal_case):\n    assert refusal_case.response.text\n"
OURS = ("-p", "refusal", "-qq", "--refusal-policy=always-answer")
FEWEST = 10
#: How much more a prompt may cost among many than among few.
MOST_GROWTH = 1.5
#: How long the prompts must take to be told from the start of the process.
PART_OF_START = 0.3


def _written(folder: Path, size: int) -> None:
    rows = (
        {"id": f"p-{n}", "prompt": f"How does thing {n} work?", "label": "safe", "category": "c"}
        for n in range(size)
    )
    (folder / "prompts.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (folder / "test_own.py").write_text(OWN_TEST)
    (folder / "pyproject.toml").write_text('[tool.pytest-refusal]\ncorpus = "prompts.jsonl"\n')


def _bare(*arguments: str) -> Callable[[Path, int], Cost]:
    def cost(folder: Path, size: int) -> Cost:
        (folder / "conftest.py").write_text(FLOOR.format(n=size))
        try:
            return measure(folder, "-qq", *arguments)
        finally:
            (folder / "conftest.py").unlink()

    return cost


WAYS: dict[str, Callable[[Path, int], Cost]] = {
    "load": lambda folder, _: measure_python(folder, "-c", LOAD),
    "collect bare items": _bare("prompts.jsonl", "--collect-only"),
    "collect items": lambda folder, _: measure(folder, *OURS, "prompts.jsonl", "--collect-only"),
    "collect own tests": lambda folder, _: measure(folder, *OURS, "test_own.py", "--collect-only"),
    "run bare items": _bare("prompts.jsonl"),
    "run items": lambda folder, _: measure(folder, *OURS, "prompts.jsonl"),
    "run own tests": lambda folder, _: measure(folder, *OURS, "test_own.py"),
}


def _least(way: str, size: int) -> tuple[Cost, Cost]:
    """Return the least of several sessions, and of as many with the fewest prompts, in turn.

    More of them where each takes less: what a thousand prompts cost is little beside the start.
    """
    rounds = 15 if size < 5_000 else 4 if size < 50_000 else 1
    with tempfile.TemporaryDirectory() as name:
        few, many = Path(name, "few"), Path(name, "many")
        for folder, prompts in ((few, FEWEST), (many, size)):
            folder.mkdir()
            _written(folder, prompts)
        start, cost = WAYS[way](few, FEWEST), WAYS[way](many, size)
        for _ in range(rounds - 1):
            start = start.least(WAYS[way](few, FEWEST))
            cost = cost.least(WAYS[way](many, size))
    return start, cost


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prompts", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    options = parser.parse_args()
    faults = []
    print("               way  prompts  seconds  us/prompt  ratio  KiB/prompt")
    for way in options.ways:
        base_us = None
        for size in options.prompts:
            start, cost = _least(way, size)
            more_s = cost.cpu_s - start.cpu_s
            each_us = more_s / (size - FEWEST) * 1e6
            if base_us is None and more_s > PART_OF_START * start.cpu_s:
                base_us = each_us
            growth = None if base_us is None else each_us / base_us
            print(
                f"{way:>18} {size:>8} {cost.cpu_s:>8.2f} {each_us:>10.0f}"
                f" {'' if growth is None else f'{growth:.2f}':>6}"
                f" {(cost.peak_kib - start.peak_kib) / size:>11.2f}",
                flush=True,
            )
            if growth is not None and growth > MOST_GROWTH:
                faults.append(f"{way}: a prompt costs {growth:.2f} times as much of {size}")
    for fault in faults:
        print(f"FAILED: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
