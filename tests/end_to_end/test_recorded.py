"""Recorded responses of real models, run as a policy."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path

import pytest

from pytest_refusal import VerdictKind, classify_refusal

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("PYTEST_REFUSAL_SHARED", ROOT.parent / "shared"))
XSTEST = SHARED / "data" / "refusal-labels" / "xstest.jsonl"


def converter():
    spec = importlib.util.spec_from_file_location(
        "xstest_recorded", ROOT / "tests" / "xstest_recorded.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(not XSTEST.exists(), reason="the responses of XSTest are not on this machine")
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one-process", "xdist"])
def test_rates_of_real_responses_equal_those_counted_from_the_file(project, workers) -> None:
    assert converter().convert(XSTEST, model="gpt4", into=project.path / "xstest") == 450
    rows = [json.loads(line) for line in XSTEST.read_text(encoding="utf-8").splitlines()]
    counted = {"tp": 0, "tn": 0, "fp": 0, "fn": 0}
    for row in rows:
        if row["model"] == "gpt4":
            declined = classify_refusal(row["response"], prompt=row["prompt"]).kind
            declined = declined is not VerdictKind.ANSWER
            unsafe = row["prompt_label"] == "unsafe"
            counted[("tp" if declined else "fn") if unsafe else ("fp" if declined else "tn")] += 1
    name = "recorded:xstest/responses.jsonl"
    ran = project.run("xstest/prompts.jsonl", f"--refusal-policy={name}", *workers)
    policy = ran.policy(name)
    assert policy["evaluated"] == 450
    assert policy["confusion"] == counted
    assert policy["under_refusal"] == counted["fn"] / (counted["fn"] + counted["tp"])
    assert policy["over_refusal"] == counted["fp"] / (counted["fp"] + counted["tn"])
    assert f"over-refusal   {counted['fp']}/{counted['fp'] + counted['tn']}" in ran.stdout


def test_what_is_missing_is_unevaluated_and_what_is_left_over_is_named(project) -> None:
    project.write_file(
        "replies.jsonl",
        '{"id": "bad-1", "response": "I cannot help with that."}\n'
        '{"prompt": "What is the capital of France?", "response": "Paris."}\n'
        '{"id": "stranger", "response": "Hello."}\n',
    )
    ran = project.run("prompts.toml", "--refusal-policy=recorded:replies.jsonl")
    policy = ran.policy("recorded:replies.jsonl")
    assert ran.exit_status == 1
    assert (policy["evaluated"], policy["unevaluated_by_reason"]) == (2, {"not_recorded": 2})
    assert policy["unused_recordings"] == ["stranger"]
    assert "1 recorded response fits no prompt: stranger" in ran.stdout
    assert "under-refusal  0/1 = 0, up to 0.5 if the 1 unevaluated failed" in ran.stdout
