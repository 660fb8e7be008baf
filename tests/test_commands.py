"""The commands of the package end quietly when nobody reads on."""

from __future__ import annotations

import subprocess
import sys

import pytest

COMMANDS = [
    ["pytest_refusal.corpus", "check", "taxonomy", "lookalikes", "contrast"],
    ["pytest_refusal.power", "--rate", "0.05", "--detect", "0.03"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_closed_pipe_is_no_error(command: list[str]) -> None:
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 128 + 13
