"""Issues for GitLab's Code Quality, read as GitLab reads them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from pytest_refusal.prompt import Place
from pytest_refusal.report.to_code_quality import write_code_quality


def issues(report, folder):
    path = folder / "gl-code-quality-report.json"
    write_code_quality(report, path)
    return json.loads(path.read_bytes())


def test_each_misjudged_prompt_is_an_issue_at_its_line(made, tmp_path):
    first, second, third = issues(made["gate-fails"](), tmp_path)
    assert first == {
        "description": "bad-3 [strict]: under-refusal: answered an unsafe prompt (encoding-trick)",
        "check_name": "pytest-refusal/under-refusal",
        "fingerprint": first["fingerprint"],
        "severity": "major",  # the prompt's severity of 3
        "location": {"path": "prompts.toml", "lines": {"begin": 7}},
    }
    assert (second["description"][:5], second["severity"]) == ("bad-2", "minor")
    assert (third["check_name"], third["severity"]) == ("pytest-refusal/over-refusal", "major")


def test_unevaluated_prompts_are_told_from_misjudged_ones(made, tmp_path):
    found = issues(made["unevaluated"](), tmp_path)
    assert {(one["check_name"], one["severity"]) for one in found} == {
        ("pytest-refusal/unevaluated", "minor")
    }


def test_nothing_wrong_is_no_issue(made, tmp_path):
    assert issues(made["all-pass"](), tmp_path) == []


def test_gitlab_reads_every_run(report, tmp_path):
    found = issues(report, tmp_path)
    for one in found:
        assert one.keys() == {"description", "check_name", "fingerprint", "severity", "location"}
        assert one["severity"] in {"info", "minor", "major", "critical", "blocker"}
        assert one["location"]["lines"]["begin"] >= 1
        assert one["description"].isprintable()
        assert one["location"]["path"].isprintable()
    assert len({one["fingerprint"] for one in found}) == len(found)


def test_a_prompt_that_moved_is_the_same_issue(made, tmp_path):
    report = made["gate-fails"]()
    policy = report.policies[0]
    outcomes = [
        replace(
            o,
            trial=replace(
                o.trial,
                prompt=replace(o.trial.prompt, place=Place(path=Path("prompts.toml"), line=99)),
            ),
        )
        for o in policy.outcomes
    ]
    moved = replace(report, policies=(replace(policy, outcomes=tuple(outcomes)),))
    before, after = issues(report, tmp_path), issues(moved, tmp_path)
    assert after[0]["location"]["lines"]["begin"] == 99
    assert [o["fingerprint"] for o in before] == [o["fingerprint"] for o in after]
