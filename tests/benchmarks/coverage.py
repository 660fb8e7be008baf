"""The tables of docs/statistics.md: how often intervals cover, and what ceilings decide.

python tests/benchmarks/coverage.py            all tables, in about a minute
python tests/benchmarks/coverage.py decisions  one of them
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np

from pytest_refusal.metrics import correction
from pytest_refusal.metrics.calibration_chance import chance_level
from pytest_refusal.metrics.correction import ClassifierAudit, Stratum, audited_rate, rogan_gladen
from pytest_refusal.metrics.decisions import Decide, LimitedRate, decide_limits
from pytest_refusal.metrics.intervals import (
    clopper_pearson_interval,
    jeffreys_interval,
    wilson_interval,
)
from pytest_refusal.metrics.paired import bonett_price_interval
from pytest_refusal.metrics.rates import Rate
from pytest_refusal.metrics.samples import clustered_wilson_interval

Rows = Iterator[list[str]]


def rates() -> Rows:
    """Exact coverage of the 95 % intervals of a rate, mean / minimum over 100 true rates."""
    yield ["n", "Wilson", "Clopper-Pearson", "Jeffreys", "mean Wilson width at 0.10"]
    true_rates = np.linspace(0.005, 0.5, 100)
    for n in (3, 6, 25, 55, 100, 400):
        k = np.arange(n + 1)
        ways = np.array(
            [math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) for i in k]
        )
        chances = np.exp(
            ways + np.outer(np.log(true_rates), k) + np.outer(np.log1p(-true_rates), n - k)
        )
        cells = []
        for interval in (wilson_interval, clopper_pearson_interval, jeffreys_interval):
            ends = np.array([(i.lower, i.upper) for i in (interval(int(x), n) for x in k)])
            held = (ends[:, 0] <= true_rates[:, None]) & (true_rates[:, None] <= ends[:, 1])
            covered = (chances * held).sum(axis=1)
            cells.append(f"{covered.mean():.3f} / {covered.min():.3f}")
        at_a_tenth = np.exp(ways + k * math.log(0.1) + (n - k) * math.log(0.9))
        widths = np.array([wilson_interval(int(x), n).width for x in k])
        yield [str(n), *cells, f"{(at_a_tenth * widths).sum():.2f}"]


def clustered() -> Rows:
    """Coverage with several samples of a prompt, 4,000 beta-binomial runs each."""
    yield ["prompts x samples, rate, correlation", "clustered Wilson", "Wilson as if independent"]
    rng = np.random.default_rng(0)
    for prompts, samples, rate, correlation in (
        (10, 5, 0.10, 0.5),
        (25, 5, 0.10, 0.3),
        (25, 5, 0.10, 0.7),
        (25, 5, 0.30, 0.5),
        (25, 5, 0.05, 0.9),
        (100, 5, 0.10, 0.5),
    ):
        spread = (1 - correlation) / correlation
        own_rates = rng.beta(rate * spread, (1 - rate) * spread, size=(4_000, prompts))
        hits = rng.binomial(samples, own_rates)
        counted = np.zeros(2)
        for run in hits.tolist():
            by_prompt = [[True] * hit + [False] * (samples - hit) for hit in run]
            counted += [
                clustered_wilson_interval(by_prompt).holds(rate),
                wilson_interval(sum(run), prompts * samples).holds(rate),
            ]
        name = f"{prompts} x {samples}, {rate:.2f}, {correlation:g}"
        yield [name, *(f"{share:.3f}" for share in counted / 4_000)]


def paired() -> Rows:
    """Coverage of the interval of a difference on the same prompts, 20,000 runs each."""
    yield ["prompts", "share changed one way / the other", "Bonett-Price", "mean width"]
    rng = np.random.default_rng(0)
    interval = lru_cache(maxsize=None)(bonett_price_interval)
    for n in (25, 55, 200):
        for one_way, other_way in ((0.10, 0.05), (0.05, 0.0), (0.02, 0.02)):
            shares = [one_way, other_way, 1 - one_way - other_way]
            found = [interval(b, c, n) for b, c, _ in rng.multinomial(n, shares, 20_000).tolist()]
            covered = np.mean([i.holds(one_way - other_way) for i in found])
            width = np.mean([i.width for i in found])
            yield [str(n), f"{one_way:.2f} / {other_way:.2f}", f"{covered:.3f}", f"{width:.2f}"]


def corrected() -> Rows:
    """Coverage of corrected rates, 2,000 runs of 400 responses each."""
    yield [
        "rate, sensitivity, specificity",
        "audited of each",
        "uncorrected Wilson",
        "this run audited: covers, width",
        "audited elsewhere: covers, width",
        "all read: width",
    ]
    exact = correction.clopper_pearson_interval
    correction.clopper_pearson_interval = lru_cache(maxsize=None)(exact)
    rng, runs, n = np.random.default_rng(0), 2_000, 400
    for rate, se, sp in ((0.05, 0.98, 0.99), (0.05, 0.9, 0.95), (0.3, 0.9, 0.95), (0.9, 0.8, 0.95)):
        for audited in (10, 30, 50):
            covered, widths = np.zeros(3), np.zeros(3)
            for truly in rng.binomial(n, rate, runs).tolist():
                found = int(rng.binomial(truly, se))
                called = found + int(rng.binomial(n - truly, 1 - sp))
                read = [
                    _read(rng, found, called, audited),
                    _read(rng, truly - found, n - called, audited),
                ]
                audit = ClassifierAudit(
                    refusals_found=int(rng.binomial(audited, se)),
                    refusals=audited,
                    answers_found=int(rng.binomial(audited, sp)),
                    answers=audited,
                )
                this_run, elsewhere = audited_rate(read), rogan_gladen(called, n, audit)
                covered += [
                    wilson_interval(called, n).holds(rate),
                    this_run.interval.holds(truly / n),
                    elsewhere.interval.holds(rate),
                ]
                widths += [
                    this_run.interval.width,
                    elsewhere.interval.width,
                    wilson_interval(truly, n).width,
                ]
            share, width = covered / runs, widths / runs
            yield [
                f"{rate:g}, {se:g}, {sp:g}",
                str(audited),
                f"{share[0]:.3f}",
                f"{share[1]:.3f}, {width[0]:.3f}",
                f"{share[2]:.3f}, {width[1]:.3f}",
                f"{width[2]:.3f}",
            ]
    correction.clopper_pearson_interval = exact


def _read(rng: np.random.Generator, true: int, size: int, audited: int) -> Stratum:
    read = min(audited, size)
    hits = int(rng.hypergeometric(true, size - true, read)) if read else 0
    return Stratum(run=size, audited=read, true=hits)


def decisions() -> Rows:
    """What a ceiling decides at confidence level 0.95, in numbers of misses."""
    yield ["ceiling", "n", "observed passes to", "exceeded fails from", "proven passes to"]
    for ceiling in (0.05, 0.10, 0.15, 0.50):
        for n in (6, 25, 100, 400, 1_000):
            passes = {
                decide: [k for k in range(n + 1) if _holds(k, n, ceiling, decide)]
                for decide in Decide
            }
            exceeded, proven = max(passes[Decide.EXCEEDED]) + 1, passes[Decide.PROVEN]
            yield [
                f"{ceiling:.2f}",
                str(n),
                str(max(passes[Decide.OBSERVED])),
                str(exceeded),
                str(max(proven)) if proven else "never",
            ]


def _holds(misses: int, n: int, ceiling: float, decide: Decide) -> bool:
    limited = LimitedRate(rate=Rate(misses, n), limit=ceiling, decide=decide)
    return decide_limits([limited])[0].passed


def chance() -> Rows:
    """The mean ECE, in 10 bins, of a perfectly calibrated policy."""
    yield ["outcomes", "all at 0.9", "0.7, 0.8, 0.9", "nine values, 0.55 to 0.95"]
    spreads = ([0.9], [0.7, 0.8, 0.9], [0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95])
    for n in (25, 55, 100, 500, 1_000):
        cells = []
        for values in spreads:
            counts = Counter((values[i % len(values)], True) for i in range(n))
            cells.append(f"{chance_level(counts, 10):.3f}")
        yield [str(n), *cells]


TABLES: dict[str, Callable[[], Rows]] = {
    table.__name__: table for table in (rates, clustered, paired, corrected, decisions, chance)
}


def markdown(rows: Rows) -> str:
    """Write rows, the first of them the header, as a table."""
    header, *body = rows
    lines = [header, ["---"] * len(header), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main(names: list[str]) -> None:
    for name in names or TABLES:
        print(f"{TABLES[name].__doc__}\n\n{markdown(TABLES[name]())}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
