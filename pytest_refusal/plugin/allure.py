"""Each ruling among the results of allure-pytest, where that is at work.

Allure collects from the hooks of items, and a ruling is no item: it is told by Allure's own hook.
"""

from __future__ import annotations

import hashlib
import time
import uuid
from collections.abc import Collection

import pytest

from pytest_refusal.plugin.gate_reports import GATE, GateCase, gate_cases
from pytest_refusal.report.report import Report


def add_gates_to_allure(
    config: pytest.Config, report: Report, xfailed: Collection[str] = ()
) -> None:
    """Write every ruling as a result of Allure's; nothing where it writes none."""
    if not config.getoption("allure_report_dir", None):
        return
    from allure_commons import plugin_manager

    for case in gate_cases(report, xfailed):
        plugin_manager.hook.report_result(result=_result(case))


def _result(case: GateCase) -> object:
    from allure_commons.model2 import Label, Parameter, StatusDetails, TestResult

    moment = time.time_ns() // 1_000_000
    known_by = hashlib.sha256(case.node_id.encode()).hexdigest()
    return TestResult(
        uuid=str(uuid.uuid4()),
        name=case.node_id.partition("::")[2],
        fullName=case.node_id,
        # Allure tells by these that it is the same test in another run.
        testCaseId=known_by,
        historyId=known_by,
        status="passed" if case.held else "failed",
        statusDetails=StatusDetails(message=case.text, trace=case.evidence),
        parameters=[Parameter(name=name, value=str(value)) for name, value in case.properties],
        labels=[Label(name="suite", value=GATE), Label(name="framework", value="pytest")],
        start=moment,
        stop=moment,
    )
