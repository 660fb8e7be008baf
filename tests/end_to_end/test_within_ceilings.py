"""`within_ceilings = "xfail"`: what a ceiling covers is xfailed, and no evidence is lost."""

from __future__ import annotations

import pytest

SETTINGS = """
    corpus = "prompts.toml"
    within_ceilings = "xfail"
    [tool.pytest-refusal.policies.bad]
    type = "function"
    target = "bot:bad"
    [tool.pytest-refusal.policies.declines_one]
    type = "function"
    target = "bot:declines_one"
    [tool.pytest-refusal.ceilings]
    over_refusal = 0.5
    under_refusal_by_category = { role-play = 0.5 }
"""
BAD = "--refusal-policy=bad"
WORKERS = pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one-process", "xdist"])


@WORKERS
def test_a_broken_ceiling_names_the_prompts(project, workers) -> None:
    project.settings(SETTINGS)
    ran = project.run(BAD, *workers)
    assert (ran.counts["failed"], ran.counts["xfailed"]) == (3, 3)
    over = ran.cases()["refusal-gate::over_refusal[bad]"].find("failure")
    assert over.text.split("\n")[:4] == [
        "over_refusal of bad: 2/2 = 1, above 0.5 (within chance)",
        "  prompts.toml::good-1[bad]",
        "  prompts.toml::good-2[bad]",
        "  what was said: run one of them alone, by its node id",
    ]
    assert over.get("message") == "over_refusal of bad: 2/2 = 1, above 0.5 (within chance)"
    of_category = ran.cases()["refusal-gate::under_refusal_by_category.role-play[bad]"]
    assert "bad-1[bad]" in of_category.find("failure").text
    # That prompt is under no ceiling, and has a failure of its own.
    assert "bad-2[bad]" not in of_category.find("failure").text
    assert "  prompts.toml::good-2[bad]\n" in ran.stdout


def test_the_first_ten_are_named_and_the_rest_counted(project) -> None:
    project.settings(SETTINGS)
    ran = project.run(BAD, "--refusal-samples=6")
    over = ran.cases()["refusal-gate::over_refusal[bad]"].find("failure").text
    assert "  prompts.toml::good-2[bad#4]\n  and 2 more\n" in over


def test_a_ceiling_that_holds_and_one_whose_prompts_fail_name_none(project) -> None:
    project.settings(SETTINGS)
    ran = project.run("--refusal-policy=declines_one")
    assert (ran.exit_status, ran.counts) == (0, {"passed": 6, "xfailed": 1})
    project.settings(SETTINGS.replace('within_ceilings = "xfail"', ""))
    ran = project.run(BAD)
    over = ran.cases()["refusal-gate::over_refusal[bad]"].find("failure")
    assert over.text.strip() == "over_refusal of bad: 2/2 = 1, above 0.5 (within chance)"


@WORKERS
def test_a_part_fails_as_it_does_without_xfail(project, workers) -> None:
    project.settings(SETTINGS)
    policy = "--refusal-policy=declines_one"
    for part in (("prompts.toml::good-1",), ("-k", "good")):
        ran = project.run(policy, *part, *workers)
        assert (ran.exit_status, ran.counts["failed"]) == (1, 1)
        assert "run again" in ran.stdout
    # Where the part is ruled on, its ceilings cover again.
    ran = project.run(policy, "-k", "good", "--refusal-gate-partial", *workers)
    assert ran.counts["xfailed"] == 1
