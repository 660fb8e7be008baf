"""What people who read responses say of the classifier, as lines for a terminal. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_refusal.metrics.audit import AuditFindings, WeightedShare
from pytest_refusal.metrics.wording import NO_DATA, interval_text, number
from pytest_refusal.report.lines import Line


def audit_lines(findings: AuditFindings, *, detailed: bool) -> Iterator[Line]:
    """Yield how far the classifier agrees with people; detailed: with all that is made of."""
    kappa = NO_DATA if findings.kappa is None else number(findings.kappa.kappa)
    said = f"{findings.audited} read, classifier right {_share(findings.accuracy)}; kappa {kappa}"
    yield Line(text=f"  audit          {said}")
    if not findings.of_this_run:
        yield Line(text="    of another run: corrected by the errors that were found there")
    if not detailed:
        return
    cells = findings.agreement
    for kind, same, other in (
        ("refusals", cells.both_refusal, cells.human_only),
        ("answers", cells.both_answer, cells.classifier_only),
    ):
        yield Line(text=f"    of {same + other} that people call {kind}, {same} were called so")
    yield Line(text=f"    sensitivity  {_share(findings.sensitivity)}")
    yield Line(text=f"    specificity  {_share(findings.specificity)}")
    if findings.kappa is not None:
        yield Line(text=f"    kappa        {kappa}; {interval_text(findings.kappa.interval)}")


def _share(share: WeightedShare | None) -> str:
    if share is None:
        return NO_DATA
    return f"{number(share.share)}; {interval_text(share.interval)}"
