"""Where reports go, and that none of them takes the place of what the run reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from pytest_refusal.report.writing import check_path

_OTHERWISE = "give the report a path of its own"


def requested_reports(config: pytest.Config, faults: list[str]) -> tuple[Path, ...]:
    """Return where `--refusal-report` wants reports; what is wrong with it joins the faults."""
    folder, option = config.invocation_params.dir, config.option
    reports = tuple(folder / path for path in option.refusal_report)
    faults += [fault for path in reports if (fault := check_path(path)) is not None]
    if option.refusal_baseline is not None:
        baseline = folder / option.refusal_baseline.partition("::")[0]
        # A baseline that each run puts itself in the place of drifts, and ends with half a run.
        what = "is the baseline of this run"
        faults += _overwriting(
            reports, [baseline], what, "write it elsewhere and copy it once it is to be the new one"
        )
    if option.refusal_labels is not None:
        labels = folder / option.refusal_labels.partition("::")[0]
        faults += _overwriting(reports, [labels], "holds the labels of people", _OTHERWISE)
    return reports


def corpora_overwritten(reports: Sequence[Path], corpora: Iterable[Path]) -> list[str]:
    """Say which reports would overwrite a corpus."""
    return _overwriting(reports, corpora, "is a corpus of this run", _OTHERWISE)


def _overwriting(
    reports: Sequence[Path], read: Iterable[Path], what: str, instead: str
) -> list[str]:
    places = {path.resolve() for path in read} if reports else set()
    return [
        f"--refusal-report {path}: {what}, which would be overwritten; {instead}"
        for path in reports
        if path.resolve() in places
    ]
