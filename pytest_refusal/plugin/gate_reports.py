"""Each ruling as a test report of its own, for JUnit and every other consumer of reports."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Literal, NamedTuple

import pytest
from _pytest._code.code import (
    ReprEntryNative,
    ReprExceptionInfo,
    ReprFileLocation,
    ReprTraceback,
)

from pytest_refusal.escape import one_line
from pytest_refusal.gate import Ruling, covers
from pytest_refusal.outcome import Evaluated
from pytest_refusal.plugin.node_ids import slug, unique_slugs
from pytest_refusal.report.report import PolicyReport, Report

GATE = "refusal-gate"

_Phase = Literal["setup", "call", "teardown"]
_PHASES: tuple[_Phase, ...] = ("setup", "call", "teardown")

# These are no items: they stay out of the caches of failures, of the progress, of --maxfail.
_NOT_FOR = (
    "lfplugin",
    "nfplugin",
    "stepwiseplugin",
    "session",
    "terminalreporter",
    "terminalprogress",
    "refusal-session",
)


# As many prompts stand below a ruling that failed.
_MOST_NAMED = 10


def announce_gates(config: pytest.Config, report: Report, xfailed: Collection[str] = ()) -> None:
    """Report every ruling to the plugins that write files, and to the terminal's counts.

    xfailed: the node ids of misjudged prompts that no failure of their own tells of.
    """
    manager = config.pluginmanager
    absent = [plugin for name in _NOT_FOR if (plugin := manager.get_plugin(name)) is not None]
    announce = manager.subset_hook_caller("pytest_runtest_logreport", absent)
    terminal = manager.get_plugin("terminalreporter")
    for case in gate_cases(report, xfailed):
        for when in _PHASES:
            made = _test_report(when, case)
            announce(report=made)
            if when == "call" and terminal is not None:
                terminal._add_stats(made.outcome, [made])  # noqa: SLF001  # the only way


class GateCase(NamedTuple):
    """One ruling as a test.  text, prompts, properties: its evidence, safe for any report.

    prompts: lines about misjudged prompts that are told of nowhere else.
    """

    node_id: str
    held: bool
    text: str
    properties: list[tuple[str, object]]
    prompts: tuple[str, ...] = ()

    @property
    def evidence(self) -> str:
        """The text, and a line for each prompt."""
        return "\n".join((self.text, *(f"  {prompt}" for prompt in self.prompts)))


def gate_cases(report: Report, xfailed: Collection[str] = ()) -> Iterator[GateCase]:
    """Yield each ruling of each policy, in the order of both."""
    slugs = unique_slugs(policy.policy for policy in report.policies)
    for policy in report.policies:
        where = slugs[policy.policy]
        for ruling in policy.gate.rulings:
            yield GateCase(
                node_id=f"{GATE}::{_name(ruling)}[{where}]",
                held=ruling.held,
                text=one_line(f"{ruling.ceiling.name} of {policy.policy}: {ruling.reason}"),
                properties=_properties(policy, ruling),
                prompts=() if ruling.held else tuple(_misjudged(policy, ruling, xfailed)),
            )
        for limit in policy.gate.regression:
            value = "null" if limit.value is None else repr(limit.value)
            yield GateCase(
                node_id=f"{GATE}::regression.{limit.name}[{where}]",
                held=limit.held,
                text=one_line(f"{limit.name} of {policy.policy}: {limit.reason}"),
                properties=[
                    ("policy", one_line(policy.policy)),
                    (limit.name, value),
                    ("limit", repr(limit.limit)),
                ],
            )


def _misjudged(policy: PolicyReport, ruling: Ruling, xfailed: Collection[str]) -> Iterator[str]:
    found = [
        outcome.trial.node_id
        for outcome in policy.outcomes
        if isinstance(outcome, Evaluated)
        and outcome.trial.node_id in xfailed
        and covers([ruling.ceiling], outcome.trial.prompt.label, outcome.trial.prompt.category)
    ]
    yield from map(one_line, found[:_MOST_NAMED])
    if more := len(found[_MOST_NAMED:]):
        yield f"and {more} more"
    if found:
        yield "what was said: run one of them alone, by its node id"


def _name(ruling: Ruling) -> str:
    ceiling = ruling.ceiling
    if ceiling.category is None:
        return ceiling.measure.value
    return f"{ceiling.measure.value}_by_category.{slug(ceiling.category)}"


def _test_report(when: _Phase, case: GateCase) -> pytest.TestReport:
    failed = when == "call" and not case.held
    return pytest.TestReport(
        nodeid=case.node_id,
        location=(GATE, None, case.node_id.partition("::")[2]),
        keywords={},
        outcome="failed" if failed else "passed",
        longrepr=_broken(case) if failed else None,
        when=when,
        user_properties=case.properties,
    )


def _broken(case: GateCase) -> ReprExceptionInfo:
    return ReprExceptionInfo(
        reprtraceback=ReprTraceback([ReprEntryNative([case.evidence, "\n"])], None, style="native"),
        reprcrash=ReprFileLocation(GATE, 0, case.text),
    )


def _properties(policy: PolicyReport, ruling: Ruling) -> list[tuple[str, object]]:
    rate = ruling.rate
    value = "null" if ruling.value is None else repr(ruling.value)
    found: list[tuple[str, object]] = [
        ("policy", one_line(policy.policy)),
        (one_line(ruling.ceiling.name), value),
        ("ceiling", repr(ruling.ceiling.limit)),
        ("held", "true" if ruling.held else "false"),
    ]
    if rate is not None:
        found.append(("fraction", f"{rate.numerator}/{rate.denominator}"))
        found.append(("unevaluated", str(rate.unevaluated)))
    return found
