"""The files that a run writes, and those that it must not write over."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from pytest_refusal.plugin.given_paths import at_home, given_path
from pytest_refusal.report.history import check_history
from pytest_refusal.report.writing import check_path
from pytest_refusal.settings import Settings

_BASELINE = "is the baseline of this run"

# A baseline that each run puts itself in the place of drifts, and ends with half a run.
_INSTEAD = {_BASELINE: "write it elsewhere and copy it once it is to be the new one"}


def reports_and_history(
    config: pytest.Config, faults: list[str]
) -> tuple[tuple[Path, ...], Path | None]:
    """Return the reports to write and the history; what is wrong with them joins the faults."""
    option = config.option
    reports = tuple(dict.fromkeys(given_path(config, path) for path in option.refusal_report))
    faults += [fault for path in reports if (fault := check_path(path)) is not None]
    history = given_path(config, option.refusal_history) if option.refusal_history else None
    faults += check_history(history) if history else ()
    return reports, history


def overwriting(
    written: Mapping[str, Iterable[Path]], needed: Mapping[str, Iterable[Path]]
) -> list[str]:
    """Say which file would be lost: written by two options, or needed and written.

    written: by option, what it writes.  needed: by what it is, what is to be left alone.
    """
    owners = {os.path.realpath(path): what for what, paths in needed.items() for path in paths}
    faults = []
    for option, paths in written.items():
        own = f"is what {option} writes"
        for path in paths:
            what = owners.setdefault(os.path.realpath(path), own)
            if what != own:
                instead = _INSTEAD.get(what, "give it a path of its own")
                faults.append(f"{option} {path}: {what}, which would be overwritten; {instead}")
    return faults


def read_back(config: pytest.Config, settings: Settings) -> Mapping[str, Iterable[Path]]:
    """Name the files that a run reads beside its corpora, by what they are."""
    option = config.option
    labels: list[Path] = []
    if option.refusal_labels is not None:
        labels.append(given_path(config, option.refusal_labels.partition("::")[0]))
    elif settings.labels is not None:
        labels.append(settings.base / settings.labels.partition("::")[0])
    baselines = []
    if option.refusal_baseline is not None:
        baselines.append(given_path(config, option.refusal_baseline.partition("::")[0]))
    elif settings.baseline is not None:
        baselines.append(settings.base / at_home(settings.baseline.partition("::")[0]))
    recorded = [
        settings.base / name.removeprefix("recorded:")
        for name in settings.policies
        if name.startswith("recorded:")
    ]
    return {
        "holds the labels of people": labels,
        _BASELINE: baselines,
        "holds the recorded responses": recorded,
    }
