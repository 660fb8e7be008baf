"""The rates of a run as properties of the suite in JUnit's XML."""

from __future__ import annotations

import pytest
from _pytest.junitxml import xml_key

from pytest_refusal.plugin.node_ids import unique_slugs
from pytest_refusal.report.findings import bare_ece, rate_figures
from pytest_refusal.report.report import Report


def add_suite_properties(config: pytest.Config, report: Report) -> None:
    """Add the numbers of each policy, as in the JSON; nothing where no XML is written.

    The fixture for this gets lost under xdist, and pytest has no public way for a plugin.
    """
    xml = config.stash.get(xml_key, None)
    if xml is None:
        return
    slugs = unique_slugs(policy.policy for policy in report.policies)
    for policy in report.policies:
        passed = {True: "passed", False: "failed", None: "not ruled on"}[policy.gate.passed]
        numbers = {
            "gate": passed,
            "planned": str(policy.planned),
            "evaluated": str(policy.evaluated),
            "unevaluated": str(policy.unevaluated),
        }
        for figure in (*rate_figures(policy), bare_ece(policy)):
            name = figure.name.replace("-", "_").lower()
            numbers[name] = "null" if figure.value is None else repr(figure.value)
            if figure.rate is not None:
                numbers[f"{name}_of"] = f"{figure.rate.numerator}/{figure.rate.denominator}"
        for name, value in numbers.items():
            xml.add_global_property(f"refusal.{slugs[policy.policy]}.{name}", value)
