"""What servers of models do in life, and what a run of pytest makes of it."""

from __future__ import annotations

import json
import time
from collections import Counter
from typing import Any

import pytest

REFUSES, ANSWERS = "I'm sorry, but I can't help with that.", "Sure, here is what you need to know."


@pytest.fixture
def staging(project: Any, model_server: Any) -> Any:
    """A project with `write(prompts, label, policy)`; each prompt's text is its id."""

    def write(ids: list[str], label: str, policy: str = "") -> None:
        project.write_file(
            "prompts.toml",
            "".join(f'[[prompt]]\nid = "{i}"\nprompt = "{i}"\nlabel = "{label}"\n' for i in ids),
        )
        project.stage(model_server.url, policy)

    project.write = write
    return project


def text_of(body: Any) -> str:
    return body["messages"][-1]["content"]


def numbered(count: int) -> list[str]:
    return [f"p-{n:02}" for n in range(count)]


def test_prompts_that_time_out_are_in_no_rate(staging: Any, model_server: Any) -> None:
    staging.write(numbered(10), "unsafe", "timeout_s = 3")
    model_server.script = lambda body, number: model_server.says(
        REFUSES, delay_s=30 if text_of(body) in ("p-02", "p-05", "p-09") else 0
    )
    ran = staging.run("--refusal-policy=staging")
    policy = ran.policy("staging")
    assert ran.exit_status == 1
    assert (policy["under_refusal"], policy["evaluated"], policy["unevaluated"]) == (0.0, 7, 3)
    assert policy["unevaluated_by_reason"] == {"timeout": 3}


def test_a_request_that_is_never_answered_does_not_hold_the_session(
    staging: Any, model_server: Any
) -> None:
    staging.write(numbered(55), "safe", "timeout_s = 2")
    model_server.script = lambda body, number: model_server.says(
        ANSWERS, delay_s=60 if text_of(body) == "p-54" else 0
    )
    started = time.monotonic()
    ran = staging.run("--refusal-policy=staging")
    assert time.monotonic() - started < 20
    assert (ran.exit_status, ran.counts["passed"], ran.counts["errors"]) == (1, 54, 1)


def test_to_wait_behind_other_prompts_is_no_time_of_a_prompt(
    staging: Any, model_server: Any
) -> None:
    staging.write(numbered(3), "safe", "timeout_s = 2.3\nconcurrency = 1")
    model_server.script = lambda body, number: model_server.says(ANSWERS, delay_s=1.2)
    ran = staging.run("--refusal-policy=staging")
    assert (ran.exit_status, ran.counts) == (0, {"passed": 3})
    latencies = [o["latency_s"] for o in ran.policy("staging")["outcomes"]]
    assert all(1.2 <= latency_s < 2.3 for latency_s in latencies)


def test_a_server_that_allows_few_at_a_time_gets_few(staging: Any, model_server: Any) -> None:
    staging.write(numbered(55), "safe", "concurrency = 8")

    def script(body: Any, number: int) -> Any:
        # The server counts a request before it asks what to do with it.
        if model_server._at_once > 2:
            soon = {"retry-after-ms": "10"}
            return model_server.fails(429, {"error": {"message": "slow"}}, headers=soon)
        return model_server.says(ANSWERS, delay_s=0.01)

    model_server.script = script
    ran = staging.run("--refusal-policy=staging")
    assert (ran.exit_status, ran.counts) == (0, {"passed": 55})
    asking = ran.policy("staging")["asking"]
    assert asking["calls"] - asking["retries"] == 55


def test_the_turn_that_failed_is_told(staging: Any, model_server: Any) -> None:
    staging.write(["talk"], "safe", "retries = 0")
    turns = "".join(f'{{ role = "user", content = "turn {n}" }}, ' for n in (1, 2, 3))
    staging.write_file(
        "prompts.toml", f'[[prompt]]\nid = "talk"\nlabel = "safe"\nprompt = [{turns}]\n'
    )
    model_server.script = lambda body, number: (
        model_server.fails(500) if text_of(body) == "turn 2" else model_server.says(ANSWERS)
    )
    ran = staging.run("--refusal-policy=staging")
    assert ran.exit_status == 1
    assert "turn 2 of 3: gave up after 1 attempt: HTTP 500" in ran.stdout
    assert model_server.texts() == ["turn 1", "turn 2"]


FILTERED = {"violence": {"filtered": True, "severity": "high"}}
SAME_REFUSAL = {
    "field": (200, {"choices": [{"message": {"content": None, "refusal": "I can't."},
                                 "finish_reason": "stop"}]}, "I can't."),
    "filter": (200, {"choices": [{"message": {"content": ""},
                                  "finish_reason": "content_filter"}]}, "content_filter"),
    "gateway": (200, {"choices": [{"message": {"content": None}, "finish_reason": "refusal"}]},
                "refusal"),
    "azure": (400, {"error": {"code": "content_filter", "innererror": {
        "code": "ResponsibleAIPolicyViolation", "content_filter_result": FILTERED}}},
        "violence: high"),
    "azure-short": (400, {"error": {"code": "content_filter"}}, "content_filter"),
}  # fmt: skip


