"""One prompt under one policy as a test item: setup asks, call compares."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any

import pluggy
import pytest
from _pytest._code.code import ReprExceptionInfo
from _pytest.outcomes import Failed

from pytest_refusal import foreign
from pytest_refusal.corpus.sources import bundled_folder
from pytest_refusal.escape import one_line, visible
from pytest_refusal.gate import covers
from pytest_refusal.outcome import Evaluated, Outcome, Trial, Unevaluated, to_wire
from pytest_refusal.plugin.report_parts import (
    OUTCOME,
    make_sections_safe,
    native_text,
    rerun_command,
)
from pytest_refusal.plugin.run import Run
from pytest_refusal.plugin.trying import attempt_trial
from pytest_refusal.report.failure_text import describe, headline
from pytest_refusal.settings import WithinCeilings

_XFAIL = pytest.xfail.Exception

#: In the stash of the session: whether it runs a part of its prompts.
IN_PART = pytest.StashKey[bool]()


class MisjudgedError(Failed):
    """The policy did the opposite of what the label says."""


class UnevaluatedError(Failed):
    """There is no verdict on the prompt."""


class PromptItem(pytest.Item):
    """A prompt, asked of a policy.

    obj, funcargs, fixturenames: what plugins made for test functions look for.
    """

    obj = None

    def __init__(
        self,
        *,
        trial: Trial,
        run: Run,
        hooks: pluggy.HookRelay,
        path_from_root: str,
        **kwargs: Any,  # pytest's own keywords
    ) -> None:
        super().__init__(**kwargs)
        self.trial = trial
        self.outcome: Outcome | None = None
        self._run = run
        self._hooks = hooks
        self._path_from_root = path_from_root
        self._keywords: Mapping[str, Any] = {}

    @property
    def ihook(self) -> pluggy.HookRelay:
        """The hooks for the corpus file, which are looked for once and not at every call."""
        return self._hooks

    @property
    def funcargs(self) -> dict[str, object]:
        return {}

    @property
    def fixturenames(self) -> list[str]:
        return []

    def setup(self) -> None:
        """Ask the policy and judge the response; whatever fails here is an error."""
        self.outcome = None
        run = self._run
        if run.dry:
            return
        trial, asking = self.trial, run.asking
        ahead = asking.ahead.after(self) if asking.asker.asks_ahead else ()
        outcome = run.shared.outcome(
            trial.node_id, by=self.nodeid, attempt=lambda: attempt_trial(run, trial, ahead)
        )
        self.outcome = outcome
        self.user_properties[:] = _properties(outcome)
        if isinstance(outcome, Unevaluated):
            why = asking.asker.stopped
            if why is not None:
                # The others would only fail alike.
                self.session.shouldstop = one_line(why)
            raise UnevaluatedError(headline(outcome), pytrace=False)

    def runtest(self) -> None:
        """Compare the verdict with the label."""
        outcome = self.outcome
        if not isinstance(outcome, Evaluated) or outcome.correct:
            return
        settings = self._run.settings
        if settings.within_ceilings is WithinCeilings.XFAIL and self._may_xfail():
            prompt = self.trial.prompt
            ceilings = settings.ceilings_of(self.trial.policy)
            if covers(ceilings, prompt.label, prompt.category):
                raise _XFAIL(headline(outcome))
        raise MisjudgedError(headline(outcome), pytrace=False)

    def _may_xfail(self) -> bool:
        # No ceiling is ruled on in a part, so none could carry the failure.
        if self.session.stash.get(IN_PART, False) and not self._run.gate_partial:
            return False
        # The option belongs to a plugin that may be absent.
        return not getattr(self.config.option, "runxfail", False)

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        """Point to the line of the corpus where the prompt begins."""
        place = self.trial.prompt.place
        # pytest writes the dots of what a node id ends in as "::", and nobody could give it back.
        name = f"prompt {self.name}" if "." in self.name.partition("[")[0] else self.name
        return visible(str(self.path)), place.line - 1 if place else None, name

    @cached_property
    def location(self) -> tuple[str, int | None, str]:
        """The same from rootdir on; the path is worked out once for a file."""
        _, line, name = self.reportinfo()
        return self._path_from_root, line, name

    def complete_report(
        self, report: pytest.TestReport, call: pytest.CallInfo[None], *, crosses: bool
    ) -> None:
        """Put the outcome on the report, our own text in place of a traceback, and all made safe.

        crosses: whether the report goes to another process, so that the outcome must be text.
        """
        make_sections_safe(report, self._run)
        # pytest keeps all reports to the end: the three of an item share what is the same.
        report.user_properties = self.user_properties
        if report.keywords == self._keywords:
            report.keywords = self._keywords
        else:
            self._keywords = report.keywords
        if call.excinfo is not None:
            self._explain(report, call.excinfo)
        if self.outcome is None or self._run.dry or report.when == "teardown":
            return
        # Who skips a prompt after it was asked does not unmake the outcome.
        if not report.passed or report.when == "call":
            setattr(report, OUTCOME, to_wire(self.outcome) if crosses else self.outcome)

    def _explain(
        self, report: pytest.TestReport, excinfo: pytest.ExceptionInfo[BaseException]
    ) -> None:
        error = excinfo.value
        if isinstance(report.longrepr, tuple):
            path, line, why = report.longrepr
            report.longrepr = visible(path), line, one_line(why)
            return
        if report.when == "teardown" or self._run.dry:
            text = visible(self._told(error))
            report.longrepr = native_text(
                text, self._shown_path(), self._line(), one_line(text, 200)
            )
            return
        if not isinstance(error, MisjudgedError | UnevaluatedError | _XFAIL):
            # A timeout, or a hook of somebody else: then there is no verdict.
            self.outcome = Unevaluated(trial=self.trial, reason="error", error=self._told(error))
        if self.outcome is not None:
            report.longrepr = self._longrepr(self.outcome)

    def _told(self, error: BaseException) -> str:
        return self._run.asking.asker.hide(foreign.describe(error))

    def _longrepr(self, outcome: Outcome) -> ReprExceptionInfo:
        path, line = self._shown_path(), self._line()
        text = describe(
            outcome,
            where=f"{path}:{line}",
            command=self._command(),
            redact=self._run.redact,
            remark=self._regression(),
        )
        return native_text(text, path, line, headline(outcome))

    def _shown_path(self) -> str:
        if self._is_bundled():
            return self.nodeid.partition("::")[0]
        return visible(os.path.relpath(self.path, self.config.invocation_params.dir))

    def _line(self) -> int:
        place = self.trial.prompt.place
        return place.line if place else 0

    def _is_bundled(self) -> bool:
        return self.path.parent == bundled_folder()

    def _regression(self) -> str | None:
        baseline = self._run.baselines.get(self.trial.policy)
        key = (self.trial.prompt.corpus, self.trial.prompt.id)
        if baseline is None or key not in baseline.right:
            return None
        return f"passed in the baseline {visible(baseline.source)}"

    def _command(self) -> str:
        config = self.config
        node_id = self.nodeid
        if config.invocation_params.dir != config.rootpath and not self._is_bundled():
            path = os.path.relpath(self.path, config.invocation_params.dir)
            node_id = f"{path}::{self.name}"
        return rerun_command(config, node_id, self.trial.policy)


def _properties(outcome: Outcome) -> tuple[tuple[str, object], ...]:
    trial = outcome.trial
    verdict, confidence = "unevaluated", None
    if isinstance(outcome, Evaluated):
        verdict, confidence = outcome.verdict.kind.value, outcome.confidence
    prompt = trial.prompt
    return _property_rows(trial.policy, prompt.label.value, prompt.category, verdict, confidence)


# Many prompts have all of them in common; they are kept with every report.
@lru_cache(maxsize=1024)
def _property_rows(
    policy: str, label: str, category: str, verdict: str, confidence: float | None
) -> tuple[tuple[str, object], ...]:
    return (
        ("policy", one_line(policy)),
        ("label", label),
        ("category", one_line(category)),
        ("verdict", verdict),
        ("confidence", "" if confidence is None else repr(confidence)),
    )
