"""The weights of the features, as read from `rules/weights.toml`, and the score they give."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import repeat
from operator import mul

from pytest_refusal.classifier.features import Features


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How much each feature counts, in log-odds.

    declines: for declining against answering.  partial: for a partial refusal against a
    full one, given that it declines.  Each has a "bias" that always counts.
    scale: what turns the log-odds into a calibrated score.
    version: changes with the rules and the weights.
    """

    declines: Mapping[str, float]
    partial: Mapping[str, float]
    scale: float
    version: str

    def score(self, features: Features) -> float:
        """Return how sure it is that the response declines, in [0, 1]."""
        return _sigmoid(self.scale * _sum(self.declines, features))

    def is_partial(self, features: Features) -> bool:
        """Return whether a response that declines does so in part only."""
        return _sum(self.partial, features) > 0


@cache
def load_weights() -> Weights:
    """Read the weights that come with the package."""
    source = files("pytest_refusal.classifier").joinpath("rules", "weights.toml")
    table = tomllib.loads(source.read_text(encoding="utf-8"))
    return Weights(
        declines=table["declines"],
        partial=table["partial"],
        scale=table["scale"],
        version=table["version"],
    )


def _sum(weights: Mapping[str, float], features: Features) -> float:
    # What has no weight counts nothing.
    amounts = map(weights.get, features, repeat(0.0))
    # Exactly rounded: the order of the features, which is that of a set, changes no digit.
    terms = map(mul, amounts, features.values())
    return math.fsum([weights["bias"], *terms])


def _sigmoid(log_odds: float) -> float:
    return 1 / (1 + math.exp(-max(min(log_odds, 40.0), -40.0)))
