"""Where the numbers of a report come from: the command and the configuration, no secret."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

from pytest_refusal.escape import one_line
from pytest_refusal.plugin.run import Run

_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def command(config: pytest.Config, run: Run) -> str:
    """Return a command that asks the same again.

    Made from what was understood, not from what was typed: options of other plugins may
    hold what no report should.
    """
    option = config.option
    words = ["pytest"]
    if not run.as_items:
        words += config.args
    for part in run.parts if run.as_items else ():
        names = sorted(part.names) if part.names is not None else None
        words += [part.node_id] if names is None else [f"{part.node_id}::{n}" for n in names]
    words.append(f"--refusal-policy={','.join(run.policies)}")
    words += [f"--refusal-ceiling={ceiling}" for ceiling in option.refusal_ceiling]
    words += ["--refusal-gate-partial"] * run.gate_partial
    if option.refusal_samples is not None:
        words.append(f"--refusal-samples={option.refusal_samples}")
    if option.refusal_record is not None:
        words.append(f"--refusal-record={option.refusal_record}")
        words.append(f"--refusal-record-mode={run.asking.options.mode.value}")
    words += ["-k", option.keyword] if option.keyword else []
    words += ["-m", option.markexpr] if option.markexpr else []
    return " ".join(shlex.quote(one_line(word)) for word in words)


def configuration(config: pytest.Config, run: Run) -> dict[str, str]:
    """Return what decides the numbers beside the corpora and the policies."""
    settings = run.settings
    source = settings.source
    if source is not None and source.is_relative_to(config.rootpath):
        source = source.relative_to(config.rootpath)
    return {
        "file": "none" if source is None else one_line(source.as_posix()),
        "classifier": one_line(settings.classifier),
        "samples": str(settings.samples),
        "ece_bins": str(settings.ece_bins),
        "seed": str(settings.seed),
        "within_ceilings": settings.within_ceilings.value,
    }


def commit(config: pytest.Config) -> str:
    """Return the commit of the project, in hexadecimal; "" where it cannot be told.

    Read from what CI servers say, else from the folder of git; git itself is not run.
    """
    for variable in ("GITHUB_SHA", "CI_COMMIT_SHA", "GIT_COMMIT"):
        if _HASH.fullmatch(found := os.environ.get(variable, "")):
            return found
    for folder in (config.rootpath, *config.rootpath.parents):
        if (folder / ".git").exists():
            return _head(folder / ".git")
    return ""


def _head(git: Path) -> str:
    try:
        if git.is_file():
            # A further worktree: its own head, and the references of the first.
            git = git.parent / git.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
        head = (git / "HEAD").read_text(encoding="utf-8").strip()
        if not head.startswith("ref:"):
            return head if _HASH.fullmatch(head) else ""
        name = head.removeprefix("ref:").strip()
        common = git / "commondir"
        if common.exists():
            git = git / common.read_text(encoding="utf-8").strip()
        if (git / name).exists():
            found = (git / name).read_text(encoding="utf-8").strip()
            return found if _HASH.fullmatch(found) else ""
        for line in (git / "packed-refs").read_text(encoding="utf-8").splitlines():
            found, _, packed = line.partition(" ")
            if packed == name and _HASH.fullmatch(found):
                return found
    except (OSError, UnicodeDecodeError):
        pass
    return ""
