"""Lines of the summary beside the rates: calibration, repeats, pairs and transforms. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_refusal.escape import one_line
from pytest_refusal.metrics.rates import Rate
from pytest_refusal.metrics.wording import NO_DATA, interval_text, number
from pytest_refusal.report.findings import count, leaning
from pytest_refusal.report.lines import Line, Style, display_width, listing, name_in, padded
from pytest_refusal.report.report import PolicyReport


def calibration_lines(policy: PolicyReport) -> Iterator[Line]:
    """Yield scores, bins and groups of the stated confidences."""
    calibration = policy.calibration()
    stated = calibration.everything.stated
    if stated is None:
        return
    brier = stated.brier
    parts = (
        f"reliability {number(brier.reliability)}, resolution {number(brier.resolution)},"
        f" uncertainty {number(brier.uncertainty)}"
    )
    yield Line(
        text=f"  Brier          {number(brier.score)}; {interval_text(stated.intervals.brier)}"
        f" ({parts})"
    )
    adaptive = stated.adaptive_ece
    yield Line(
        text=f"  adaptive ECE   {number(adaptive.error)} in {count(adaptive.bins, 'bin')};"
        f" {interval_text(stated.intervals.adaptive_ece)}"
    )
    clipped = stated.log_loss.clipped
    note = f" ({count(clipped, 'certain mistake')} clipped)" if clipped else ""
    yield Line(text=f"  log loss       {number(stated.log_loss.loss)}{note}")
    if stated.debiased is not None:
        alone = stated.debiased.left_out
        note = f" ({count(alone, 'outcome')} alone in their bin left out)" if alone else ""
        yield Line(text=f"  debiased       {number(stated.debiased.squared)}, squared error{note}")
    mce = f"{number(stated.mce)}; {interval_text(stated.intervals.mce)}"
    yield Line(text=f"  MCE            {mce}")
    for part in stated.bins:
        word = leaning(part, policy.confidence_level)
        if part.gap:
            yield Line(
                text=f"  {number(part.lower)} to {number(part.upper)}: says"
                f" {number(part.mean_confidence)}, right {part.correct}/{part.count}"
                f" = {number(part.accuracy)}, {word}"
            )
    groups = {
        "refusals": calibration.refusals,
        "answers": calibration.answers,
        "unsafe prompts": calibration.unsafe,
        "safe prompts": calibration.safe,
    }
    said = (f"{name} {number(group.ece)}" for name, group in groups.items())
    yield Line(text=f"  ECE of         {', '.join(said)}")


def repeat_lines(policy: PolicyReport) -> Iterator[Line]:
    """Yield what several samples of each prompt show; nothing for one."""
    repeats = policy.repeats()
    if repeats is None:
        return
    k, estimates = repeats.k, policy.estimates
    leaks, declines = estimates.any_of_k_under_refusal.rate, estimates.any_of_k_over_refusal.rate
    yield Line(
        text=f"  of {k} samples  any leaks {cell(leaks)}, any declines {cell(declines)},"
        f" always right {cell(repeats.always_right_rate)}"
    )
    wrong = [one_line(prompt.prompt_id, 40) for prompt in repeats.always_wrong]
    if wrong:
        yield Line(text=f"  {len(wrong)} always wrong: {listing(wrong)}", style=Style.BAD)
    unsteady = [
        f"{one_line(prompt.prompt_id, 40)} ({prompt.declined}/{prompt.samples} refused)"
        for prompt in repeats.unsteady
    ]
    if unsteady:
        yield Line(text=f"  {len(unsteady)} unsteady: {listing(unsteady)}", style=Style.NOTE)


def pair_lines(policy: PolicyReport) -> Iterator[Line]:
    """Yield what became of minimal contrasts; nothing where there are none."""
    pairs = policy.pairs()
    if pairs is None:
        return
    both = (
        f"both right {cell(pairs.right)}, both refused {cell(pairs.rate_of(pairs.both_refused))},"
        f" both answered {cell(pairs.rate_of(pairs.both_answered))}"
    )
    yield Line(text=f"  pairs          {both}")


def transform_lines(policy: PolicyReport, encoding: str) -> Iterator[Line]:
    """Yield the rates under each transform; nothing where nothing was transformed."""
    tallies = policy.by_transform()
    if not tallies:
        return
    names = [name_in(encoding, name, 28) for name in tallies]
    width = max(map(display_width, [*names, "transform"]))
    yield Line(text=f"  {'transform':<{width}}  {'under-refusal':<20}  over-refusal")
    for name, tally in zip(names, tallies.values(), strict=True):
        under, over = cell(tally.under_refusal), cell(tally.over_refusal)
        yield Line(text=f"  {padded(name, width)}  {under:<20}  {over}")


def cell(rate: Rate | None) -> str:
    """Write a rate as it stands in a table, "(+2?)" for the unevaluated."""
    if rate is None:
        return "-"
    if rate.value is None:
        text = NO_DATA
    else:
        text = f"{rate.numerator}/{rate.denominator} = {number(rate.value)}"
    return text if not rate.unevaluated else f"{text} (+{rate.unevaluated}?)"
