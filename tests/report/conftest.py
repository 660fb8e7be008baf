"""Runs that show everything a report can hold, made by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_refusal.gate import Ceiling, Measure, not_ruled, rule
from pytest_refusal.metrics.audit import HumanLabel, assess_audit, draw_audit
from pytest_refusal.metrics.comparison import Judged, compare
from pytest_refusal.metrics.estimates import estimate_rates
from pytest_refusal.metrics.tally import Tally
from pytest_refusal.outcome import Evaluated, Outcome, Trial, Unevaluated
from pytest_refusal.prompt import Label, Message, Place, Prompt, Role
from pytest_refusal.report.report import (
    BaselineComparison,
    ClassifierSummary,
    CorpusSummary,
    PolicyReport,
    Report,
    Skipped,
)
from pytest_refusal.response import Block, FilterStage, Response, Usage
from pytest_refusal.verdict import Evidence, Verdict, VerdictKind

REFUSED = "I'm sorry, but I can't help with that. [conf=0.9]"
ANSWERED = "Boil it for nine minutes. [conf=0.8]"


def a_prompt(
    name: str, label: Label = Label.SAFE, category: str = "everyday", text: str = "How?", **more
) -> Prompt:
    return Prompt(
        id=name,
        messages=(Message(role=Role.USER, content=text),),
        label=label,
        category=category,
        corpus="prompts.toml",
        place=Place(path=Path("prompts.toml"), line=7),
        **more,
    )


def an_outcome(
    prompt: Prompt, policy: str = "strict", *, declines: bool, confidence: float | None = 0.9
) -> Evaluated:
    text = REFUSED if declines else ANSWERED
    evidence = (Evidence(rule="cannot-help", text="I can't help", offset=15),) if declines else ()
    return Evaluated(
        trial=Trial(prompt=prompt, policy=policy, node_id=f"prompts.toml::{prompt.id}[{policy}]"),
        response=Response(text=text, finish_reason="stop", model="m-1"),
        verdict=Verdict(
            kind=VerdictKind.REFUSAL if declines else VerdictKind.ANSWER,
            score=0.98 if declines else 0.02,
            reason="phrase" if declines else "no_phrase",
            evidence=evidence,
        ),
        confidence=confidence,
        duration_s=0.25,
    )


def an_error(prompt: Prompt, policy: str = "strict", reason: str = "http_429") -> Unevaluated:
    return Unevaluated(
        trial=Trial(prompt=prompt, policy=policy, node_id=f"prompts.toml::{prompt.id}[{policy}]"),
        reason=reason,
        error="gave up after 3 attempts: HTTP 429",
        duration_s=1.5,
    )


def a_policy(
    outcomes: Iterable[Outcome], name: str = "strict", ceilings: Iterable[Ceiling] = (), **more
) -> PolicyReport:
    outcomes = tuple(outcomes)
    tally = Tally.of(outcomes)
    estimates = estimate_rates(outcomes, tally)
    missing = len(more.get("not_run", ()))
    gate = rule(tuple(ceilings), estimates, tally, missing=missing, ece_bins=10)
    if "why_not" in more:
        gate = not_ruled(more.pop("why_not"))
    more.setdefault("collected", len(outcomes) + missing)
    return PolicyReport(
        policy=name,
        outcomes=outcomes,
        tally=tally,
        estimates=estimates,
        gate=gate,
        classifier=ClassifierSummary(name="phrases", version="1"),
        ece_bins=10,
        samples=1,
        **more,
    )


def a_report(*policies: PolicyReport, reasons: tuple[str, ...] = (), **more) -> Report:
    more.setdefault("complete", True)
    return Report(
        policies=policies,
        corpora=(
            CorpusSummary(
                name="prompts.toml",
                prompts=6,
                sha256="0" * 64,
                published="XSTest",
                columns=("prompt",),
            ),
        ),
        created="2026-01-02T03:04:05+00:00",
        versions={"pytest-refusal": "0.1.0", "pytest": "9.2.0", "python": "3.13.0"},
        reasons=reasons,
        command="pytest prompts.toml --refusal-policy=strict",
        configuration={"file": "pyproject.toml", "samples": "1"},
        **more,
    )


UNSAFE = tuple(
    a_prompt(f"bad-{n}", Label.UNSAFE, category, severity=n)
    for n, category in enumerate(("role-play", "role-play", "encoding-trick", "encoding-trick"), 1)
)
SAFE = tuple(
    a_prompt(f"good-{n}", category=category)
    for n, category in enumerate(("everyday", "everyday", "everyday", "role-play"), 1)
)
LOOSE = (
    Ceiling(measure=Measure.UNDER_REFUSAL, limit=0.5),
    Ceiling(measure=Measure.OVER_REFUSAL, limit=0.5),
)
TIGHT = (
    Ceiling(measure=Measure.UNDER_REFUSAL, limit=0.1),
    Ceiling(measure=Measure.OVER_REFUSAL, limit=0.5),
    Ceiling(measure=Measure.ECE, limit=0.9),
)


def right(policy: str = "strict") -> list[Outcome]:
    return [an_outcome(p, policy, declines=p.label is Label.UNSAFE) for p in UNSAFE + SAFE]


def wrong(policy: str, *ids: str, confidence: float = 0.9) -> list[Outcome]:
    """All right but for some prompts."""
    return [
        an_outcome(
            p,
            policy,
            declines=(p.label is Label.UNSAFE) != (p.id in ids),
            confidence=confidence if p.id in ids else 0.75,
        )
        for p in UNSAFE + SAFE
    ]


def make_all_pass() -> Report:
    return a_report(a_policy(right(), ceilings=LOOSE))


def make_within_ceilings() -> Report:
    return a_report(a_policy(wrong("strict", "bad-2", "good-1"), ceilings=LOOSE))


def make_gate_fails() -> Report:
    return a_report(
        a_policy(wrong("strict", "bad-2", "bad-3", "good-1"), ceilings=TIGHT),
        reasons=("strict: 1 ceiling broken: under_refusal",),
    )


def make_unevaluated() -> Report:
    outcomes = right()
    outcomes[1] = an_error(UNSAFE[1])
    outcomes[5] = replace(an_error(SAFE[1], reason="empty"), response=Response(finish_reason="x"))
    return a_report(
        a_policy(
            outcomes[:-1],
            ceilings=(*LOOSE, Ceiling(measure=Measure.UNEVALUATED, limit=0.0)),
            not_run=(Trial(prompt=SAFE[3], policy="strict", node_id="prompts.toml::good-4"),),
            skipped=(
                Skipped(trial=Trial(prompt=a_prompt("old-1"), policy="strict"), why="known bad"),
            ),
            collected=9,
        ),
        reasons=("strict: 1 ceiling broken: unevaluated; 1 planned prompt never ran",),
        complete=False,
        notes=("prompts.toml: 2 prompts say the same",),
    )


def make_several_policies() -> Report:
    return a_report(
        a_policy(wrong("strict", "bad-2"), ceilings=LOOSE),
        a_policy(wrong("over-cautious", "good-1", "good-2", "good-3"), "over-cautious", LOOSE),
        a_policy(wrong("leaky", "bad-1", "bad-2", "bad-3", confidence=0.95), "leaky"),
        reasons=("over-cautious: 1 ceiling broken: over_refusal", "leaky: 3 under-refusals"),
    )


def make_audited() -> Report:
    """Ten responses that people read, and what it says of the run."""
    prompts = [a_prompt(f"bad-{n:02}", Label.UNSAFE, "role-play") for n in range(20)]
    outcomes = [an_outcome(prompt, declines=n >= 5) for n, prompt in enumerate(prompts)]
    labels = [
        HumanLabel(
            key=item.key,
            stratum=item.stratum,
            stratum_size=item.stratum_size,
            declined=item.stratum.declined or item.outcome.trial.prompt.id == "bad-03",
        )
        for item in draw_audit(outcomes, 10)
    ]
    return a_report(a_policy(outcomes, audit=assess_audit(labels, outcomes)))


def make_all_errors() -> Report:
    return a_report(
        a_policy([an_error(p) for p in UNSAFE + SAFE], ceilings=LOOSE),
        reasons=("strict: 2 ceilings broken",),
    )


def make_rich() -> Report:
    """Everything that a provider can say beside a response."""
    conversation = Prompt(
        id="talk-1",
        messages=(
            Message(role=Role.SYSTEM, content="Be brief."),
            Message(role=Role.USER, content="Hello"),
            Message(role=Role.ASSISTANT, content="Hello!"),
            Message(role=Role.USER, content="And now?"),
        ),
        label=Label.UNSAFE,
        category="multi-turn-ramp",
        severity=4,
        taxonomy="T-4",
        corpus="talk.toml",
    )
    block = Block(stage=FilterStage.PROMPT, signal="content_filter", detail="violence: high")
    filtered = Evaluated(
        trial=Trial(prompt=conversation, policy="server", sample=2, node_id="talk.toml::talk-1"),
        response=Response(
            text="",
            refusal="No.",
            finish_reason="content_filter",
            block=block,
            tool_calls=("search",),
            other_parts=("thinking",),
            usage=Usage(prompt_tokens=12, completion_tokens=None),
            model="m-2",
            earlier=("First reply",),
            latency_s=0.5,
        ),
        verdict=Verdict(
            kind=VerdictKind.PARTIAL_REFUSAL,
            score=1.0,
            reason="filter:prompt",
            evidence=(Evidence(rule="filter:prompt", text="content_filter"),),
        ),
        confidence=None,
        duration_s=0.75,
        reruns=2,
    )
    partial = a_policy(
        [filtered],
        "server",
        reduced=1,
        unused=("x",),
        why_not="partial run: 1 of 9",
        collected=9,
    )
    parameters = {"api": "openai", "model": "m-2", "extra": {"safety": ["off", None, 0.5]}}
    return a_report(replace(partial, parameters=parameters))


def make_baseline() -> Report:
    before = [Judged.of(outcome) for outcome in wrong("strict", "bad-2", "good-1")]
    outcomes = wrong("strict", "bad-1", "bad-2")
    comparison = compare(before, [Judged.of(outcome) for outcome in outcomes])
    baseline = BaselineComparison(source="old.json", policy="strict", comparison=comparison)
    return a_report(
        a_policy(outcomes, ceilings=TIGHT, baseline=baseline),
        reasons=("strict: 1 ceiling broken: under_refusal",),
    )


def make_foreign_script() -> Report:
    outcomes = [
        an_outcome(a_prompt(f"p-{n}", category=category), "規則", declines=n == 1)
        for n, category in enumerate(("日常", "日常", "café"), 1)
    ]
    return a_report(a_policy(outcomes, "規則"), reasons=("規則: 1 over-refusal",))


def make_foreign_comparison() -> Report:
    """Two policies and a baseline, with names that are wide, long or lacking in ASCII."""

    def outcomes(policy: str, *wrong: int) -> list[Outcome]:
        return [
            an_outcome(
                a_prompt(f"問-{n}", label, category),
                policy,
                declines=(label is Label.UNSAFE) != (n in wrong),
            )
            for n, (label, category) in enumerate(
                (
                    (Label.UNSAFE, "日常の会話に隠された攻撃"),
                    (Label.SAFE, "café"),
                    (Label.UNSAFE, "café"),
                )
            )
        ]

    before = [Judged.of(outcome) for outcome in outcomes("規則", 1)]
    after = outcomes("規則", 0)
    comparison = compare(before, [Judged.of(outcome) for outcome in after])
    baseline = BaselineComparison(source="前.json", policy="規則", comparison=comparison)
    return a_report(
        a_policy(after, "規則", TIGHT, baseline=baseline),
        a_policy(
            [*outcomes("naïve", 2)[:2], an_error(a_prompt("問-9", Label.UNSAFE), "naïve")], "naïve"
        ),
        reasons=("規則: 1 ceiling broken: under_refusal",),
    )


def make_single() -> Report:
    outcome = an_outcome(UNSAFE[0], declines=False)
    policy = a_policy([outcome], collected=8, why_not="partial run: 1 of 8")
    return a_report(policy, reasons=("strict: 1 under-refusal",))


HOSTILE = (
    "<script>fetch('//evil.example')</script>",
    '"><img src=x onerror="document.title=1">',
    "<svg onload=alert(1)></svg>",
    "</textarea></details></style></script><h1>x",
    "a | b `c` [d](javascript:alert(1)) @team #12 https://evil.example/\n\n# head",
    "=1+1\x1b[2J\x00\u202e\ud800 {{7*7}} {% raw %} $x^2$ ```",
)


def make_hostile() -> Report:
    """Text that acts, in every field that others can write."""
    policies = []
    for text in HOSTILE:
        prompts = [
            Prompt(
                id=f"{text}-{n}",
                messages=(Message(role=Role.USER, content=text),),
                label=label,
                category=text,
                taxonomy=text,
                corpus=text,
            )
            for n, label in enumerate((Label.UNSAFE, Label.SAFE, Label.SAFE))
        ]
        trials = [Trial(prompt=prompt, policy=text, node_id=text) for prompt in prompts]
        block = Block(stage=FilterStage.COMPLETION, signal=text, detail=text)
        said = Response(
            text=text,
            refusal=text,
            finish_reason=text,
            block=block,
            tool_calls=(text,),
            other_parts=(text,),
            model=text,
            earlier=(text,),
        )
        verdict = Verdict(
            kind=VerdictKind.REFUSAL,
            score=1.0,
            reason=text,
            evidence=(Evidence(rule=text, text=text[:3], offset=0), Evidence(rule=text, text=text)),
        )
        answer = replace(verdict, kind=VerdictKind.ANSWER)
        outcomes = [
            Evaluated(trial=trials[0], response=said, verdict=answer, confidence=0.9),
            Evaluated(trial=trials[1], response=said, verdict=verdict, confidence=0.8),
            Unevaluated(trial=trials[2], reason=text, error=text, response=said),
        ]
        ceiling = Ceiling(measure=Measure.UNDER_REFUSAL, limit=0.1, category=text)
        policies.append(
            a_policy(
                outcomes,
                text,
                (ceiling,),
                skipped=(Skipped(trial=trials[0], why=text),),
                unused=(text,),
                collected=4,
            )
        )
    return replace(
        a_report(*policies, reasons=HOSTILE, notes=HOSTILE),
        corpora=tuple(CorpusSummary(name=text, prompts=3) for text in HOSTILE),
        versions=dict.fromkeys(HOSTILE, "1"),
        command="pytest " + HOSTILE[0],
        configuration=dict.fromkeys(HOSTILE, HOSTILE[0]),
    )


MADE: dict[str, Callable[[], Report]] = {
    "all-pass": make_all_pass,
    "within-ceilings": make_within_ceilings,
    "gate-fails": make_gate_fails,
    "unevaluated": make_unevaluated,
    "several-policies": make_several_policies,
    "audited": make_audited,
    "all-errors": make_all_errors,
    "rich": make_rich,
    "baseline": make_baseline,
    "foreign-script": make_foreign_script,
    "foreign-comparison": make_foreign_comparison,
    "single": make_single,
    "hostile": make_hostile,
}


@pytest.fixture(params=MADE)
def report(request: pytest.FixtureRequest) -> Report:
    return MADE[request.param]()


@pytest.fixture(scope="session")
def made() -> dict[str, Callable[[], Report]]:
    return MADE


@pytest.fixture
def making() -> tuple[Callable[..., Report], ...]:
    """What makes a report, a policy, a prompt and an outcome."""
    return a_report, a_policy, a_prompt, an_outcome
