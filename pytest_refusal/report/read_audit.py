"""Audit findings of a JSON report back to the values that they were written from."""

from __future__ import annotations

from pytest_refusal.metrics.agreement import Agreement, Kappa
from pytest_refusal.metrics.audit import AuditFindings, WeightedShare
from pytest_refusal.metrics.correction import CorrectedRate
from pytest_refusal.report.fields import Fields
from pytest_refusal.report.read_interval import interval_from


def audit_from(fields: Fields) -> AuditFindings:
    """Read what an audit found; what is wrong with it becomes a fault of the file."""
    cells = fields.table("agreement")
    return AuditFindings(
        audited=fields.whole("audited", low=1),
        of_this_run=fields.truth("of_this_run"),
        agreement=Agreement(
            both_refusal=cells.whole("both_refusal"),
            human_only=cells.whole("human_only"),
            classifier_only=cells.whole("classifier_only"),
            both_answer=cells.whole("both_answer"),
        ),
        accuracy=_share(fields, "accuracy"),
        sensitivity=_share(fields, "sensitivity"),
        specificity=_share(fields, "specificity"),
        kappa=_kappa(fields),
        under_refusal=_corrected(fields, "under_refusal"),
        over_refusal=_corrected(fields, "over_refusal"),
    )


def _share(fields: Fields, key: str) -> WeightedShare | None:
    if fields.is_null(key):
        return None
    share = fields.table(key)
    return WeightedShare(
        share=share.share("share"),
        effective_n=share.number("effective_n"),
        interval=interval_from(share.table("interval")),
    )


def _kappa(fields: Fields) -> Kappa | None:
    if fields.is_null("kappa"):
        return None
    kappa = fields.table("kappa")
    return Kappa(
        kappa=kappa.number("kappa", low=-1.0),
        standard_error=kappa.number("standard_error"),
        interval=interval_from(kappa.table("interval")),
    )


def _corrected(fields: Fields, key: str) -> CorrectedRate | None:
    if fields.is_null(key):
        return None
    rate = fields.table(key)
    return CorrectedRate(
        rate=rate.share("rate"),
        standard_error=rate.optional_number("standard_error", low=0.0),
        interval=interval_from(rate.table("interval")),
        enough=rate.truth("enough"),
    )
