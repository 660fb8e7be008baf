"""The human audit as far as options ask for it: the file to write, and labels given back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_refusal.errors import SettingsError
from pytest_refusal.metrics.audit import HumanLabel
from pytest_refusal.plugin.given_paths import at_home, given_path
from pytest_refusal.plugin.standing import Standing
from pytest_refusal.report.human_audit import read_labels, why_not_writable, write_audit
from pytest_refusal.report.report import Report
from pytest_refusal.report.writing import check_path
from pytest_refusal.reporting import labels_of
from pytest_refusal.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRequest:
    """A file of responses for people to read.

    path: where it is to be.  typed: the path as it was given.  size: responses of each policy.
    """

    path: Path
    typed: str
    size: int


def requested_audit(config: pytest.Config, faults: list[str]) -> AuditRequest | None:
    """Return what `--refusal-audit` asks for; what is wrong with it joins the faults."""
    option = config.option
    typed: str | None = option.refusal_audit
    if typed is None:
        return None
    path, name = given_path(config, typed), "--refusal-audit"
    if path.suffix.lower() != ".csv":
        faults.append(f"{name} {typed}: must end in .csv")
    elif (fault := check_path(path, option=name) or why_not_writable(path, typed)) is not None:
        faults.append(fault)
    if option.refusal_redact:
        faults.append(
            f"{name}: people have to read what the policies said, which --refusal-redact"
            " leaves out; take one of them away"
        )
    if option.refusal_audit_size < 1:
        faults.append(f"--refusal-audit-size: must be at least 1, not {option.refusal_audit_size}")
    return AuditRequest(path=path, typed=typed, size=option.refusal_audit_size)


def labels_given(config: pytest.Config, settings: Settings) -> Mapping[str, tuple[HumanLabel, ...]]:
    """Return the labels of people by policy; the option stands above the table.

    Raises SettingsError with every fault of the file.
    """
    typed: str | None = config.option.refusal_labels
    if typed is None:
        return labels_of(settings, settings.policies)
    folder = config.invocation_params.dir
    found = read_labels(at_home(typed), settings.policies, folder=folder)
    if not found:
        raise SettingsError(
            [
                f"--refusal-labels {typed}: has no label for a policy of this run"
                f" ({', '.join(settings.policies)}); fill in the column `human`, or take those"
                " of another policy with PATH::POLICY"
            ]
        )
    return found


def write_requested(request: AuditRequest, report: Report, standing: Standing) -> str:
    """Write the file, unless only a part was asked; return what to tell people.

    Raises OSError where it cannot be written.
    """
    if standing.why_not_ruled is not None or not standing.complete:
        why = standing.why_not_ruled or "not every planned prompt came to its end"
        return f"audit: not written: {why}"
    if not any(policy.evaluated for policy in report.policies):
        return "audit: not written: no response was judged"
    count = write_audit(report.policies, request.path, request.size)
    responses = "1 response" if count == 1 else f"{count} responses"
    return f"audit: {responses} to read in {request.typed}; then give it to --refusal-labels"
