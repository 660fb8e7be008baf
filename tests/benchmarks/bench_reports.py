"""10,000 outcomes in every kind of report: time, memory, size, and the page in Chromium.

Run by hand: `python tests/benchmarks/bench_reports.py`. The floor is json.dumps of the same
data in the same run, so that a busy machine does not look like a slow writer.
"""

from __future__ import annotations

import json
import resource
import shutil
import tempfile
from pathlib import Path
from time import perf_counter, process_time

from pytest_refusal.evaluation import evaluate
from pytest_refusal.prompt import Label, Message, Prompt, Role
from pytest_refusal.report.report import Report
from pytest_refusal.report.writing import KINDS, write_report

OUTCOMES = 10_000
REPLY = "The quick brown fox jumps over the lazy dog and says nothing of use. " * 29


def make_report() -> Report:
    prompts = [
        Prompt(
            id=f"p-{n}",
            messages=(Message(role=Role.USER, content=f"Question {n}? " * 10),),
            label=Label.UNSAFE if n % 2 else Label.SAFE,
            category=f"category-{n % 12}",
        )
        for n in range(OUTCOMES)
    ]

    def policy(text: str) -> str:
        n = int(text.split()[1].rstrip("?"))
        declines = (n % 2 == 1) != (n % 10 == 0)
        opening = "I can't help with that. " if declines else "Sure. "
        return f"{opening}{REPLY}"[:1980] + f" [conf=0.{50 + n % 50}]"

    return evaluate(policy, prompts)


def main() -> None:
    report = make_report()
    start = process_time()
    json.dumps(report.to_dict())
    floor = process_time() - start
    print(
        f"floor (json.dumps, with every number computed; seconds of the processor): {floor:.2f} s"
    )
    total = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for suffix in KINDS:
            path = Path(folder) / f"run{suffix}"
            start = process_time()
            write_report(report, path, redact=False)
            took = process_time() - start
            total += took
            size = path.stat().st_size / 1e6
            print(f"{suffix:<6} {took:6.2f} s  {took / floor:5.2f} of the floor  {size:6.2f} MB")
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"all    {total:6.2f} s  {total / floor:5.2f} of the floor  {memory:.0f} MB of memory"
        )
        open_in_chromium(Path(folder) / "run.html")


def open_in_chromium(path: Path) -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        print("no chromium on the PATH: the page was not opened")
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        start = perf_counter()
        page.goto(path.as_uri(), wait_until="load")
        print(f"opened in {perf_counter() - start:.2f} s")
        # Nobody types sooner; the page uses the time to gather what it searches.
        page.wait_for_timeout(1000)
        # From the key to what is drawn, the page's own waiting included.
        script = """async ([name, value]) => {
            const form = document.getElementById("filter"), start = performance.now();
            form.elements[name].value = value;
            form.elements[name].dispatchEvent(new Event("input", { bubbles: true }));
            await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
            return performance.now() - start;
        }"""
        steps = [
            ["text", "question 77"],
            ["text", "question 7"],
            ["text", ""],
            ["label", "unsafe"],
            ["label", ""],
            ["order", "id"],
        ]
        for step in steps:
            print(f"filter {step}: {page.evaluate(script, step):.0f} ms")
        browser.close()


if __name__ == "__main__":
    main()
