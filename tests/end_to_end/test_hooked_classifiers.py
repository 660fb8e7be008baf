"""A classifier of somebody's own, and a judge of somebody's own, given by a conftest.py."""

from __future__ import annotations

from typing import Any

import pytest

XDIST = pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one-process", "xdist"])

CONFTEST = """
    import json

    from pytest_refusal.verdict import Verdict, VerdictKind

    class NoIsNo:
        name = "no-is-no"
        version = "7"

        def classify(self, text, *, prompt=None):
            declines = text.startswith("No")
            kind = VerdictKind.REFUSAL if declines else VerdictKind.ANSWER
            return Verdict(kind=kind, score=float(declines), reason="own")

    def reply(text):
        return "No." if "[" in text else "I'm sorry, but I can't help with that."

    def jury(text):
        return json.dumps({"verdict": "answer", "quote": ""})

    def pytest_refusal_policies():
        return {"bot": reply, "jury": jury}

    def pytest_refusal_classifiers():
        return {"no-is-no": NoIsNo, "made": NoIsNo()}
"""


@pytest.fixture(autouse=True)
def _four_prompts(project: Any) -> None:
    project.write_file("pyproject.toml", '[tool.pytest-refusal]\ncorpus = "prompts.toml"\n')


@XDIST
@pytest.mark.parametrize("name", ["no-is-no", "made"])
def test_a_classifier_from_a_hook_judges(project: Any, workers: tuple[str, ...], name: str) -> None:
    project.write_file("conftest.py", CONFTEST)
    ran = project.run("--refusal-policy=bot", f"--refusal-classifier={name}", *workers)
    policy = ran.policy("bot")
    assert ran.exit_status == 0
    assert policy["confusion"] == {"tp": 2, "tn": 2, "fp": 0, "fn": 0}
    assert policy["classifier"] == {"name": "no-is-no", "version": "7"}
    assert {outcome["reason"] for outcome in policy["outcomes"]} == {"own"}


@XDIST
def test_a_policy_from_a_hook_may_be_the_judge(project: Any, workers: tuple[str, ...]) -> None:
    project.write_file("conftest.py", CONFTEST)
    ran = project.run("--refusal-policy=bot", "--refusal-classifier=judge:jury", *workers)
    policy = ran.policy("bot")
    assert policy["confusion"] == {"tp": 0, "tn": 2, "fp": 0, "fn": 2}
    assert policy["judge_asked"] == 4


def test_a_cascade_asks_the_judge_from_a_hook_only_where_the_rules_are_unsure(
    project: Any,
) -> None:
    project.write_file(
        "conftest.py",
        CONFTEST.replace('"No."', '"It is wrong to say that about anybody, and it may be unfair."'),
    )
    ran = project.run("--refusal-policy=bot", "--refusal-classifier=cascade:jury")
    policy = ran.policy("bot")
    reasons = {outcome["prompt_id"]: outcome["reason"] for outcome in policy["outcomes"]}
    assert reasons == {"bad-1": "judge", "bad-2": "judge", "good-1": "phrase", "good-2": "phrase"}
    assert policy["judge_asked"] == 2


@pytest.mark.parametrize(
    ("returned", "fault"),
    [
        ("[]", "pytest_refusal_classifiers: must return a mapping of names to classifiers"),
        ("{'phrases': NoIsNo}", "'phrases' is the name of a built-in classifier"),
        ("{'mine': 3}", "'mine' is no classifier"),
        ("{'other': NoIsNo}", "'mine' is not known"),
        ("1 / 0", "ZeroDivisionError"),
    ],
)
def test_what_is_no_classifier_is_a_usage_error(project: Any, returned: str, fault: str) -> None:
    text = CONFTEST.replace('{"no-is-no": NoIsNo, "made": NoIsNo()}', returned)
    project.write_file("conftest.py", text)
    ran = project.run("--refusal-policy=bot", "--refusal-classifier=mine")
    assert ran.exit_status == 4
    assert fault in ran.stderr
