"""Paths as they were given in options."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def given_path(config: pytest.Config, typed: str) -> Path:
    """Return the path that an option means: from where pytest was called, `~` expanded."""
    return config.invocation_params.dir / at_home(typed)


def at_home(typed: str) -> str:
    """Expand `~` in `PATH` or `PATH::POLICY`: no shell does so behind the `=` of an option."""
    return os.path.expanduser(typed)  # noqa: PTH111  # a path may be followed by a policy
