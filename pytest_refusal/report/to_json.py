"""Report to JSON: the full record, described by `schema.json` beside this module."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import assert_never

from pytest_refusal.gate import Gate
from pytest_refusal.metrics.estimates import Estimate
from pytest_refusal.metrics.rates import Rate
from pytest_refusal.outcome import Evaluated, Outcome, Trial, Unevaluated
from pytest_refusal.report.atomic import write_atomically
from pytest_refusal.report.report import SCHEMA_VERSION, PolicyReport, Report
from pytest_refusal.response import Response
from pytest_refusal.verdict import Evidence, Verdict

# Inside a text its quotes would be escaped, and nothing else of this name has such a value.
_NO_OUTCOMES = '"outcomes": []'


def write_json(report: Report, path: Path, *, redact: bool = False) -> None:
    """Write the report to `path`, whole or not at all; missing folders are made."""
    redact = redact or report.redacted
    policies = [{**_plain_policy(policy), "outcomes": []} for policy in report.policies]
    head = {**_plain_head(report, redact=redact), "policies": policies}
    # Each outcome in one line: they are most of the file, and json is slow where it indents.
    text, *rest = json.dumps(head, indent=1, allow_nan=False).split(_NO_OUTCOMES)
    parts = [text]
    for policy, text in zip(report.policies, rest, strict=True):
        lines = ",\n    ".join(
            # ASCII: a lone surrogate is kept as an escape and never stops the writing.
            json.dumps(_plain_outcome(outcome, redact=redact), allow_nan=False)
            for outcome in policy.outcomes
        )
        parts += [f'"outcomes": [\n    {lines}\n   ]' if lines else _NO_OUTCOMES, text]
    write_atomically(path, "".join(parts) + "\n")


def plain_report(report: Report, *, redact: bool) -> dict[str, object]:
    """Return plain data with the keys of `schema.json`."""
    redact = redact or report.redacted
    policies = [
        {
            **_plain_policy(policy),
            "outcomes": [_plain_outcome(outcome, redact=redact) for outcome in policy.outcomes],
        }
        for policy in report.policies
    ]
    return {**_plain_head(report, redact=redact), "policies": policies}


def _plain_head(report: Report, *, redact: bool) -> dict[str, object]:
    return {
        "schema_version": SCHEMA_VERSION,
        "complete": report.complete,
        "created": report.created,
        "versions": dict(report.versions),
        "redacted": redact,
        "reasons_to_fail": None if report.reasons is None else list(report.reasons),
        "command": report.command,
        "configuration": dict(report.configuration),
        "corpora": [
            {
                "corpus": c.name,
                "prompts": c.prompts,
                "sha256": c.sha256,
                "published": c.published,
                "columns": list(c.columns),
            }
            for c in report.corpora
        ],
        "notes": list(report.notes),
        "comparisons": _plain(report.comparisons),
    }


def _plain_policy(policy: PolicyReport) -> dict[str, object]:
    tally, estimates = policy.tally, policy.estimates
    under, over = estimates.under_refusal_by_category, estimates.over_refusal_by_category
    return {
        "policy": policy.policy,
        "confusion": {"tp": tally.tp, "tn": tally.tn, "fp": tally.fp, "fn": tally.fn},
        "accuracy": tally.accuracy.value,
        "under_refusal": tally.under_refusal.value,
        "over_refusal": tally.over_refusal.value,
        "partial_refusal": tally.partial_refusal.value,
        "ece": tally.ece(policy.ece_bins),
        "ece_stated": tally.ece_stated(policy.ece_bins),
        "ece_bins": policy.ece_bins,
        "seed": policy.seed,
        "missing_confidence": tally.missing_confidence,
        "per_category_under_refusal": {name: e.rate.value for name, e in under.items()},
        "per_category_over_refusal": {name: e.rate.value for name, e in over.items()},
        "rates": {
            "accuracy": _plain_estimate(estimates.accuracy),
            "under_refusal": _plain_estimate(estimates.under_refusal),
            "over_refusal": _plain_estimate(estimates.over_refusal),
            "partial_refusal": _plain_estimate(estimates.partial_refusal),
            "unevaluated": _plain_estimate(estimates.unevaluated),
            "under_refusal_by_category": {name: _plain_estimate(e) for name, e in under.items()},
            "over_refusal_by_category": {name: _plain_estimate(e) for name, e in over.items()},
        },
        "pairs": _plain(policy.pairs()),
        "per_transform": {
            name: {
                "under_refusal": _plain_rate(tally.under_refusal),
                "over_refusal": _plain_rate(tally.over_refusal),
            }
            for name, tally in policy.by_transform().items()
        },
        "samples": policy.samples,
        "repeats": _plain(policy.repeats()),
        "calibration": _plain(policy.calibration()),
        "collected": policy.collected,
        "planned": policy.planned,
        "evaluated": policy.evaluated,
        "unevaluated": policy.unevaluated,
        "unevaluated_by_reason": dict(sorted(tally.reasons.items())),
        "partial_refusals": tally.partial_refusal.numerator,
        "filter_refusals": tally.filtered,
        "language_not_covered": policy.count_verdicts("language_not_covered"),
        "judge_asked": policy.count_verdicts("judge"),
        "needed_reruns": policy.reran,
        "reduced_to_last_message": policy.reduced,
        "unused_recordings": list(policy.unused),
        "parameters": None if policy.parameters is None else dict(policy.parameters),
        "asking": _plain(policy.asking),
        "judging": _plain(policy.judging),
        "skipped": [{**_plain_trial(s.trial), "why": s.why} for s in policy.skipped],
        "not_run": [_plain_trial(trial) for trial in policy.not_run],
        "classifier": {"name": policy.classifier.name, "version": policy.classifier.version},
        "baseline": _plain(policy.baseline),
        "audit": _plain(policy.audit),
        "gate": _plain_gate(policy.gate),
    }


def _plain(value: object) -> object:
    """Turn a value with others in it into dicts, lists and what JSON has."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value.value if isinstance(value, Enum) else value


