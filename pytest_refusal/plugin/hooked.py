"""Policies that a conftest.py or another plugin gives by a hook."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pytest_refusal import foreign
from pytest_refusal.errors import SettingsError
from pytest_refusal.registry import BUILT_IN_POLICIES


def hooked_policies(config: pytest.Config) -> dict[str, object]:
    """Return the policies of all hooks by name.  Raises SettingsError with every fault."""
    merged: dict[str, object] = {}
    faults = []
    try:
        answers: list[object] = config.hook.pytest_refusal_policies()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a hook is somebody else's code, and may exit or skip
        raise SettingsError([f"pytest_refusal_policies: {foreign.describe(error)}"]) from error
    for answer in answers:
        if not isinstance(answer, Mapping):
            faults.append(
                "pytest_refusal_policies: must return a mapping of names to policies,"
                f" not {type(answer).__name__}"
            )
            continue
        for name, policy in answer.items():
            if (why := _no_name(name, merged)) is not None:
                faults.append(f"pytest_refusal_policies: {why}")
            merged[str(name)] = policy
    if faults:
        raise SettingsError(faults)
    return merged


def _no_name(name: object, taken: Mapping[str, object]) -> str | None:
    if not isinstance(name, str) or not name.strip() or "," in name:
        return f"{name!r} is no name; it must be a text without commas"
    if name in taken:
        return f"the policy {name!r} is given twice"
    if name in BUILT_IN_POLICIES:
        return f"{name!r} is the name of a built-in policy"
    return None
