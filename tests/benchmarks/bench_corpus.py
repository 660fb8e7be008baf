"""What it costs to load a corpus, against a floor measured beside it.

Run as `python tests/benchmarks/bench_corpus.py`.  The floor reads the same rows by the standard
library alone and keeps their fields.  Each figure comes from a process of its own.
"""

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

SIZES = (1_000, 10_000, 100_000)

MEASURE = """
import csv, json, re, sys, time
from pathlib import Path
from pytest_refusal.corpus.loading import load_corpus

def floor(path):
    with open(path, encoding="utf-8", newline="") as lines:
        return list(csv.reader(lines) if path.endswith("csv") else map(json.loads, lines))

def peak_kib():
    # Not getrusage: that remembers the process that started this one.
    status = Path("/proc/self/status").read_text()
    return int(re.search("VmHWM:\\s+([0-9]+)", status)[1])

path, how = sys.argv[1:]
before = peak_kib()
start = time.process_time()
kept = floor(path) if how == "floor" else load_corpus(path)
seconds = time.process_time() - start
print(json.dumps([seconds, peak_kib() - before]))
"""


def main() -> None:
    print("            file  seconds    floor  ratio  us/prompt  KiB/prompt")
    with tempfile.TemporaryDirectory() as folder:
        for size in SIZES:
            for path in (written_jsonl(Path(folder), size), written_csv(Path(folder), size)):
                floor_s, _ = measured(path, "floor")
                seconds, kibibytes = measured(path, "ours")
                per_prompt = f"{seconds / size * 1e6:10.1f} {kibibytes / size:11.2f}"
                ratio = f"{seconds / floor_s:6.1f}"
                print(f"{path.name:>16} {seconds:8.2f} {floor_s:8.2f} {ratio} {per_prompt}")


def rows(size: int) -> list[dict[str, object]]:
    return [
        {
            "id": f"p-{n}",
            "prompt": f"How do I do thing number {n} in a rather ordinary way, please?",
            "label": ("safe", "unsafe")[n % 2],
            "category": f"category-{n % 7}",
            "severity": n % 5 + 1,
        }
        for n in range(size)
    ]


def written_jsonl(folder: Path, size: int) -> Path:
    path = folder / f"{size}.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows(size)), "utf-8")
    return path


def written_csv(folder: Path, size: int) -> Path:
    path = folder / f"{size}.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, ["id", "prompt", "label", "category", "severity"])
        writer.writeheader()
        writer.writerows(rows(size))
    return path


def measured(path: Path, how: str) -> tuple[float, int]:
    """Return the best of three processes: seconds, and KiB over what the process began with."""
    figures = []
    for _ in range(3):
        command = [sys.executable, "-c", MEASURE, str(path), how]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        figures.append(json.loads(done.stdout))
    return min(seconds for seconds, _ in figures), min(kibibytes for _, kibibytes in figures)


if __name__ == "__main__":
    main()
