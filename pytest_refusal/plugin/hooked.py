"""Policies and classifiers that a conftest.py or another plugin gives by a hook."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import pytest

from pytest_refusal import foreign
from pytest_refusal.errors import SettingsError
from pytest_refusal.registry import BUILT_IN_CLASSIFIERS, BUILT_IN_POLICIES


def hooked_policies(config: pytest.Config) -> dict[str, object]:
    """Return the policies of all hooks by name.  Raises SettingsError with every fault."""
    ask = config.hook.pytest_refusal_policies
    return _merged(ask, "pytest_refusal_policies", "policy", "policies", BUILT_IN_POLICIES)


def hooked_classifiers(config: pytest.Config) -> dict[str, object]:
    """Return the classifiers of all hooks by name.  Raises SettingsError with every fault."""
    ask = config.hook.pytest_refusal_classifiers
    kinds = {spec.partition(":")[0] for spec in BUILT_IN_CLASSIFIERS}
    return _merged(ask, "pytest_refusal_classifiers", "classifier", "classifiers", kinds)


def _merged(
    ask: Callable[[], list[object]], hook: str, one: str, many: str, built_in: Collection[str]
) -> dict[str, object]:
    merged: dict[str, object] = {}
    faults = []
    try:
        answers = ask()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a hook is somebody else's code, and may exit or skip
        raise SettingsError([f"{hook}: {foreign.describe(error)}"]) from error
    for answer in answers:
        if not isinstance(answer, Mapping):
            faults.append(
                f"{hook}: must return a mapping of names to {many}, not {type(answer).__name__}"
            )
            continue
        for name, given in answer.items():
            if (why := _no_name(name, one, merged, built_in)) is not None:
                faults.append(f"{hook}: {why}")
            merged[str(name)] = given
    if faults:
        raise SettingsError(faults)
    return merged


def _no_name(
    name: object, one: str, taken: Mapping[str, object], built_in: Collection[str]
) -> str | None:
    if not isinstance(name, str) or not name.strip() or "," in name:
        return f"{name!r} is no name; it must be a text without commas"
    if name in taken:
        return f"the {one} {name!r} is given twice"
    if name in built_in:
        return f"{name!r} is the name of a built-in {one}"
    return None
