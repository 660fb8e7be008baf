"""Whether collection and the run grow with the corpus and no faster.

Run as `python tests/benchmarks/bench_scale.py`.  Processor time, less that of a session with ten
prompts; the ratio is the cost of a prompt over that among the fewest.  For loading alone there is
`bench_corpus.py`, for what the floor of pytest is, `bench_cost.py`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from bench_cost import measure

OWN_TEST = "def test_own(refusal_case):\n    assert refusal_case.response.text\n"
POLICY = "--refusal-policy=always-answer"
WAYS = {
    "collect items": ("prompts.jsonl", "--collect-only"),
    "run items": ("prompts.jsonl",),
    "collect own tests": ("test_own.py", "--collect-only"),
    "run own tests": ("test_own.py",),
}
FEWEST = 10
#: How much more a prompt may cost among many than among few.
MOST_GROWTH = 1.5


def written(folder: Path, size: int) -> None:
    rows = (
        {"id": f"p-{n}", "prompt": f"How does thing {n} work?", "label": "safe", "category": "c"}
        for n in range(size)
    )
    (folder / "prompts.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (folder / "test_own.py").write_text(OWN_TEST)
    (folder / "pyproject.toml").write_text('[tool.pytest-refusal]\ncorpus = "prompts.jsonl"\n')


def measured(way: str, size: int) -> tuple[float, int]:
    """Return the processor time in seconds and the peak in KiB of a session."""
    with tempfile.TemporaryDirectory() as name:
        written(Path(name), size)
        cost = measure(Path(name), "-p", "refusal", "-qq", POLICY, *WAYS[way])
    return cost.cpu_s, cost.peak_kib


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prompts", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    options = parser.parse_args()
    faults = []
    print("              way  prompts  seconds  ms/prompt  ratio  KiB/prompt")
    for way in options.ways:
        start_s, start_kib = measured(way, FEWEST)
        first = None
        for size in options.prompts:
            seconds, kib = measured(way, size)
            each = (seconds - start_s) / (size - FEWEST)
            first = first or each
            print(
                f"{way:>17} {size:>8} {seconds:>8.2f} {each * 1000:>10.3f} {each / first:>6.2f}"
                f" {(kib - start_kib) / size:>11.2f}",
                flush=True,
            )
            if each / first > MOST_GROWTH:
                faults.append(f"{way}: a prompt costs {each / first:.2f} times as much of {size}")
    for fault in faults:
        print(f"FAILED: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
