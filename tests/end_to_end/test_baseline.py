"""Comparison with an earlier report: what regressed, what was mended, what the limits rule."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def baseline(project):
    """A report of the policy `good`, which is right in all of four prompts."""
    project.settings('corpus = "prompts.toml"')
    ran = project.run("--refusal-policy=bot:good")
    path = project.path / "baseline.json"
    path.write_text(json.dumps(ran.report))
    return path


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one-process", "xdist"])
def test_a_regressed_prompt_is_named_and_says_so_in_its_failure(project, baseline, workers) -> None:
    ran = project.run(
        "--refusal-policy=bot:leaks_one", "--refusal-baseline=baseline.json::bot:good", *workers
    )
    comparison = ran.policy("bot:leaks_one")["baseline"]["comparison"]
    assert comparison["regressed"] == [["prompts.toml", "bad-2"]]
    assert (comparison["compared"], comparison["mended"]) == (4, [])
    assert comparison["under_refusal"]["increase"] == 0.5
    assert "against baseline.json::bot:good: 1 regressed, 0 mended of 4" in ran.stdout
    assert "regressed   passed in the baseline baseline.json" in ran.stdout
    assert "0/2 = 0 to 1/2 = 0.5: no evidence of a change" in ran.stdout
    assert ran.exit_status == 1


def test_a_changed_a_new_and_a_removed_prompt_are_left_out(project, baseline) -> None:
    text = (project.path / "prompts.toml").read_text()
    text = text.replace("boil an egg", "fry an egg").replace('id = "good-2"', 'id = "good-3"')
    (project.path / "prompts.toml").write_text(text)
    ran = project.run("--refusal-policy=bot:good", "--refusal-baseline=baseline.json")
    comparison = ran.policy("bot:good")["baseline"]["comparison"]
    assert comparison["compared"] == 2
    assert comparison["changed"] == [["prompts.toml", "good-1"]]
    assert comparison["added"] == [["prompts.toml", "good-3"]]
    assert comparison["removed"] == [["prompts.toml", "good-2"]]
    assert "1 new, 1 removed, 1 changed left out" in ran.stdout


LIMITS = [
    ("max_regressions = 1", "leaks_one", True, 0),
    ("max_regressions = 0", "leaks_one", False, 1),
    ("max_regressions = 0", "good", True, 0),
    ("significance = 0.25", "leaks_one", True, 0),
    ("significance = 0.25", "bad", False, 1),
    ("significance = 0.5", "bad", False, 1),
    ("max_increase = { under_refusal = 0.5 }", "leaks_one", True, 0),
    ("max_increase = { under_refusal = 0.49 }", "leaks_one", False, 1),
    ("max_increase = { over_refusal = 0 }", "leaks_one", True, 0),
    ("max_increase = { ece = 0.01 }", "bad", False, 1),
]


@pytest.mark.parametrize(("limit", "policy", "passed", "exit_status"), LIMITS)
def test_limits_on_getting_worse(project, baseline, limit, policy, passed, exit_status) -> None:
    project.settings(
        'corpus = "prompts.toml"\nceilings = { under_refusal = 1, over_refusal = 1 }\n'
        f"[tool.pytest-refusal.regression]\n{limit}\n"
    )
    name = f"bot:{policy}"
    ran = project.run(f"--refusal-policy={name}", "--refusal-baseline=baseline.json::bot:good")
    assert (ran.gate(name), ran.exit_status) == (passed, exit_status), ran.stdout
    rulings = ran.policy(name)["gate"]["regression"]
    cases = {k: v for k, v in ran.cases().items() if k.startswith("refusal-gate::regression.")}
    assert len(cases) == len(rulings) > 0
    assert sum(c.find("failure") is None for c in cases.values()) == sum(r["held"] for r in rulings)
    if not passed:
        assert "worse than the baseline" in ran.last_line


def test_without_ceilings_a_regression_gate_forgives_no_failed_prompt(project, baseline) -> None:
    project.settings('corpus = "prompts.toml"\nregression = { max_regressions = 1 }')
    ran = project.run("--refusal-policy=bot:errs", "--refusal-baseline=baseline.json::bot:good")
    assert (ran.gate("bot:errs"), ran.exit_status) == (True, 1)
    assert "1 unevaluated prompt under no ceiling" in ran.last_line


def test_a_significance_that_so_few_prompts_cannot_reach_is_a_usage_error(
    project, baseline
) -> None:
    # Two prompts of a label that both regress have a p-value of a quarter.
    project.settings('corpus = "prompts.toml"\nregression = { significance = 0.05 }')
    ran = project.run("--refusal-policy=bot:bad", "--refusal-baseline=baseline.json::bot:good")
    assert ran.exit_status == 4
    assert "with 2 prompts of a label no rate can grow so that it fails: 5 are needed" in ran.stderr


FAULTS = [
    ("nowhere.json", "nowhere.json: No such file"),
    ("baseline.json::strict", "does not have the policy 'strict' (it has bot:good)"),
    ("prompts.toml", "is not valid JSON"),
    ("stopped.json", "did not come to its end"),
]


@pytest.mark.parametrize(("spec", "says"), FAULTS)
def test_what_is_no_baseline_is_a_usage_error(project, baseline, spec, says) -> None:
    report = json.loads(baseline.read_text())
    (project.path / "stopped.json").write_text(json.dumps({**report, "complete": False}))
    ran = project.run("--refusal-policy=bot:good", f"--refusal-baseline={spec}")
    assert ran.exit_status == 4
    assert says in ran.stderr
    assert "Traceback" not in ran.stderr + ran.stdout


@pytest.mark.parametrize("name", ["baseline.json", "link.json", "sub/../baseline.json"])
def test_a_run_does_not_put_itself_in_the_place_of_its_baseline(project, baseline, name) -> None:
    (project.path / "link.json").symlink_to(baseline)
    (project.path / "sub").mkdir()
    before = baseline.read_bytes()
    named = "--refusal-baseline=baseline.json::bot:good"
    ran = project.run("--refusal-policy=bot:bad", "-x", named, f"--refusal-report={name}")
    assert ran.exit_status == 4
    assert f"{name}: is the baseline of this run, which would be overwritten" in ran.stderr
    assert baseline.read_bytes() == before


def test_policies_of_one_run_are_compared_with_the_first(project) -> None:
    ran = project.run("prompts.toml", "--refusal-policy=bot:good,bot:leaks_one")
    (pair,) = ran.report["comparisons"]
    assert (pair["policy"], pair["against"]) == ("bot:leaks_one", "bot:good")
    assert pair["comparison"]["regressed"] == [["prompts.toml", "bad-2"]]
    assert "bot:leaks_one against bot:good: 1 regressed, 0 mended of 4" in ran.stdout


LIMITED = """
    corpus = "prompts.toml"
    policy = "bot:leaks_one"
    [tool.pytest-refusal.regression]
    max_regressions = 0
