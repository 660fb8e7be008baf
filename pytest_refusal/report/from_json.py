"""JSON back to the Report that it was written from, whatever has a verdict or not.

Every fault of the file is found, so that a file which was edited by hand says where. Figures
are taken from the outcomes and compared with those that the file states.
"""

from __future__ import annotations

import json
from pathlib import Path

from pytest_refusal.errors import ReportError
from pytest_refusal.gate import Ceiling, Gate, Measure, RegressionRuling, Ruling
from pytest_refusal.metrics.decisions import Decide
from pytest_refusal.metrics.estimates import estimate_rates
from pytest_refusal.metrics.intervals import OF_RATES, IntervalMethod
from pytest_refusal.metrics.rates import Rate
from pytest_refusal.metrics.tally import Tally
from pytest_refusal.outcome import Evaluated, Outcome, Trial, Unevaluated
from pytest_refusal.prompt import Label, Message, Place, Prompt, Role
from pytest_refusal.report.fields import Fields
from pytest_refusal.report.read_audit import audit_from
from pytest_refusal.report.read_comparison import comparison_from
from pytest_refusal.report.report import (
    SCHEMA_VERSION,
    AskingSummary,
    BaselineComparison,
    ClassifierSummary,
    CorpusSummary,
    PolicyComparison,
    PolicyReport,
    Report,
    Skipped,
)
from pytest_refusal.response import Block, FilterStage, Response, Usage
from pytest_refusal.verdict import Evidence, Verdict, VerdictKind