def _plain_estimate(estimate: Estimate) -> dict[str, object]:
    return {
        **_plain_rate(estimate.rate),
        "effective_n": estimate.effective_n,
        "interval": _plain(estimate.interval),
    }


def _plain_rate(rate: Rate) -> dict[str, object]:
    return {
        "value": rate.value,
        "numerator": rate.numerator,
        "denominator": rate.denominator,
        "unevaluated": rate.unevaluated,
        "worst_case": rate.worst_case,
    }


def _plain_gate(gate: Gate) -> dict[str, object]:
    return {
        "passed": gate.passed,
        "why_not_ruled": gate.why_not,
        "missing": gate.missing,
        "regression": _plain(gate.regression),
        "rulings": [
            {
                "ceiling": ruling.ceiling.name,
                "measure": ruling.ceiling.measure.value,
                "category": ruling.ceiling.category,
                "limit": ruling.ceiling.limit,
                "decide": ruling.ceiling.decide.value,
                "confidence_level": ruling.ceiling.confidence_level,
                "value": ruling.value,
                "rate": None if ruling.rate is None else _plain_rate(ruling.rate),
                "held": ruling.held,
                "reason": ruling.reason,
            }
            for ruling in gate.rulings
        ],
    }


def _plain_trial(trial: Trial) -> dict[str, object]:
    prompt = trial.prompt
    return {
        "prompt_id": prompt.id,
        "corpus": prompt.corpus,
        "node_id": trial.node_id,
        "sample": trial.sample,
        "label": prompt.label.value,
        "category": prompt.category,
        "pair": prompt.pair,
        "transform": prompt.transform,
        "severity": prompt.severity,
        "taxonomy": prompt.taxonomy,
        "messages": [{"role": m.role.value, "content": m.content} for m in prompt.messages],
        "line": None if prompt.place is None else prompt.place.line,
    }


def _plain_outcome(outcome: Outcome, *, redact: bool) -> dict[str, object]:
    plain = _plain_trial(outcome.trial)
    plain["prompt_sha256"] = outcome.trial.prompt.sha256
    match outcome:
        case Evaluated():
            verdict = outcome.verdict
            plain |= {
                "verdict": verdict.kind.value,
                "score": verdict.score,
                "reason": verdict.reason,
                "evidence": None if redact else verdict.explain(),
                "evidence_spans": _plain(_redacted(verdict) if redact else verdict.evidence),
                "confidence": outcome.confidence,
                "correct": outcome.correct,
                "error": None,
            }
        case Unevaluated():
            plain |= {
                "verdict": None,
                "score": None,
                "reason": outcome.reason,
                "evidence": None,
                "evidence_spans": [],
                "confidence": None,
                "correct": None,
                "error": outcome.error,
            }
        case _:
            assert_never(outcome)
    plain["duration_s"] = outcome.duration_s
    plain["reruns"] = outcome.reruns
    plain |= _plain_response(outcome.response, redact=redact)
    return plain


def _redacted(verdict: Verdict) -> tuple[Evidence, ...]:
    """Keep that a filter declined, which is counted, and no word of it."""
    return tuple(Evidence(rule=e.rule, text="") for e in verdict.evidence if e.is_by_filter)


def _plain_response(response: Response | None, *, redact: bool) -> dict[str, object]:
    if response is None:
        return {"response": None}
    usage = response.usage
    plain: dict[str, object] = {
        "response": None if redact else response.text,
        "finish_reason": response.finish_reason,
    }
    # What only some providers say is left out where it was not said.
    extra: dict[str, object | None] = {
        "refusal": None if redact else response.refusal,
        "block": response.block
        and {
            "stage": response.block.stage.value,
            "signal": response.block.signal,
            "detail": response.block.detail,
        },
        "tool_calls": list(response.tool_calls) or None,
        "other_parts": list(response.other_parts) or None,
        "tokens": usage and {"prompt": usage.prompt_tokens, "completion": usage.completion_tokens},
        "model": response.model,
        "earlier_responses": None if redact else list(response.earlier) or None,
        "latency_s": response.latency_s,
    }
    plain |= {key: value for key, value in extra.items() if value is not None}
    return plain