"""


@pytest.mark.parametrize(
    ("args", "passed", "failed"),
    [
        (("test_unit.py",), 1, 0),
        (("-k", "unit"), 1, 0),
        (("-m", "safe"), 2, 0),
        (("prompts.toml::bad-2",), 0, 1),
        (("--deselect=prompts.toml::bad-2[bot-leaks_one-x]", "prompts.toml::bad-1"), 1, 0),
        (("--collect-only",), 0, 0),
        (("-n", "2", "-k", "unit"), 1, 0),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_limits_do_not_stop_a_run_of_a_part(project, args, passed: int, failed: int) -> None:
    project.write_file("test_unit.py", "def test_unit(): pass\n")
    project.settings(LIMITED)
    ran = project.run(*args)
    assert (ran.counts.get("passed", 0), ran.counts.get("failed", 0)) == (passed, failed)
    assert ran.exit_status == (1 if failed else 0)


@pytest.mark.parametrize("args", [(), ("prompts.toml",), ("-k", "1", "--refusal-gate-partial")])
def test_limits_need_a_baseline_where_they_are_ruled_on(project, args) -> None:
    project.settings(LIMITED)
    ran = project.run(*args)
    assert ran.exit_status == 4
    assert "regression: needs an earlier report; name one with `baseline`" in ran.stderr


def test_where_nothing_can_be_compared_nothing_is_called_worse(project, baseline) -> None:
    project.settings(LIMITED)
    text = (project.path / "prompts.toml").read_text("utf-8")
    project.write_file("prompts.toml", text.replace('prompt = "', 'prompt = "Please: '))
    ran = project.run("--refusal-policy=bot:good", "--refusal-baseline=baseline.json")
    assert "no data to compare with the baseline: max_regressions" in ran.last_line
    assert "worse than" not in ran.last_line


def test_a_part_that_turns_out_to_be_the_whole_is_not_passed_without_a_baseline(project) -> None:
    project.settings(LIMITED.replace("leaks_one", "good"))
    ran = project.run("-k", "refusal")
    assert ran.counts["passed"] == 4
    assert ran.exit_status == 1
    assert "regression: needs an earlier report" in ran.last_line


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one-process", "xdist"])
def test_the_table_names_the_baseline(project, baseline, monkeypatch, workers) -> None:
    project.settings(LIMITED + 'baseline = "baseline.json::bot:good"\n')
    project.write_file("sub/test_unit.py", "def test_unit(): pass\n")
    monkeypatch.chdir("sub")
    ran = project.run("--rootdir=..", "-c", "../pyproject.toml", *workers)
    assert "worse than the baseline: max_regressions" in ran.last_line
    # The option stands above the table.
    ran = project.run("-c", "../pyproject.toml", "--refusal-baseline=none.json", *workers)
    assert ran.exit_status == 4
    assert "baseline none.json: No such file" in ran.stderr


def test_a_baseline_of_the_table_must_be_there_for_the_whole_only(project, baseline) -> None:
    project.settings(LIMITED + 'baseline = "gone.json"\n')
    ran = project.run()
    assert ran.exit_status == 4
    assert "baseline gone.json: No such file" in ran.stderr
    assert project.run("prompts.toml::bad-1").exit_status == 0
    project.settings(LIMITED + 'baseline = "out.json"\n')
    assert "out.json: is the baseline of this run" in project.run().stderr
