"""What it costs to load a corpus, against a floor measured beside it.

Run as `python tests/benchmarks/bench_corpus.py`.  The floor reads the same rows by the library
that the format needs, and keeps them.  Each figure comes from a process of its own, in
processor time; memory is what the process has over its beginning.  Fails where a prompt costs
more among many than among few, or where 100,000 take more memory than they may.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

#: How much more a prompt may cost among many than among few.
MOST_GROWTH = 1.5
#: Of 100,000 prompts, in MiB.  What TOML, YAML and Parquet need beside is the library's.
MOST_MEMORY = 150

MEASURE = """
import csv, json, re, sys, time
from pathlib import Path
from pytest_refusal.corpus.loading import load_corpus

def floor(path):
    ending = Path(path).suffix
    if ending == ".parquet":
        from pyarrow import parquet
        return parquet.read_table(path).to_pylist()
    with open(path, encoding="utf-8", newline="") as lines:
        if ending == ".csv":
            return list(csv.reader(lines))
        if ending == ".jsonl":
            return list(map(json.loads, lines))
        if ending == ".json":
            return json.load(lines)
        if ending == ".toml":
            import tomllib
            return tomllib.loads(lines.read())
        import yaml
        return sum(1 for _ in yaml.parse(lines.read(), Loader=yaml.CSafeLoader))

def peak_kib():
    # Not getrusage: that remembers the process that started this one.
    status = Path("/proc/self/status").read_text()
    return int(re.search("VmHWM:\\\\s+([0-9]+)", status)[1])

path, how = sys.argv[1:]
before = peak_kib()
start = time.process_time()
kept = floor(path) if how == "floor" else load_corpus(path)
seconds = time.process_time() - start
print(json.dumps([seconds, peak_kib() - before]))
"""

Rows = list[dict[str, object]]


def rows(size: int) -> Rows:
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


def write_jsonl(path: Path, written: Rows) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in written), "utf-8")


def write_json(path: Path, written: Rows) -> None:
    path.write_text(json.dumps(written, indent=1), "utf-8")


def write_csv(path: Path, written: Rows) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(written[0]))
        writer.writeheader()
        writer.writerows(written)


def write_toml(path: Path, written: Rows) -> None:
    def table(row: dict[str, object]) -> str:
        return "".join(f"{name} = {json.dumps(value)}\n" for name, value in row.items())

    path.write_text("\n".join(f"[[prompt]]\n{table(row)}" for row in written), "utf-8")


def write_yaml(path: Path, written: Rows) -> None:
    def item(row: dict[str, object]) -> str:
        return "\n  ".join(f"{name}: {json.dumps(value)}" for name, value in row.items())

    path.write_text("".join(f"- {item(row)}\n" for row in written), "utf-8")


def write_parquet(path: Path, written: Rows) -> None:
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.Table.from_pylist(written), path)


def without_ids(write: Callable[[Path, Rows], None]) -> Callable[[Path, Rows], None]:
    """An id is then made from the text."""

    def written(path: Path, all_rows: Rows) -> None:
        write(path, [{name: row[name] for name in row if name != "id"} for row in all_rows])

    return written


#: What is written by hand is not meant for so many, but still grows with them and no faster.
WAYS: dict[str, Callable[[Path, Rows], None]] = {
    "prompts.jsonl": write_jsonl,
    "no-ids.jsonl": without_ids(write_jsonl),
    "prompts.csv": write_csv,
    "no-ids.csv": without_ids(write_csv),
    "prompts.json": write_json,
    **({"prompts.parquet": write_parquet} if find_spec("pyarrow") else {}),
    "prompts.toml": write_toml,
    **({"prompts.yaml": write_yaml} if find_spec("yaml") else {}),
}


def measured(path: Path, how: str) -> tuple[float, int]:
    """Return the best of three processes: seconds, and KiB over what the process began with."""
    figures = []
    for _ in range(3):
        command = [sys.executable, "-c", MEASURE, str(path), how]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        figures.append(json.loads(done.stdout))
    return min(seconds for seconds, _ in figures), min(kibibytes for _, kibibytes in figures)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prompts", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    options = parser.parse_args()
    faults = []
    print("           file  prompts  seconds  floor  ratio  us/prompt  growth  MiB  MiB floor")
    with tempfile.TemporaryDirectory() as folder:
        for way in options.ways:
            first = None
            for size in options.prompts:
                path = Path(folder, way)
                WAYS[way](path, rows(size))
                floor_s, floor_kib = measured(path, "floor")
                seconds, kibibytes = measured(path, "ours")
                each = seconds / size * 1e6
                first = first or each
                print(
                    f"{way:>15} {size:>8} {seconds:>8.2f} {floor_s:>6.2f} {seconds / floor_s:>6.1f}"
                    f" {each:>10.1f} {each / first:>7.2f} {kibibytes / 1024:>4.0f}"
                    f" {floor_kib / 1024:>10.0f}",
                    flush=True,
                )
                if each / first > MOST_GROWTH:
                    faults.append(f"{way}: a prompt costs {each / first:.2f} times as much")
                if kibibytes / 1024 > MOST_MEMORY * max(size / 100_000, 1) + floor_kib / 1024:
                    faults.append(f"{way}: {size} prompts take {kibibytes / 1024:.0f} MiB")
    for fault in faults:
        print(f"FAILED: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
