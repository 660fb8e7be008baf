"""How near asking ahead comes to what concurrency allows.

Run it as `python tests/benchmarks/bench_prefetch.py`.  A server in a process of its own answers
after 0.1 s.  Floor: prompts x latency / concurrency.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from pytest_refusal.execution.loop import BackgroundLoop
from pytest_refusal.execution.prefetch import Prefetch, Question
from pytest_refusal.execution.retry import RetryingPolicy
from pytest_refusal.policy.build import build_remote
from pytest_refusal.policy.tables import parse_policy_table
from pytest_refusal.prompt import Label, Message, Prompt, Role

LATENCY_S = 0.1
PROMPTS = 500

SERVER = """
import asyncio, json, sys
BODY = json.dumps({"choices": [{"message": {"content": "Hi."}, "finish_reason": "stop"}]}).encode()
HEAD = b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(BODY)
async def handle(reader, writer):
    try:
        while True:
            head = (await reader.readuntil(b"\\r\\n\\r\\n")).decode().lower()
            length = int(head.partition("content-length:")[2].partition("\\r\\n")[0])
            await reader.readexactly(length)
            await asyncio.sleep(float(sys.argv[1]))
            writer.write(HEAD + BODY)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()
async def main():
    server = await asyncio.start_server(handle, "127.0.0.1", int(sys.argv[2]), backlog=1024)
    print("listening", flush=True)
    await server.serve_forever()
asyncio.run(main())
"""


def measure(url: str, concurrency: int, count: int) -> float:
    """Return the seconds from the first request to the last response, connections open."""
    table = {"type": "openai", "base_url": url, "model": "m", "concurrency": concurrency}
    parsed, _ = parse_policy_table("bench", table, where="bench")
    assert parsed is not None
    policy = RetryingPolicy(
        build_remote(parsed, base=Path(), environ={}), concurrency=concurrency, timeout_s=60
    )
    questions = [
        Question(
            policy=policy,
            prompt=Prompt(
                id=str(number),
                label=Label.SAFE,
                messages=(Message(role=Role.USER, content=f"prompt {number}"),),
            ),
        )
        for number in range(count + 1)
    ]
    with BackgroundLoop() as loop:
        prefetch = Prefetch(loop)
        prefetch.fetch(questions[-1])  # start-up: the client library, the first connection
        started = time.perf_counter()
        for number, question in enumerate(questions[:-1]):
            prefetch.fetch(question, questions[number + 1 : -1])
        return time.perf_counter() - started


def main() -> None:
    """Print the ratio to the floor for each concurrency."""
    os.environ["NO_PROXY"] = "*"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = [sys.executable, "-c", SERVER, str(LATENCY_S), str(port)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        server.stdout.readline()
        for concurrency in (1, 4, 16, 32, 64):
            count = PROMPTS if concurrency >= 16 else concurrency * 30
            floor = count * LATENCY_S / concurrency
            took = measure(f"http://127.0.0.1:{port}", concurrency, count)
            print(
                f"{count} prompts, {concurrency} at a time: {took:.2f} s,"
                f" {took / floor:.2f} times the floor of {floor:.2f} s"
            )
        server.kill()


if __name__ == "__main__":
    main()
