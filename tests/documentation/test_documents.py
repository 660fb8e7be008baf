"""README and docs are true: their commands and snippets run and print what they say.

A fenced block whose first line is a comment with a file name is that file. A `console` block
holds commands behind `$ `, each with lines that it prints, in that order. A `text` block
under a command that sets up an environment is what the demonstration prints.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_refusal.settings import read_settings

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# ([\w./-]+\.\w+)\n")


@dataclass(frozen=True)
class Block:
    """A fenced block of a document."""

    kind: str
    text: str
    line: int

    @property
    def file(self) -> str | None:
        match = _FILE.match(self.text)
        return match[1] if match else None


def blocks(document: Path) -> list[Block]:
    text = document.read_text(encoding="utf-8")
    return [Block(m[1], m[2], text.count("\n", 0, m.start()) + 1) for m in _FENCE.finditer(text)]


def run(command: str, folder: Path) -> str:
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for name in ("PYTEST_ADDOPTS", "COLUMNS"):
        env.pop(name, None)
    done = subprocess.run(
        command, cwd=folder, env=env, shell=True, capture_output=True, text=True, check=False
    )
    assert "INTERNALERROR" not in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_document(document: Path, tmp_path: Path) -> None:
    names: dict[str, object] = {"__name__": "document"}
    here = Path.cwd()
    os.chdir(tmp_path)
    try:
        for block in blocks(document):
            where = f"{document.name}:{block.line}"
            if block.file is not None:
                path = tmp_path / block.file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text, encoding="utf-8")
            elif block.kind == "python":
                code = compile("\n" * block.line + block.text, str(document), "exec")
                exec(code, names)  # the snippets of our own documents
            if block.kind == "toml":
                check_table(block.text, where)
            if block.kind == "console" and ".venv" not in block.text:
                check_commands(block.text, where, tmp_path)
    finally:
        os.chdir(here)


def check_table(text: str, where: str) -> None:
    table = tomllib.loads(text).get("tool", {}).get("pytest-refusal")
    if table is not None:
        assert read_settings(table, base=Path.cwd()), where


def check_commands(text: str, where: str, folder: Path) -> None:
    for chunk in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, *expected = chunk.splitlines()
        printed = run(command, folder).splitlines()
        rest = iter(printed)
        for line in filter(None, expected):
            assert line in rest, f"{where}: {command!r} does not print {line!r}:\n" + "\n".join(
                printed
            )


def test_readme_shows_what_the_demonstration_prints() -> None:
    readme = blocks(ROOT / "README.md")
    demonstration = next(b for b in readme if b.kind == "console")
    shown = next(b for b in readme if b.kind == "text").text.splitlines()
    command = shlex.split(demonstration.text.partition("&& .venv/bin/")[2].rpartition("&& ")[2])
    printed = run(shlex.join([*command[:-1], command[-1]]).replace(".venv/bin/", ""), ROOT)
    lines = iter(printed.splitlines())
    assert [line for line in shown if line in lines] == shown
