"""Hooks by which a conftest.py or another plugin adds to ours. Imports pluggy only.

They carry pytest's own marker, so that a function in someone's conftest.py is found by its
name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pluggy

hookspec = pluggy.HookspecMarker("pytest")


@hookspec
def pytest_refusal_policies() -> Mapping[str, Any]:  # type: ignore[empty-body]  # a spec
    """Return policies by name: callables, or objects with the shape of `Policy`.

    Called once in each process of an active run, before collection, in the controller and
    in each worker of xdist.  The answers of all are merged; a name given twice, or the name
    of a built-in policy, is a usage error.
    """


@hookspec
def pytest_refusal_classifiers() -> Mapping[str, Any]:  # type: ignore[empty-body]  # a spec
    """Return classifiers by name: objects with the shape of `Classifier`, or classes of them.

    Called when `pytest_refusal_policies` is; a class is called without arguments, once for
    each policy of the run.  The answers of all are merged; a name given twice, or the name of
    a built-in classifier, is a usage error.
    """
