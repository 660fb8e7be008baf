"""The running rates below the progress, on a terminal."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

pty = pytest.importorskip("pty", reason="this system has no pseudo-terminals")

SLOW = """
    import time

    def slow(text):
        time.sleep(0.4)
        return "Sure. [conf=0.9]"
"""
DRAWN = re.compile(rb"\x1b\[Krefusal: \d of 4 \| bot:slow: under \d/\d, over \d/\d\x1b\[1A")


def on_a_terminal(project, *args):
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "pytest", "-p", "no:hypothesispytest", "prompts.toml", *args]
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "PYTHONPATH": str(project.path)}
    with subprocess.Popen(
        command, cwd=project.path, env=env, stdin=theirs, stdout=theirs, stderr=theirs
    ):
        os.close(theirs)
        written = b""
        # Linux tells the end of a terminal by an error.
        while chunk := _read(ours):
            written += chunk
    os.close(ours)
    return written


def _read(handle):
    try:
        return os.read(handle, 4096)
    except OSError:
        return b""


def test_it_is_drawn_while_the_run_goes_on_and_taken_away(project):
    project.write_file("bot.py", SLOW)
    written = on_a_terminal(project, "--refusal-policy=bot:slow")
    assert DRAWN.search(written)
    after = written[written.rindex(b"\x1b[1A") :]
    assert not DRAWN.search(after)
    assert b"\x1b[K\n\x1b[K\x1b[1A" in written.replace(b"\r\n", b"\n")  # an empty line at last


@pytest.mark.parametrize("option", ["-v", "-s"])
def test_it_is_off_where_the_output_is_read_otherwise(project, option):
    project.write_file("bot.py", SLOW)
    assert b"\x1b[1A" not in on_a_terminal(project, "--refusal-policy=bot:slow", option)
