"""A share of prompts, kept as the integers it was counted in. Does not count by itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rate:
    """How many of how many, and how many more there would be had all been evaluated.

    unevaluated: what belongs to the denominator but ended without a verdict.
    higher_is_better: true of accuracy, false of every rate of something gone wrong.
    """

    numerator: int
    denominator: int
    unevaluated: int = 0
    higher_is_better: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.numerator <= self.denominator or self.unevaluated < 0:
            msg = (
                f"not a rate: {self.numerator} of {self.denominator}, "
                f"{self.unevaluated} unevaluated"
            )
            raise ValueError(msg)

    @property
    def value(self) -> float | None:
        """The rate; None without a denominator.

        One division of integers: the nearest double of the true fraction, so that 3 of 20
        equals a ceiling of 0.15.
        """
        return self.numerator / self.denominator if self.denominator else None

    @property
    def worst_case(self) -> float | None:
        """The rate if everything unevaluated had gone wrong; None if there is nothing at all."""
        total = self.denominator + self.unevaluated
        gone_wrong = 0 if self.higher_is_better else self.unevaluated
        return (self.numerator + gone_wrong) / total if total else None
