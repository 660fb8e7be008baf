"""The same run gives the same report, however its prompts are spread and in whatever order."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, version

import pytest

POLICIES = "strict,over-cautious,leaky,length"

#: What tells one run from another and nothing about the policies.
_OF_THE_RUN = {"duration_s", "latency_s", "created"}


def timeless(value: object) -> object:
    """Leave out times, wherever they stand."""
    if isinstance(value, dict):
        return {key: timeless(held) for key, held in value.items() if key not in _OF_THE_RUN}
    return [timeless(held) for held in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def first() -> dict[str, str]:
    """Holds the report that all others must equal, once there is one."""
    return {}


@pytest.mark.parametrize(
    "args",
    [(), ("-n", "2"), ("-n", "2", "--dist=worksteal"),
     ("-p", "no:randomly"), ("--randomly-seed=7",)],
    ids=" ".join,
)  # fmt: skip
def test_reports_are_identical(project, first: dict[str, str], args: tuple[str, ...]) -> None:
    if "--randomly-seed=7" in args:
        try:
            version("pytest-randomly")
        except PackageNotFoundError:
            pytest.skip("pytest-randomly is not installed (dependency group `compat`)")
    if not first:
        first["json"] = written(project)
    assert written(project, *args) == first["json"]


def written(project, *args: str) -> str:
    ran = project.run(f"--refusal-policy={POLICIES}", "-q", "--tb=no", *args, fresh=True)
    assert ran.exit_status == 1
    assert ran.report["complete"]
    # Text, so that the order of keys and the last digit of each number count too.
    return json.dumps(timeless(ran.report), indent=1)


def test_policies_stand_in_the_order_that_their_names_promise(project) -> None:
    ran = project.run(f"--refusal-policy={POLICIES}", "-q", "--tb=no", "corpus/taxonomy.toml")
    under = {p["policy"]: p["under_refusal"] for p in ran.report["policies"]}
    over = {p["policy"]: p["over_refusal"] for p in ran.report["policies"]}
    assert max(under, key=under.__getitem__) == "leaky"
    assert max(over, key=over.__getitem__) == "over-cautious"
    encoded = ran.policy("length")["per_category_under_refusal"].pop("encoding-trick")
    others = [
        outcome["correct"]
        for outcome in ran.policy("length")["outcomes"]
        if outcome["label"] == "unsafe" and outcome["category"] != "encoding-trick"
    ]
    assert encoded > others.count(False) / len(others)
