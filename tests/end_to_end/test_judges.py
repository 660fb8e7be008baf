"""A model as the judge: what it is shown, what it may say, and what becomes of the rest."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

XDIST = pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one-process", "xdist"])

POLICY = """
    REFUSES, ANSWERS = "I'm sorry, but I can't help with that.", "Boil it for nine minutes."
    HEDGES = "It is wrong to say that about anybody, and it may be unfair."
    LONG = "Hold the button until the light turns green. " * 40 + (
        "You cannot lose your settings by this. " + "Then wait for the light. " * 30
    )
    SAYS = {"bad-1": REFUSES, "bad-2": HEDGES, "good-1": ANSWERS, "good-2": LONG}

    def reply(prompt: "Prompt"):
        return SAYS[prompt.id]
"""


JURY = """
    [tool.pytest-refusal.policies.jury]
    type = "openai"
    base_url = "{url}/v1"
    model = "m"
"""


# 0.14 for each reply of the server.
PRICES = """
    input_price_per_million = 10000
    output_price_per_million = 20000
"""


@pytest.fixture
def judged(project: Any, model_server: Any) -> Any:
    """A project whose judge is a model behind the server."""
    project.write_file("assistant.py", POLICY)

    def run(classifier: str, *args: str, more: str = "") -> Any:
        project.write_file(
            "pyproject.toml",
            f"""
            [tool.pytest-refusal]
            corpus = "prompts.toml"
            classifier = "{classifier}"
            """
            + JURY.format(url=model_server.url)
            + more,
        )
        ran = project.run("--refusal-policy=assistant:reply", *args)
        return ran, ran.policy("assistant:reply")

    return run


def says(server: Any, verdict: str) -> Any:
    return lambda body, number: server.says(json.dumps({"verdict": verdict, "quote": ""}))


@XDIST
def test_a_judge_sees_the_bare_reply_and_decides(
    judged: Any, model_server: Any, workers: tuple[str, ...]
) -> None:
    model_server.script = says(model_server, "refusal")
    ran, policy = judged("judge:jury", *workers)
    assert ran.exit_status == 1
    assert policy["confusion"] == {"tp": 2, "tn": 0, "fp": 2, "fn": 0}
    assert policy["judge_asked"] == len(model_server.requests) == 4
    assert any("\nBoil it for nine minutes.\n" in text for text in model_server.texts())
    assert not any("Response(" in text for text in model_server.texts())


@XDIST
@pytest.mark.parametrize("word", ["maybe", "true", "attack successful"])
def test_a_judge_without_a_verdict_leaves_prompts_unevaluated(
    judged: Any, model_server: Any, workers: tuple[str, ...], word: str
) -> None:
    model_server.script = says(model_server, word)
    ran, policy = judged("judge:jury", *workers)
    assert (ran.exit_status, ran.counts) == (1, {"errors": 4})
    assert policy["unevaluated_by_reason"] == {"classifier": 4}
    assert len(model_server.requests) == 8  # each is asked for once more


def test_rules_that_are_sure_save_the_judge_and_a_word_in_passing_is_no_refusal(
    judged: Any, model_server: Any
) -> None:
    model_server.script = says(model_server, "refusal")
    ran, policy = judged("cascade:jury")
    verdicts = {o["prompt_id"]: (o["verdict"], o["reason"]) for o in policy["outcomes"]}
    assert verdicts == {
        "bad-1": ("refusal", "phrase"),
        "bad-2": ("refusal", "judge"),
        "good-1": ("answer", "no_phrase"),
        "good-2": ("answer", "no_phrase"),
    }
    assert len(model_server.requests) == policy["judge_asked"] == 1
    assert "judge" in ran.stdout


@XDIST
def test_the_calls_of_a_judge_count_in_the_limit_on_calls(
    judged: Any, model_server: Any, workers: tuple[str, ...]
) -> None:
    model_server.script = says(model_server, "refusal")
    ran, policy = judged("judge:jury", "--refusal-max-calls=3", *workers)
    assert len(model_server.requests) == policy["evaluated"] == 3
    assert policy["unevaluated_by_reason"] == {"classifier": 1}
    assert ran.exit_status != 0
    assert "the limit of 3 calls is reached" in ran.stdout


@XDIST
def test_what_a_judge_took_stands_apart_from_what_the_policy_took(
    judged: Any, model_server: Any, workers: tuple[str, ...]
) -> None:
    # Of 10 tokens in and 2 out each; one reply in no form that was asked for.
    model_server.script = lambda body, number: model_server.says(
        json.dumps({"verdict": "maybe" if number == 1 else "refusal"})
    )
    ran, policy = judged("judge:jury", *workers, more=PRICES)
    assert policy["asking"] is None
    assert policy["judging"] == {
        "calls": 5,
        "retries": 0,
        "replayed": 0,
        "waited_s": 0.0,
        "prompt_tokens": 50,
        "completion_tokens": 10,
        "cost": pytest.approx(0.7),
    }
    assert "of the judge: 5 calls; 50 tokens in, 10 out; cost 0.7" in ran.stdout
    assert "refusal: jury judges 4 responses, in calls of its own" in ran.stdout


def test_a_limit_on_cost_holds_where_only_the_judge_has_a_price(
    judged: Any, model_server: Any
) -> None:
    model_server.script = says(model_server, "refusal")
    ran, policy = judged("judge:jury", "--refusal-max-cost=0.3", more=PRICES)
    assert (policy["evaluated"], len(model_server.requests)) == (2, 2)
    assert ran.exit_status != 0
    assert "the limit on cost (0.3) would be exceeded" in ran.stdout


@XDIST
def test_a_judge_that_cannot_be_used_stops_the_run(
    judged: Any, model_server: Any, workers: tuple[str, ...]
) -> None:
    model_server.script = lambda body, number: model_server.fails(401)
    ran, _ = judged("judge:jury", *workers)
    assert len(model_server.requests) <= len(workers or "1")
    assert ran.report["complete"] is False
    assert "policy 'jury' cannot be used: HTTP 401" in ran.last_line


def test_a_judge_leaves_no_thread_behind(judged: Any, model_server: Any) -> None:
    model_server.script = says(model_server, "refusal")
    before = set(threading.enumerate())
    judged("judge:jury")
    left = set(threading.enumerate()) - before
    assert [thread.name for thread in left if thread.name == "pytest-refusal"] == []
