"""How near asking ahead comes to what concurrency allows, in whole runs of pytest.

Run it as `python tests/benchmarks/bench_prefetch.py`, on a machine that does nothing else.  A
server in a process of its own answers after 0.1 s and tells when it was first asked and when
it last answered.

Floor: prompts x latency / concurrency.  Start-up: what the same run takes with one prompt for
each process, less the latency of that prompt: importing, collecting, shutting down, whatever
does not grow with the prompts.  Asking, from the first request to the last response, is held
against the floor alone, and has nothing of the start-up in it.

Judged: with a judge at the same server, that answers after as long and may be asked as many at
a time.  Its floor is that of the judge; what the first response takes comes before it.

Each figure is the best of several; runs with one prompt alternate with those they are held
against.  Modules are compiled before the first run that counts, as they are wherever pytest
runs a second time, and no plugin is loaded but ours and xdist.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

LATENCY_S = 0.1
PROMPTS = 500
REPEATS = 5

SERVER = """
import asyncio, json, sys, time
def says(text):
    choice = {"message": {"content": text}, "finish_reason": "stop"}
    return json.dumps({"choices": [choice]}).encode()

REPLY, VERDICT = says("Hi."), says('{"verdict": "answer"}')
seen = []

def answer(body):
    return b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body) + body

async def handle(reader, writer):
    try:
        while True:
            head = (await reader.readuntil(b"\\r\\n\\r\\n")).decode().lower()
            if head.startswith("get"):
                writer.write(answer(json.dumps([seen[0], seen[-1], len(seen) // 2]).encode()))
                seen.clear()
                continue
            length = int(head.partition("content-length:")[2].partition("\\r\\n")[0])
            asked = await reader.readexactly(length)
            seen.append(time.time())
            await asyncio.sleep(float(sys.argv[1]))
            seen.append(time.time())
            writer.write(answer(VERDICT if b"You label replies" in asked else REPLY))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()

async def main():
    server = await asyncio.start_server(handle, "127.0.0.1", int(sys.argv[2]), backlog=1024)
    print("listening", flush=True)
    await server.serve_forever()

asyncio.run(main())
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Seconds of a run. asking: from the first request to the last response."""

    wall: float
    start_up: float
    asking: float

    @property
    def grown(self) -> float:
        """What the prompts took."""
        return self.wall - self.start_up


@contextmanager
def serving() -> Iterator[str]:
    """Start the server and give its URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = [sys.executable, "-c", SERVER, str(LATENCY_S), str(port)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        server.stdout.readline()
        yield f"http://127.0.0.1:{port}"
        server.kill()


def run(
    url: str, concurrency: int, prompts: int, *arguments: str, judged: bool = False
) -> tuple[float, float]:
    """Run pytest over a corpus of so many prompts; the time of the whole, and of asking."""
    model = f'type = "openai"\nbase_url = "{url}"\nmodel = "m"\nconcurrency = {concurrency}\n'
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "prompts.toml").write_text(
            "".join(
                f'[[prompt]]\nid = "p-{n}"\nprompt = "Question {n}?"\nlabel = "safe"\n'
                'category = "everyday"\n'
                for n in range(prompts)
            )
        )
        Path(folder, "pyproject.toml").write_text(
            '[tool.pytest-refusal]\ncorpus = "prompts.toml"\n'
            f'classifier = "{"judge:jury" if judged else "phrases"}"\n'
            f"[tool.pytest-refusal.policies.staging]\n{model}"
            f"[tool.pytest-refusal.policies.jury]\n{model}"
        )
        command = [sys.executable, "-m", "pytest", "-q", "-p", "pytest_refusal.plugin"]
        began = time.perf_counter()
        subprocess.run(
            [*command, "--refusal-policy=staging", *arguments],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            check=True,
        )
        wall = time.perf_counter() - began
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url) as told:
        first, last, answered = json.load(told)
    assert answered == prompts * (1 + judged)
    return wall, last - first


def best(
    url: str,
    concurrency: int,
    prompts: int,
    *arguments: str,
    processes: int = 1,
    judged: bool = False,
) -> Times:
    """Return the quickest of several runs: all that differs is what else the machine does."""
    short, whole = [], []
    for _ in range(REPEATS):
        short.append(run(url, concurrency, processes, *arguments, judged=judged)[0])
        whole.append(run(url, concurrency, prompts, *arguments, judged=judged))
    wall, asking = map(min, zip(*whole, strict=True))
    return Times(wall=wall, start_up=min(short) - LATENCY_S * (1 + judged), asking=asking)


def main() -> None:
    """Print the ratio to the floor for each concurrency, and for two processes."""
    os.environ |= {"NO_PROXY": "*", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with serving() as url, tempfile.TemporaryDirectory() as compiled:
        os.environ["PYTHONPYCACHEPREFIX"] = compiled
        in_two = ("-p", "xdist.plugin", "-n", "2")
        run(url, 1, 2, *in_two)
        rows: dict[int, Times] = {}
        for concurrency in (1, 4, 16, 32, 64):
            prompts = PROMPTS if concurrency >= 16 else concurrency * 30
            floor = prompts * LATENCY_S / concurrency
            times = rows[concurrency] = best(url, concurrency, prompts)
            print(
                f"{prompts} prompts, {concurrency} at a time: asking took {times.asking:.2f} s,"
                f" {times.asking / floor:.2f} times the floor of {floor:.2f} s; the run took"
                f" {times.wall:.2f} s, {times.wall / (times.start_up + floor):.2f} times start-up"
                f" ({times.start_up:.2f} s) and floor",
                flush=True,
            )
        for concurrency in (1, 16):
            prompts = PROMPTS if concurrency >= 16 else 30
            floor = prompts * LATENCY_S / concurrency
            times = best(url, concurrency, prompts, judged=True)
            print(
                f"{prompts} prompts, judged, {concurrency} at a time of each: asking took"
                f" {times.asking:.2f} s, {times.asking / floor:.2f} times the floor of"
                f" {floor:.2f} s; one after the other would be {prompts * LATENCY_S:.2f} s more",
                flush=True,
            )
        one, two = rows[32], best(url, 16, PROMPTS, *in_two, processes=2)
        print(
            f"{PROMPTS} prompts, 16 at a time in each of 2 processes: asking took"
            f" {two.asking:.2f} s, {two.asking / one.asking:.2f} times one process with 32; the"
            f" run without start-up ({two.start_up:.2f} s) {two.grown:.2f} s,"
            f" {two.grown / one.grown:.2f} times"
        )


if __name__ == "__main__":
    main()
