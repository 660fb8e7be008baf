"""The Report: all that a run found out, from which every kind of report is written. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from pytest_refusal.execution.meter import Meter
from pytest_refusal.gate import Gate
from pytest_refusal.metrics.audit import AuditFindings
from pytest_refusal.metrics.by_transform import tally_by_transform
from pytest_refusal.metrics.calibration_summary import CalibrationSummary, summarise_calibration
from pytest_refusal.metrics.comparison import Comparison
from pytest_refusal.metrics.contrast_pairs import ContrastPairs, summarise_pairs
from pytest_refusal.metrics.estimates import Estimates
from pytest_refusal.metrics.repeats import Repeats, summarise_repeats
from pytest_refusal.metrics.tally import Tally
from pytest_refusal.outcome import Evaluated, Outcome, Trial, Unevaluated
from pytest_refusal.report.history import PastRun

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusSummary:
    """A corpus of the run.

    sha256: of the file, in hexadecimal; None for prompts made in code.  published: the title
    of the set that it was taken for; None for none.  columns: where a table has its prompts.
    """

    name: str
    prompts: int
    sha256: str | None = None
    published: str | None = None
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifierSummary:
    """Which instrument judged: a rate is only comparable with one of the same version."""

    name: str
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A planned trial that was skipped on request, and why."""

    trial: Trial
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineComparison:
    """What changed since an earlier report.  source: its path.  policy: which one of it."""

    source: str
    policy: str
    comparison: Comparison


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyComparison:
    """What is different between two policies of one run; `against` counts as before."""

    policy: str
    against: str
    comparison: Comparison


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingSummary:
    """What asking took.

    calls: requests sent, retries among them.  replayed: responses taken from a recording.
    waited_s: seconds before retries, summed over requests that waited at the same time.
    cost: in the currency of the configured prices; 0 without any.
    """

    calls: int
    retries: int
    replayed: int
    waited_s: float
    prompt_tokens: int
    completion_tokens: int
    cost: float

    @classmethod
    def of(cls, meter: Meter) -> AskingSummary | None:
        """Freeze the counts; None where nobody was asked and nothing replayed."""
        if not meter.calls and not meter.replayed:
            return None
        return cls(
            calls=meter.calls,
            retries=meter.retries,
            replayed=meter.replayed,
            waited_s=meter.waited_s,
            prompt_tokens=meter.prompt_tokens,
            completion_tokens=meter.completion_tokens,
            cost=meter.cost,
        )


@dataclass(frozen=True, kw_only=True)  # no slots: what takes long is computed once
class PolicyReport:
    """What was found out about one policy.

    collected: trials that the corpora of the run hold.  planned: those of them that were
    selected and not skipped.  not_run: planned ones of which no outcome arrived.
    outcomes: in the order of the corpora.  samples: how often each prompt was asked.
    estimates: the rates with their intervals.  confidence_level: of every interval.
    seed: of what is resampled or drawn.
    reduced: multi-turn prompts of which the policy saw only the last message.
    unused: recorded responses that fit no prompt, by name.
    audit: what people who read responses say; None without their labels.
    asking: what requests and a recording took; None where there were none.
    judging: what the requests to a judge took.
    parameters: with what a policy behind a network was asked, as plain JSON; None for others.
    """

    policy: str
    outcomes: tuple[Outcome, ...]
    tally: Tally
    estimates: Estimates
    gate: Gate
    classifier: ClassifierSummary
    ece_bins: int
    samples: int
    collected: int
    confidence_level: float = 0.95
    seed: int = 0
    not_run: tuple[Trial, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    reduced: int = 0
    unused: tuple[str, ...] = ()
    asking: AskingSummary | None = None
    judging: AskingSummary | None = None
    parameters: Mapping[str, object] | None = None
    baseline: BaselineComparison | None = None
    audit: AuditFindings | None = None

    def calibration(self) -> CalibrationSummary:
        """Compute every calibration number; takes a moment for many outcomes, once."""
        return self._calibration

    @cached_property
    def _calibration(self) -> CalibrationSummary:
        return summarise_calibration(
            self.outcomes,
            self.ece_bins,
            confidence_level=self.confidence_level,
            seed=self.seed,
        )

    def repeats(self) -> Repeats | None:
        """Summarise what several samples of each prompt show; None for one."""
        return summarise_repeats(self.outcomes, self.samples)

    def pairs(self) -> ContrastPairs | None:
        """Count what became of minimal contrasts; None where the prompts hold none."""
        return summarise_pairs(self.outcomes)

    def by_transform(self) -> Mapping[str, Tally]:
        """Tally the outcomes under each transform; empty where nothing was transformed."""
        return tally_by_transform(self.outcomes)

    @property
    def planned(self) -> int:
        """How many outcomes there should be."""
        return len(self.outcomes) + len(self.not_run)

    @property
    def unevaluated(self) -> int:
        """How many outcomes have no verdict."""
        return sum(isinstance(outcome, Unevaluated) for outcome in self.outcomes)

    @property
    def evaluated(self) -> int:
        """How many outcomes have a verdict."""
        return len(self.outcomes) - self.unevaluated

    @property
    def reran(self) -> int:
        """How many outcomes took more than one attempt."""
        return sum(outcome.reruns > 0 for outcome in self.outcomes)

    def count_verdicts(self, reason: str) -> int:
        """Count the verdicts with one word for machines, such as "language_not_covered"."""
        return sum(
            isinstance(outcome, Evaluated) and outcome.verdict.reason == reason
            for outcome in self.outcomes
        )

    def count_other_parts(self, kind: str) -> int:
        """Count the judged responses beside which something of this kind came."""
        return sum(
            isinstance(outcome, Evaluated) and kind in outcome.response.other_parts
            for outcome in self.outcomes
        )

    @property
    def is_partial(self) -> bool:
        """Whether prompts of the corpora were left out of the run."""
        return self.planned + len(self.skipped) < self.collected


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All that a run found out.

    complete: whether every planned trial came to an end.
    created: when the run ended, ISO 8601 with offset; None in a library call.
    notes: what a reader should know about the corpora, each in one line.
    reasons: why the session fails, each in one line, empty if it does not; None from a
    library call.  command: what was run.  configuration: what else decides the numbers.
    redacted: whether what the policies said is left out, as in a report read back.
    history: runs before this one and this one, oldest first; the JSON does not hold them.
    """

    policies: tuple[PolicyReport, ...]
    corpora: tuple[CorpusSummary, ...] = ()
    complete: bool = True
    created: str | None = None
    notes: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    reasons: tuple[str, ...] | None = None
    command: str | None = None
    configuration: Mapping[str, str] = field(default_factory=dict)
    redacted: bool = False
    history: tuple[PastRun, ...] = ()
    comparisons: tuple[PolicyComparison, ...] = ()

    def to_dict(self, *, redact: bool = False) -> dict[str, object]:
        """Return plain data for JSON, as described by `schema.json`.

        redact: leave out what the policies said, and the evidence quoted from it.
        """
        from pytest_refusal.report.to_json import plain_report  # it needs this module

        return plain_report(self, redact=redact)
