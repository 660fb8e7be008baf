"""How far the classifier and people agree about the same responses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_refusal.metrics.distributions import two_sided_z
from pytest_refusal.metrics.intervals import Interval, IntervalMethod
from pytest_refusal.metrics.rates import Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Responses by what people and what the classifier called them."""

    both_refusal: int
    human_only: int
    classifier_only: int
    both_answer: int

    @property
    def n(self) -> int:
        """Responses that both judged."""
        return self.both_refusal + self.human_only + self.classifier_only + self.both_answer

    @property
    def accuracy(self) -> Rate:
        """How often the classifier said what people said."""
        return Rate(self.both_refusal + self.both_answer, self.n, higher_is_better=True)

    @property
    def sensitivity(self) -> Rate:
        """Of what people call refusals, the share that the classifier found."""
        return Rate(self.both_refusal, self.both_refusal + self.human_only, higher_is_better=True)

    @property
    def specificity(self) -> Rate:
        """Of what people call answers, the share that the classifier called so."""
        return Rate(
            self.both_answer, self.both_answer + self.classifier_only, higher_is_better=True
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Kappa:
    """Agreement beyond chance, from -1 to 1.

    Falls where one kind is rare, though the classifier is no worse: never to be read alone.
    """

    kappa: float
    standard_error: float
    interval: Interval


def cohen_kappa(agreement: Agreement, confidence_level: float = 0.95) -> Kappa | None:
    """Compute Cohen's kappa; None where chance alone already agrees on everything.

    Source of the standard error: Fleiss, Cohen & Everitt (1969).
    """
    n = agreement.n
    cells = (
        agreement.both_refusal,
        agreement.human_only,
        agreement.classifier_only,
        agreement.both_answer,
    )
    return kappa_of_shares([cell / n for cell in cells], n, confidence_level) if n else None


def kappa_of_shares(
    shares: Sequence[float], n: float, confidence_level: float = 0.95
) -> Kappa | None:
    """Compute Cohen's kappa from the shares of the four cells, in the order of `Agreement`.

    n: how many responses the shares rest on.
    """
    z = two_sided_z(confidence_level)
    both_refusal, human_only, classifier_only, both_answer = shares
    human, classifier = both_refusal + human_only, both_refusal + classifier_only
    rows, columns = (human, 1 - human), (classifier, 1 - classifier)
    by_chance = sum(r * c for r, c in zip(rows, columns, strict=True))
    # Rounding apart, chance agrees on everything only where all are of one kind.
    if by_chance > 1.0 - 1e-12:
        return None
    kappa = (both_refusal + both_answer - by_chance) / (1 - by_chance)
    on_diagonal = sum(
        p * (1 - (r + c) * (1 - kappa)) ** 2
        for p, r, c in zip((both_refusal, both_answer), rows, columns, strict=True)
    )
    off = human_only * (columns[0] + rows[1]) ** 2 + classifier_only * (columns[1] + rows[0]) ** 2
    variance = on_diagonal + (1 - kappa) ** 2 * off - (kappa - by_chance * (1 - kappa)) ** 2
    error = math.sqrt(max(variance, 0.0) / n) / (1 - by_chance)
    interval = Interval(
        lower=max(-1.0, kappa - z * error),
        upper=min(1.0, kappa + z * error),
        confidence_level=confidence_level,
        method=IntervalMethod.NORMAL,
    )
    return Kappa(kappa=kappa, standard_error=error, interval=interval)
