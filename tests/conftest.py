"""What all tests share, such as a server that answers like a chat model and fails on request."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import struct
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from socket import SO_LINGER, SOL_SOCKET
from typing import Any

import pytest


def pytest_sessionstart(session: pytest.Session) -> None:
    """Give property tests their time: a busy machine is no fault of the code under test."""
    # The main job runs in this folder too, and needs nothing that only tests need.
    if session.config.pluginmanager.hasplugin("hypothesispytest"):
        from hypothesis import settings

        settings.register_profile("project", deadline=None)
        settings.load_profile("project")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    """Make what tests of hostile text print fit for xdist, which ends a worker over a surrogate."""
    report = yield
    report.sections = [
        (title, text.encode("utf-8", "backslashreplace").decode())
        for title, text in report.sections
    ]
    return report


@dataclass(kw_only=True)
class Serve:
    """What to do with one request. body: JSON, or text as it is."""

    status: int = 200
    body: object = None
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    reset: bool = False
    cut: bool = False


@dataclass
class ModelServer:
    """Serves what `script` says; it gets the body of a request and its number, from 0."""

    script: Callable[[Any, int], Serve] = lambda body, number: ModelServer.says("Hi.")
    requests: list[Any] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    most_at_once: int = 0
    most_of_model: Counter[str] = field(default_factory=Counter)
    url: str = ""
    _at_once: int = 0
    _of_model: Counter[str] = field(default_factory=Counter)

    @staticmethod
    def says(text: str, finish_reason: str = "stop", **how: Any) -> Serve:
        """Answer as a model does."""
        choice = {"message": {"content": text}, "finish_reason": finish_reason}
        usage = {"prompt_tokens": 10, "completion_tokens": 2}
        return Serve(body={"choices": [choice], "usage": usage}, **how)

    @staticmethod
    def fails(status: int = 200, body: object = None, **how: Any) -> Serve:
        """Fail in some way."""
        return Serve(status=status, body=body, **how)

    def texts(self) -> list[str]:
        """Return the last message of each request."""
        return [request["messages"][-1]["content"] for request in self.requests]

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.heads.append(head)
        length = int(head.lower().partition("content-length:")[2].partition("\r\n")[0])
        body = json.loads(await reader.readexactly(length))
        number = len(self.requests)
        self.requests.append(body)
        model = str(body.get("model"))
        self._at_once += 1
        self._of_model[model] += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        self.most_of_model[model] = max(self.most_of_model[model], self._of_model[model])
        try:
            serve = self.script(body, number)
            await asyncio.sleep(serve.delay_s)
        finally:
            self._at_once -= 1
            self._of_model[model] -= 1
        if serve.reset:
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(SOL_SOCKET, SO_LINGER, linger)
            return False
        text = serve.body if isinstance(serve.body, str) else json.dumps(serve.body)
        raw = text.encode()
        headers = {"Content-Length": str(len(raw)), **serve.headers}
        lines = [f"HTTP/1.1 {serve.status} X", *(f"{k}: {v}" for k, v in headers.items())]
        writer.write("\r\n".join([*lines, "", ""]).encode())
        writer.write(raw[: len(raw) // 2] if serve.cut else raw)
        await writer.drain()
        return not serve.cut


@pytest.fixture
def model_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    monkeypatch.setenv("NO_PROXY", "*")
    server = ModelServer()
    loop = asyncio.new_event_loop()
    started = threading.Event()

    listening: list[asyncio.Server] = []

    async def serve() -> None:
        listening.append(await asyncio.start_server(server.handle, "127.0.0.1", 0, backlog=512))
        server.url = f"http://127.0.0.1:{listening[0].sockets[0].getsockname()[1]}"
        started.set()

    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    asyncio.run_coroutine_threadsafe(serve(), loop)
    assert started.wait(5)
    yield server

    async def stop() -> None:
        listening[0].close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)  # for the transports to close

    asyncio.run_coroutine_threadsafe(stop(), loop).result(5)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(5)
    loop.close()


@pytest.fixture
def emulator(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """Start emulators of model servers that others wrote, and give the URL of each.

    Called with the command, the variable that says where it is if not on PATH, and arguments
    in which `{port}` is filled in.  Skips the test where the command is not installed.
    """
    monkeypatch.setenv("NO_PROXY", "*")
    with ExitStack() as running:

        def start(name: str, variable: str, *arguments: str) -> str:
            command = os.environ.get(variable) or shutil.which(name)
            if command is None:
                pytest.skip(f"{name} is not installed here ({variable} or PATH would say where)")
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port: int = free.getsockname()[1]
            process = running.enter_context(
                subprocess.Popen(
                    [command, *(one.format(port=port) for one in arguments)],
                    env={**os.environ, "HOST": "127.0.0.1", "PORT": str(port)},
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )
            running.callback(process.terminate)
            deadline = time.monotonic() + 30
            while time.monotonic() < deadline:
                with socket.socket() as attempt:
                    attempt.settimeout(1)
                    if attempt.connect_ex(("127.0.0.1", port)) == 0:
                        return f"http://127.0.0.1:{port}"
                time.sleep(0.05)
            pytest.fail(f"{name} does not listen")

        yield start
