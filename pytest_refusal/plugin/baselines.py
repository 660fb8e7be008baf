"""The earlier report of a run: which it is, and whether there must be one."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pytest_refusal.errors import ReportError, SettingsError
from pytest_refusal.plugin.given_paths import at_home
from pytest_refusal.report.baseline import Baseline, read_baselines
from pytest_refusal.settings import TABLE, Settings

#: What to do where limits on getting worse have nothing to be held against.
NEEDS_BASELINE = (
    f"{TABLE}.regression: needs an earlier report; name one with `baseline` in that table or with"
    " --refusal-baseline=PATH"
)


def baselines_given(
    config: pytest.Config, settings: Settings, *, is_whole: bool
) -> Mapping[str, Baseline]:
    """Return the baseline of each policy that has one; the option stands above the table.

    is_whole: whether the corpora are to be run whole, as far as can be told before collection;
    a part is held to no limit, and does without the report that the table names.
    Raises ReportError for a file that cannot be used, SettingsError where one is missing.
    """
    typed: str | None = config.option.refusal_baseline
    if typed is not None:
        folder = config.invocation_params.dir
        return read_baselines(at_home(typed), settings.policies, folder=folder)
    if settings.baseline is not None:
        try:
            return read_baselines(
                at_home(settings.baseline), settings.policies, folder=settings.base
            )
        except ReportError:
            if is_whole:
                raise
    elif settings.regression and is_whole:
        raise SettingsError([NEEDS_BASELINE])
    return {}


def selects_part(config: pytest.Config) -> bool:
    """Whether an option of pytest may leave tests out."""
    option = config.option
    # Those of plugins may be absent.
    return any(getattr(option, name, None) for name in ("keyword", "markexpr", "deselect", "lf"))
