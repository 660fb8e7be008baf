"""Whether the model that answered is the one that was asked. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from pytest_refusal.outcome import Evaluated
from pytest_refusal.report.report import PolicyReport

# What providers put behind the name that they were asked for: a date, a version, a channel.
_VERSION = re.compile(r"(?:[-@:](?:latest|preview|exp|free|v?\d[\d.]*))*\Z")


def other_models(policy: PolicyReport) -> Mapping[str, int]:
    """Count the responses by models that were not asked, by the name that they gave.

    A router or a fallback lets another model answer, also where the one under test declined.
    """
    asked = (policy.parameters or {}).get("model")
    if not isinstance(asked, str):
        return {}
    answered = Counter(
        outcome.response.model
        for outcome in policy.outcomes
        if isinstance(outcome, Evaluated) and outcome.response.model
    )
    return {model: n for model, n in sorted(answered.items()) if not is_same_model(asked, model)}


def is_same_model(asked: str, answered: str) -> bool:
    """Whether two names may be of one model, but for its provider, its date or its channel."""
    shorter, longer = sorted((_bare(asked), _bare(answered)), key=len)
    return longer.startswith(shorter) and _VERSION.match(longer, len(shorter)) is not None


def _bare(model: str) -> str:
    return model.lower().rpartition("/")[2].removesuffix("-latest")
