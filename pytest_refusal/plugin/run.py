"""One active run: what was configured, what is to be asked, and by which means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_refusal.corpus.reading import FileReading
from pytest_refusal.corpus.sources import CorpusFile
from pytest_refusal.metrics.audit import HumanLabel
from pytest_refusal.outcome import Trial
from pytest_refusal.plugin.asking import Asking
from pytest_refusal.plugin.audit import AuditRequest
from pytest_refusal.plugin.sharing import SharedOutcomes
from pytest_refusal.prompt import Prompt
from pytest_refusal.protocols import Classifier, Policy
from pytest_refusal.report.baseline import Baseline
from pytest_refusal.settings import Settings

RUN = pytest.StashKey["Run"]()


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusPart:
    """A corpus of the run as far as the arguments select it.

    node_id: of the file, without prompts.  names: the items named by arguments, with or
    without their policy in brackets; None for all of them.
    """

    file: CorpusFile
    node_id: str
    trials: Mapping[str, Trial]
    names: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one session is to do.

    trials: every trial of the corpora of the run by node id, in order, selected or not.
    as_items: whether the corpora are test items; else only people's own tests ask.
    narrowed: whether the arguments select tests in a way that leaves no trace later.
    shared: what was asked already, if several tests ask the same.
    dry: no policy is asked (`--collect-only`, `--setup-plan`, `--setup-only`).
    gate_partial: whether to rule also when only a part was selected.
    must_evaluate: whether a session that asks nothing is a mistake.
    """

    settings: Settings
    parts: tuple[CorpusPart, ...]
    prompts: tuple[Prompt, ...]
    readings: tuple[FileReading, ...]
    trials: Mapping[str, Trial]
    as_items: bool
    narrowed: bool
    shared: SharedOutcomes
    policies: Mapping[str, Policy]
    classifiers: Mapping[str, Classifier]
    baselines: Mapping[str, Baseline]
    labels: Mapping[str, tuple[HumanLabel, ...]]
    asking: Asking
    report_paths: tuple[Path, ...]
    audit: AuditRequest | None
    dry: bool
    history_path: Path | None
    redact: bool
    gate_partial: bool
    must_evaluate: bool
    notes: tuple[str, ...] = ()

    @property
    def must_ask_tests(self) -> bool:
        """Whether it is a mistake if people's own tests ask nothing."""
        return self.must_evaluate and not self.as_items


def is_worker(config: pytest.Config) -> bool:
    """Whether this process only runs items for a controller."""
    return hasattr(config, "workerinput")