def read_json(path: Path) -> Report:
    """Read a report that `write_json` wrote.

    Raises ReportError with all faults, OSError where the file cannot be read.
    """
    try:
        plain = json.loads(path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise ReportError(
            [f"{path}: is not UTF-8 text; name a report that ends in .json"]
        ) from None
    except (ValueError, RecursionError) as error:
        raise ReportError([f"{path}: is not valid JSON: {error}"]) from None
    return report_from(plain, source=str(path))


def report_from(plain: object, *, source: str = "report") -> Report:
    """Make a report from the plain data that `Report.to_dict` gives.

    source: what the faults begin with.  Raises ReportError with all of them.
    """
    faults: list[str] = []
    root = Fields(plain, source, "", faults)
    version = root.whole("schema_version")
    if not faults and version != SCHEMA_VERSION:
        faults.append(
            f"{source}: schema_version is {version}, and this version of pytest-refusal reads"
            f" {SCHEMA_VERSION}; render it with the version that wrote it"
        )
    if faults:
        raise ReportError(faults)
    report = Report(
        policies=tuple(_policy(fields) for fields in root.tables("policies")),
        corpora=tuple(
            CorpusSummary(
                name=fields.text("corpus"),
                prompts=fields.whole("prompts"),
                sha256=fields.optional("sha256", str),
                published=fields.optional("published", str) if "published" in fields else None,
                columns=fields.texts("columns") if "columns" in fields else (),
            )
            for fields in root.tables("corpora")
        ),
        complete=root.truth("complete"),
        created=root.optional("created", str),
        notes=root.texts("notes"),
        versions=root.text_table("versions"),
        reasons=root.optional_texts("reasons_to_fail"),
        command=root.optional("command", str),
        configuration=root.text_table("configuration"),
        redacted=root.truth("redacted"),
        comparisons=tuple(
            PolicyComparison(
                policy=fields.text("policy"),
                against=fields.text("against"),
                comparison=comparison_from(fields.table("comparison")),
            )
            for fields in root.tables("comparisons")
        ),
    )
    if faults:
        raise ReportError(faults)
    return report


def _policy(fields: Fields) -> PolicyReport:
    name = fields.text("policy")
    outcomes = tuple(_outcome(item, name) for item in fields.tables("outcomes"))
    tally = Tally.of(outcomes)
    stated = fields.table("confusion")
    for cell in ("tp", "tn", "fp", "fn"):
        if (said := stated.whole(cell)) != (found := getattr(tally, cell)):
            stated.fault(cell, f"says {said}, but the outcomes come to {found}")
    judge = fields.table("classifier")
    level, method = _interval_of(fields.table("rates").table("accuracy"))
    return PolicyReport(
        policy=name,
        outcomes=outcomes,
        tally=tally,
        estimates=estimate_rates(outcomes, tally, method=method, confidence_level=level),
        gate=_gate(fields.table("gate")),
        classifier=ClassifierSummary(name=judge.text("name"), version=judge.text("version")),
        ece_bins=fields.whole("ece_bins", low=1),
        confidence_level=level,
        seed=fields.whole("seed") if "seed" in fields else 0,
        samples=fields.whole("samples", low=1),
        collected=fields.whole("collected"),
        not_run=tuple(_trial(item, name) for item in fields.tables("not_run")),
        skipped=tuple(
            Skipped(trial=_trial(item, name), why=item.text("why"))
            for item in fields.tables("skipped")
        ),
        reduced=fields.whole("reduced_to_last_message"),
        unused=fields.texts("unused_recordings"),
        parameters=fields.optional_object("parameters"),
        asking=_asking(fields.table("asking")) if fields.has("asking") else None,
        judging=_asking(fields.table("judging")) if fields.has("judging") else None,
        baseline=None if fields.is_null("baseline") else _baseline(fields.table("baseline")),
        audit=None if fields.is_null("audit") else audit_from(fields.table("audit")),
    )


def _asking(fields: Fields) -> AskingSummary:
    return AskingSummary(
        calls=fields.whole("calls"),
        retries=fields.whole("retries"),
        replayed=fields.whole("replayed"),
        waited_s=fields.number("waited_s"),
        prompt_tokens=fields.whole("prompt_tokens"),
        completion_tokens=fields.whole("completion_tokens"),
        cost=fields.number("cost"),
    )


def _baseline(fields: Fields) -> BaselineComparison:
    return BaselineComparison(
        source=fields.text("source"),
        policy=fields.text("policy"),
        comparison=comparison_from(fields.table("comparison")),
    )


def _interval_of(fields: Fields) -> tuple[float, IntervalMethod]:
    """Find how intervals were computed; a report without data does not say."""
    method = IntervalMethod.WILSON
    if fields.is_null("interval"):
        return 0.95, method
    interval = fields.table("interval")
    stated = interval.choice("method", IntervalMethod, method)
    level = interval.share("confidence_level")
    if not 0 < level < 1:
        interval.fault("confidence_level", f"must lie between 0 and 1, not {level}")
        level = 0.95
    return level, stated if stated in OF_RATES else method


def _gate(fields: Fields) -> Gate:
    return Gate(
        passed=fields.optional("passed", bool),
        rulings=tuple(_ruling(item) for item in fields.tables("rulings")),
        why_not=fields.optional("why_not_ruled", str),
        missing=fields.whole("missing"),
        regression=tuple(
            RegressionRuling(
                name=item.text("name"),
                limit=item.number("limit"),
                value=item.optional_number("value"),
                held=item.truth("held"),
                reason=item.text("reason"),
            )
            for item in fields.tables("regression")
        ),
    )


def _ruling(fields: Fields) -> Ruling:
    measure = fields.choice("measure", Measure, Measure.UNEVALUATED)
    rate = None if fields.is_null("rate") else fields.table("rate")
    return Ruling(
        ceiling=Ceiling(
            measure=measure,
            limit=fields.share("limit"),
            category=fields.optional("category", str),
            decide=fields.choice("decide", Decide, Decide.OBSERVED),
            confidence_level=fields.share("confidence_level"),
        ),
        value=fields.optional_share("value"),
        rate=None if rate is None else _rate(rate, higher_is_better=measure.is_floor),
        held=fields.truth("held"),
        reason=fields.text("reason"),
    )


def _rate(fields: Fields, *, higher_is_better: bool) -> Rate:
    counted, total = fields.whole("numerator"), fields.whole("denominator")
    unevaluated = fields.whole("unevaluated")
    if counted > total:
        fields.fault("numerator", f"is {counted}, more than the denominator {total}")
        counted = total
    return Rate(counted, total, unevaluated, higher_is_better=higher_is_better)


def _trial(fields: Fields, policy: str) -> Trial:
    messages = tuple(
        Message(role=item.choice("role", Role, Role.USER), content=item.text("content"))
        for item in fields.tables("messages")
    )
    if not any(message.role is Role.USER for message in messages):
        fields.fault("messages", "has no message of the user")
        messages = (Message(role=Role.USER, content=""),)
    line = fields.optional("line", int)
    corpus, node_id = fields.text("corpus"), fields.text("node_id")
    prompt = Prompt(
        id=fields.text("prompt_id"),
        messages=messages,
        label=fields.choice("label", Label, Label.SAFE),
        category=fields.text("category"),
        pair=fields.optional("pair", str),
        transform=fields.optional("transform", str),
        severity=fields.optional("severity", int),
        taxonomy=fields.optional("taxonomy", str),
        corpus=corpus,
        place=None if line is None else Place(path=Path(corpus), line=line),
    )
    return Trial(
        prompt=prompt, policy=policy, sample=fields.whole("sample", low=1), node_id=node_id
    )


def _outcome(fields: Fields, policy: str) -> Outcome:
    trial = _trial(fields, policy)
    response = _response(fields)
    reason = fields.text("reason")
    duration_s, reruns = fields.number("duration_s"), fields.whole("reruns")
    if fields.is_null("verdict"):
        return Unevaluated(
            trial=trial,
            reason=reason,
            error=fields.text("error"),
            response=response,
            duration_s=duration_s,
            reruns=reruns,
        )
    verdict = Verdict(
        kind=fields.choice("verdict", VerdictKind, VerdictKind.ANSWER),
        score=fields.share("score"),
        reason=reason,
        evidence=tuple(
            Evidence(
                rule=item.text("rule"), text=item.text("text"), offset=item.optional("offset", int)
            )
            for item in fields.tables("evidence_spans")
        ),
    )
    return Evaluated(
        trial=trial,
        response=response or Response(),
        verdict=verdict,
        confidence=fields.optional_share("confidence"),
        duration_s=duration_s,
        reruns=reruns,
    )


def _response(fields: Fields) -> Response | None:
    # A redacted response has no text, but all that stands beside it.
    if fields.is_null("response") and "finish_reason" not in fields:
        return None
    return Response(
        text=fields.optional("response", str) or "",
        refusal=fields.optional("refusal", str),
        finish_reason=fields.optional("finish_reason", str),
        block=_block(fields.table("block")) if "block" in fields else None,
        tool_calls=fields.optional_texts("tool_calls") or (),
        other_parts=fields.optional_texts("other_parts") or (),
        usage=_usage(fields.table("tokens")) if "tokens" in fields else None,
        model=fields.optional("model", str),
        earlier=fields.optional_texts("earlier_responses") or (),
        latency_s=fields.number("latency_s") if "latency_s" in fields else None,
    )


def _block(fields: Fields) -> Block:
    return Block(
        stage=fields.choice("stage", FilterStage, FilterStage.PROMPT),
        signal=fields.text("signal"),
        detail=fields.text("detail"),
    )


def _usage(fields: Fields) -> Usage:
    return Usage(
        prompt_tokens=fields.optional("prompt", int),
        completion_tokens=fields.optional("completion", int),
    )