def test_a_refusal_in_any_shape_is_one_and_costs_one_request(
    staging: Any, model_server: Any
) -> None:
    staging.write([*SAME_REFUSAL], "unsafe")
    model_server.script = lambda body, number: model_server.fails(*SAME_REFUSAL[text_of(body)][:2])
    ran = staging.run("--refusal-policy=staging")
    assert ran.exit_status == 0
    assert sorted(model_server.texts()) == sorted(SAME_REFUSAL)
    for outcome in ran.policy("staging")["outcomes"]:
        assert outcome["verdict"] == "refusal"
        assert SAME_REFUSAL[outcome["prompt_id"]][2] in outcome["evidence"]
        assert not outcome["response"]
    assert ran.policy("staging")["filter_refusals"] == 4


NO_VERDICT = {
    "empty": (200, {"choices": [{"message": {"content": ""}, "finish_reason": "stop"}]}),
    "truncated": (200, {"choices": [{"message": {"content": "I"}, "finish_reason": "length"}]}),
    "http_400": (400, {"error": {"message": "content filter is only a word here"}}),
    "unknown_finish_reason": (
        200, {"choices": [{"message": {"content": "Hi."}, "finish_reason": "weird_new"}]},
    ),
    "no_choice": (200, {}),
}  # fmt: skip


def test_what_cannot_be_judged_has_a_reason_of_its_own(staging: Any, model_server: Any) -> None:
    staging.write([*NO_VERDICT], "unsafe")
    model_server.script = lambda body, number: model_server.fails(*NO_VERDICT[text_of(body)])
    ran = staging.run("--refusal-policy=staging")
    reasons = {o["prompt_id"]: o["reason"] for o in ran.policy("staging")["outcomes"]}
    assert reasons == {name: name for name in NO_VERDICT}
    assert 'finish_reasons = { "weird_new" = "finished" }' in ran.stdout
    assert "a gateway may have dropped the refusal signal" in ran.stdout
    assert ran.counts == {"errors": 5}


WORKERS = pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one-process", "xdist"])


@WORKERS
def test_a_prompt_that_is_known_to_be_bad_is_not_asked_and_named_with_its_reason(
    staging: Any, model_server: Any, workers: tuple[str, ...]
) -> None:
    staging.write(["one", "two"], "safe")
    text = (staging.path / "prompts.toml").read_text()
    known = 'id = "two"\ntags = ["skip"]\nnote = "means two things"'
    staging.write_file("prompts.toml", text.replace('id = "two"', known))
    model_server.script = lambda body, number: model_server.says(ANSWERS)
    ran = staging.run("--refusal-policy=staging", *workers)
    policy = ran.policy("staging")
    assert (ran.exit_status, ran.counts) == (0, {"passed": 1, "skipped": 1})
    assert (policy["planned"], policy["evaluated"], policy["unevaluated"]) == (1, 1, 0)
    assert "1 skipped: two (means two things)" in ran.stdout
    assert model_server.texts() == ["one"]


@WORKERS
def test_one_text_under_two_system_prompts_is_two_questions(
    staging: Any, model_server: Any, workers: tuple[str, ...]
) -> None:
    staging.write([], "safe")
    staging.write_file(
        "prompts.toml",
        "".join(
            f'[[prompt]]\nid = "{name}"\nlabel = "safe"\n'
            f'prompt = [{{ role = "system", content = "{system}" }},'
            ' { role = "user", content = "Eggs?" }]\n'
            for name, system in (("a", "Be brief."), ("b", "Be kind."), ("again", "Be kind."))
        ),
    )
    model_server.script = lambda body, number: model_server.says(body["messages"][0]["content"])
    ran = staging.run("--refusal-policy=staging", "--refusal-record=r.jsonl", *workers)
    replies = {o["prompt_id"]: o["response"] for o in ran.policy("staging")["outcomes"]}
    assert replies == {"a": "Be brief.", "b": "Be kind.", "again": "Be kind."}
    assert "1 prompt repeats the text and label of an earlier one" in ran.stdout


def test_samples_are_recorded_and_replayed_each_as_it_was(staging: Any, model_server: Any) -> None:
    staging.write(["one"], "safe")
    model_server.script = lambda body, number: model_server.says(f"{ANSWERS} ({number})")
    arguments = ("--refusal-policy=staging", "--refusal-samples=5", "--refusal-record=r.jsonl")
    said = [
        [o["response"] for o in staging.run(*arguments).policy("staging")["outcomes"]]
        for _ in range(2)
    ]
    assert len(set(said[0])) == 5
    assert said[1] == said[0]
    assert len(model_server.requests) == 5


def test_only_what_can_be_judged_is_replayed_where_the_model_can_be_asked(
    staging: Any, model_server: Any
) -> None:
    staging.write(numbered(10), "safe", "retries = 0")
    seen: Counter[str] = Counter()

    def script(body: Any, number: int) -> Any:
        seen[text_of(body)] += 1
        first = seen[text_of(body)] == 1
        if first and text_of(body) == "p-03":
            return model_server.fails(500)
        cut = first and text_of(body) in ("p-06", "p-08")
        return model_server.says(ANSWERS, finish_reason="length" if cut else "stop")

    model_server.script = script
    arguments = ("--refusal-policy=staging", "--refusal-record=r.jsonl")
    first = staging.run(*arguments, "--refusal-record-mode=new")
    assert first.policy("staging")["unevaluated_by_reason"] == {"http_500": 1, "truncated": 2}
    recorded = (staging.path / "r.jsonl").read_text().splitlines()
    assert sorted(json.loads(line)["prompt_id"] for line in recorded) == [
        name for name in numbered(10) if name != "p-03"
    ]
    second = staging.run(*arguments, "--refusal-record-mode=new")
    assert (second.exit_status, len(model_server.requests)) == (0, 13)
