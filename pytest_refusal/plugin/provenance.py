"""Where the numbers of a report come from: the command and the configuration, no secret."""

from __future__ import annotations

import shlex

import pytest

from pytest_refusal.escape import one_line
from pytest_refusal.plugin.run import Run


def command(config: pytest.Config, run: Run) -> str:
    """Return a command that asks the same again.

    Made from what was understood, not from what was typed: options of other plugins may
    hold what no report should.
    """
    option = config.option
    words = ["pytest"]
    for part in run.parts:
        names = sorted(part.names) if part.names is not None else None
        words += [part.node_id] if names is None else [f"{part.node_id}::{n}" for n in names]
    words.append(f"--refusal-policy={','.join(run.policies)}")
    words += [f"--refusal-ceiling={ceiling}" for ceiling in option.refusal_ceiling]
    words += ["--refusal-gate-partial"] * run.gate_partial
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
        "within_ceilings": settings.within_ceilings.value,
    }
