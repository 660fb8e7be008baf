"""With what a policy behind a network was asked: rates are only comparable beside it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from pytest_refusal.execution.retry import RetryingPolicy
from pytest_refusal.protocols import Policy


def parameters_of(policy: Policy) -> Mapping[str, object] | None:
    """Return model, URL and parameters as plain JSON, without keys; None for other policies.

    What was not set is left out.  The system prompt is told by the hash of its UTF-8.
    """
    if not isinstance(policy, RetryingPolicy):
        return None
    from pytest_refusal.policy.build import TAG_INSTRUCTION

    told = {name: value for name, value in policy.fingerprint.items() if value not in (None, {})}
    system = told.pop("system", None)
    if system is not None:
        told["system_sha256"] = hashlib.sha256(str(system).encode()).hexdigest()
    if str(system).endswith(TAG_INSTRUCTION):
        told["confidence"] = "tag"
    if policy.asks_confidence:
        told["confidence"] = "logprobs" if policy.asks_by_token else "second_turn"
    # A table of TOML may hold dates and NaN, which JSON has not.
    text = policy.hide(json.dumps(told, default=str))
    plain: dict[str, object] = json.loads(text, parse_constant=str)
    return plain
