"""What a run costs against bare test items: `python tests/benchmarks/bench_cost.py`.

The floor is pytest itself: a conftest that makes as many custom items, each of which searches
a text for one pattern.  Both run with `-q` in one process of their own, in turn; the least of
several runs counts.  Processor time decides, since other work on the machine does not touch it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

MOST_TIMES_THE_FLOOR = 1.35
MOST_KIB_A_PROMPT = 2.5
#: How much more a prompt may cost among 50,000 than among 10,000, over what the floor's does.
MOST_GROWTH = 1.15

FLOOR = """
import re
import pytest

PATTERN = re.compile(r"ignore (all|any) (previous|earlier) instructions")

class Bare(pytest.Item):
    def __init__(self, *, text, **kwargs):
        super().__init__(**kwargs)
        self.text = text

    def runtest(self):
        assert PATTERN.search(self.text) is None

    def reportinfo(self):
        return self.path, 0, self.name

class Texts(pytest.File):
    def collect(self):
        for number in range({n}):
            text = f"Number {{number}}: how long should an egg of this size be boiled?"
            yield Bare.from_parent(self, name=f"p-{{number:05}}", text=text)

def pytest_collect_file(file_path, parent):
    if file_path.name == "prompts.jsonl":
        return Texts.from_parent(parent, path=file_path)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The least that a run took: processor and wall time in seconds, peak memory in KiB."""

    cpu_s: float
    wall_s: float
    peak_kib: int

    def least(self, other: Cost) -> Cost:
        return Cost(
            cpu_s=min(self.cpu_s, other.cpu_s),
            wall_s=min(self.wall_s, other.wall_s),
            peak_kib=min(self.peak_kib, other.peak_kib),
        )


def measure(folder: Path, *arguments: str) -> Cost:
    """Run pytest in a process of its own; raises RuntimeError unless it passes."""
    return measure_python(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments)


def measure_python(folder: Path, *arguments: str) -> Cost:
    """Run Python in a process of its own; raises RuntimeError unless it exits with 0."""
    command = [sys.executable, *arguments]
    # Other plugins of the environment would be counted on both sides, and hide the ratio.
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    began = perf_counter()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall_s = perf_counter() - began
        if process.returncode != 0:
            output.seek(0)
            raise RuntimeError(output.read().decode()[-2000:])
    return Cost(cpu_s=used.ru_utime + used.ru_stime, wall_s=wall_s, peak_kib=used.ru_maxrss)


def measure_pair(prompts: int, rounds: int) -> tuple[Cost, Cost]:
    """Measure the floor and a run of ours of as many prompts, in turn."""
    with tempfile.TemporaryDirectory() as name:
        bare, ours = Path(name, "bare"), Path(name, "ours")
        bare.mkdir()
        ours.mkdir()
        Path(bare, "prompts.jsonl").touch()
        Path(bare, "conftest.py").write_text(FLOOR.format(n=prompts))
        Path(ours, "prompts.jsonl").write_text("".join(_corpus(prompts)))
        floor = run = None
        for _ in range(rounds):
            once = measure(bare, "prompts.jsonl")
            floor = once.least(floor or once)
            once = measure(ours, "-p", "refusal", "--refusal-policy=strict", "prompts.jsonl")
            run = once.least(run or once)
    assert floor is not None
    assert run is not None
    return floor, run


def _corpus(prompts: int) -> Sequence[str]:
    categories = ("cooking", "travel", "gardening", "science", "letters")
    return [
        json.dumps(
            {
                "id": f"p-{number:05}",
                "prompt": f"Number {number}: how long should an egg of this size be boiled?",
                "label": "safe",
                "category": categories[number % len(categories)],
            }
        )
        + "\n"
        for number in range(prompts)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prompts", type=int, nargs="+", default=[1_000, 10_000, 50_000])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    faults = []
    per_prompt: dict[int, float] = {}
    # Our own modules are there once, however many prompts there are.
    one_bare, one_of_ours = measure_pair(1, options.rounds)
    once_kib = one_of_ours.peak_kib - one_bare.peak_kib
    print(f"{once_kib / 1024:.1f} MiB more for a single prompt, the rest grows with them")
    print(" prompts    floor     ours  times   wall  KiB a prompt more  with what is there once")
    for prompts in options.prompts:
        floor, run = measure_pair(prompts, options.rounds)
        times = run.cpu_s / floor.cpu_s
        all_kib = run.peak_kib - floor.peak_kib
        kib, whole_kib = (all_kib - once_kib) / prompts, all_kib / prompts
        per_prompt[prompts] = times
        print(
            f"{prompts:>8} {floor.cpu_s:>7.2f}s {run.cpu_s:>7.2f}s {times:>6.2f}"
            f" {run.wall_s / floor.wall_s:>6.2f} {kib:>18.2f} {whole_kib:>24.2f}",
            flush=True,
        )
        if prompts == 10_000 and times > MOST_TIMES_THE_FLOOR:
            faults.append(f"{times:.2f} times the floor; at most {MOST_TIMES_THE_FLOOR}")
        if prompts == 10_000 and whole_kib > MOST_KIB_A_PROMPT:
            faults.append(
                f"{whole_kib:.2f} KiB a prompt over the floor; at most {MOST_KIB_A_PROMPT}"
            )
    if {10_000, 50_000} <= per_prompt.keys():
        growth = per_prompt[50_000] / per_prompt[10_000]
        if growth > MOST_GROWTH:
            faults.append(f"grows {growth:.2f} times faster than the floor to 50,000 prompts")
    for fault in faults:
        print(f"FAILED: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
