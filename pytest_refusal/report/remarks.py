"""What a reader should know of a policy beside its rates, whatever the kind of report. Pure.

The words are safe for no place yet, and the names are as in the corpus.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_refusal.metrics.wording import fraction, number
from pytest_refusal.report.answered_by import other_models
from pytest_refusal.report.findings import count
from pytest_refusal.report.lines import Style
from pytest_refusal.report.report import AskingSummary, PolicyReport
from pytest_refusal.response import FILTER_FAILED

# A server may call itself by another name each time.
_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """One thing to know.  names: of the prompts or recordings that it is about."""

    words: str
    names: tuple[str, ...] = ()
    style: Style = Style.PLAIN


def remarks(policy: PolicyReport) -> Iterator[Remark]:
    """Say what became of responses and prompts that the rates do not show."""
    tally = policy.tally
    if partial := tally.partial_refusal.numerator:
        yield Remark(words=f"{count(partial, 'partial refusal')}, counted as refusals")
    yield from _about_the_provider(policy)
    if foreign := policy.count_verdicts("language_not_covered"):
        words = f"language not covered: {count(foreign, 'response')}, taken for answers"
        yield Remark(words=words, style=Style.BAD)
    if asked := policy.count_verdicts("judge"):
        yield Remark(words=f"the judge decided {asked} of {policy.evaluated}")
    if policy.reduced:
        prompts = count(policy.reduced, "multi-turn prompt")
        yield Remark(words=f"{prompts} reduced to their last message", style=Style.NOTE)
    if policy.reran:
        yield Remark(words=f"{count(policy.reran, 'outcome')} needed reruns", style=Style.NOTE)
    if policy.unused:
        fit = "response fits" if len(policy.unused) == 1 else "responses fit"
        words = f"{len(policy.unused)} recorded {fit} no prompt"
        yield Remark(words=words, names=policy.unused, style=Style.NOTE)
    if policy.asking is not None:
        yield Remark(words=asking_in_words(policy.asking))
    if policy.judging is not None:
        yield Remark(words=f"beside it, of the judge: {asking_in_words(policy.judging)}")
    if policy.unevaluated:
        kinds = ", ".join(f"{n} {reason}" for reason, n in sorted(tally.reasons.items()))
        words = f"{policy.unevaluated} unevaluated of {policy.planned}: {kinds}"
        yield Remark(words=words, style=Style.BAD)
    if policy.skipped:
        names = tuple(f"{s.trial.prompt.id} ({s.why})" for s in policy.skipped)
        yield Remark(words=f"{len(names)} skipped", names=names, style=Style.NOTE)
    if policy.not_run:
        names = tuple(trial.prompt.id for trial in policy.not_run)
        yield Remark(words=f"{len(names)} not run", names=names, style=Style.BAD)


def _about_the_provider(policy: PolicyReport) -> Iterator[Remark]:
    if policy.tally.filtered:
        yield Remark(words=f"{count(policy.tally.filtered, 'refusal')} by the provider's filter")
    if failed := policy.count_other_parts(FILTER_FAILED):
        words = f"the provider's filter failed on {count(failed, 'response')}, not filtered"
        yield Remark(words=words, style=Style.BAD)
    if others := other_models(policy):
        first = ", ".join(f"{model} ({n})" for model, n in list(others.items())[:_NAMED])
        more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
        words = f"answered by another model than the one asked: {first}{more}"
        yield Remark(words=words, style=Style.BAD)


def remarks_in_words(policy: PolicyReport) -> tuple[str, ...]:
    """Return the remarks without names, and what repeats, pairs, transforms and an audit show."""
    found = [*remarks_beside_tables(policy)]
    if (pairs := policy.pairs()) is not None:
        found.append(
            f"minimal contrasts: both right {fraction(pairs.right)}, both refused"
            f" {fraction(pairs.rate_of(pairs.both_refused))}, both answered"
            f" {fraction(pairs.rate_of(pairs.both_answered))}"
        )
    found += [
        f"under the transform {name}: under-refusal {fraction(tally.under_refusal)},"
        f" over-refusal {fraction(tally.over_refusal)}"
        for name, tally in policy.by_transform().items()
    ]
    return tuple(found)


def remarks_beside_tables(policy: PolicyReport) -> tuple[str, ...]:
    """Return the remarks in words without what a report may show as a table."""
    found = [remark.words for remark in remarks(policy)]
    if (repeats := policy.repeats()) is not None:
        estimates = policy.estimates
        found.append(
            f"of {repeats.k} samples of a prompt, any leaks in"
            f" {fraction(estimates.any_of_k_under_refusal.rate)}, any declines in"
            f" {fraction(estimates.any_of_k_over_refusal.rate)}, all are right in"
            f" {fraction(repeats.always_right_rate)}"
        )
        if repeats.unsteady:
            found.append(f"{count(len(repeats.unsteady), 'prompt')} decided now so, now so")
    audit = policy.audit
    if audit is not None and audit.accuracy is not None:
        found.append(
            f"people read {count(audit.audited, 'response')}: the classifier is right in"
            f" {number(audit.accuracy.share)}"
        )
    return tuple(found)


def asking_in_words(asking: AskingSummary) -> str:
    """Say how many requests there were, and what they took."""
    parts = [count(asking.calls, "call")]
    if asking.retries:
        retries = f"{asking.retries} of them retr{'y' if asking.retries == 1 else 'ies'}"
        parts.append(f"{retries} after {asking.waited_s:.1f} s of waiting")
    if asking.replayed:
        parts.append(f"{asking.replayed} replayed")
    if asking.prompt_tokens or asking.completion_tokens:
        parts.append(f"{asking.prompt_tokens} tokens in, {asking.completion_tokens} out")
    if asking.cost:
        parts.append(f"cost {asking.cost:.4g}")
    return "; ".join(parts)
