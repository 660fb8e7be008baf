"""How sure a model is, by each of the ways in which it can be asked, in runs of pytest."""

from __future__ import annotations

import math
from typing import Any

import pytest

ANSWERS = "Sure, here is what you need to know."
XDIST = pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one-process", "xdist"])


@pytest.fixture
def configure(project: Any, model_server: Any) -> Any:
    """Write a project of safe prompts with a policy `staging` behind the server."""

    def write(policy: str, kind: str = "openai") -> None:
        where = "url" if kind == "http" else "base_url"
        project.write_file(
            "prompts.toml",
            "".join(
                f'[[prompt]]\nid = "p-{n}"\nprompt = "Question {n}?"\nlabel = "safe"\n'
                for n in range(3)
            ),
        )
        project.settings(
            f"""
            corpus = "prompts.toml"
            [tool.pytest-refusal.policies.staging]
            type = "{kind}"
            {where} = "{model_server.url}"
            {policy}
            """.replace("            ", "")
        )

    return write


def outcome_fields(ran: Any, name: str) -> list[Any]:
    return [outcome[name] for outcome in ran.policy("staging")["outcomes"]]


@XDIST
def test_in_a_second_turn(
    project: Any, model_server: Any, configure: Any, workers: tuple[str, ...]
) -> None:
    def script(body: Any, number: int) -> Any:
        text = body["messages"][-1]["content"]
        return model_server.says("0.75" if "How likely" in text else ANSWERS)

    model_server.script = script
    configure('model = "m"\nconfidence = "second_turn"')
    ran = project.run("--refusal-policy=staging", *workers)
    assert ran.exit_status == 0
    assert outcome_fields(ran, "confidence") == [0.75] * 3
    assert outcome_fields(ran, "response") == [ANSWERS] * 3
    assert len(model_server.requests) == 6
    assert "refusal: 6 calls to staging, 8 at a time" in ran.stdout
    assert "; one more for each prompt asks for the confidence" in ran.stdout
    # What is measured was asked as if nobody wanted to know more.
    plain = [body for body in model_server.requests if "How likely" not in str(body)]
    assert all(body.keys() == {"model", "messages"} for body in plain)
    assert all(len(body["messages"]) == 1 for body in plain)


@XDIST
def test_by_the_probability_of_a_token(
    project: Any, model_server: Any, configure: Any, workers: tuple[str, ...]
) -> None:
    def script(body: Any, number: int) -> Any:
        if "logprobs" not in body:
            return model_server.says(ANSWERS)
        alternatives = [
            {"token": "Yes", "logprob": math.log(0.6)},
            {"token": " no", "logprob": math.log(0.2)},
            {"token": "Well", "logprob": math.log(0.1)},
        ]
        content = [{**alternatives[0], "top_logprobs": alternatives}]
        choice = {
            "message": {"content": "Yes"}, "finish_reason": "length",
            "logprobs": {"content": content, "refusal": None},
        }  # fmt: skip
        return model_server.fails(200, {"choices": [choice]})

    model_server.script = script
    configure('model = "m"\nconfidence = "logprobs"')
    ran = project.run("--refusal-policy=staging", "--refusal-record=rec.jsonl", *workers)
    assert ran.exit_status == 0
    assert outcome_fields(ran, "confidence") == pytest.approx([0.75] * 3)
    assert outcome_fields(ran, "response") == [ANSWERS] * 3
    assert len(model_server.requests) == 6
    asked = [body for body in model_server.requests if "logprobs" in body]
    assert len(asked) == 3
    assert all((b["max_tokens"], b["top_logprobs"]) == (1, 20) for b in asked)
    assert ran.policy("staging")["parameters"]["confidence"] == "logprobs"
    again = project.run(
        "--refusal-policy=staging", "--refusal-record=rec.jsonl", "--refusal-record-mode=none",
        *workers,
    )  # fmt: skip
    assert outcome_fields(again, "confidence") == outcome_fields(ran, "confidence")
    assert len(model_server.requests) == 6


def test_a_server_without_probabilities_leaves_it_missing(
    project: Any, model_server: Any, configure: Any
) -> None:
    model_server.script = lambda body, number: model_server.says(
        "Yes" if "yes or no" in str(body) else ANSWERS
    )
    configure('model = "m"\nconfidence = "logprobs"')
    ran = project.run("--refusal-policy=staging")
    assert (ran.exit_status, ran.policy("staging")["missing_confidence"]) == (0, 3)


def test_gemini_gives_probabilities_too(project: Any, model_server: Any, configure: Any) -> None:
    def script(body: Any, number: int) -> Any:
        candidate: dict[str, Any] = {
            "content": {"parts": [{"text": ANSWERS}]}, "finishReason": "STOP",
        }  # fmt: skip
        if body.get("generationConfig", {}).get("responseLogprobs"):
            candidate["logprobsResult"] = {
                "topCandidates": [
                    {
                        "candidates": [
                            {"token": "yes", "logProbability": math.log(0.9)},
                            {"token": "no", "logProbability": math.log(0.1)},
                        ]
                    }
                ]
            }
        return model_server.fails(200, {"candidates": [candidate]})

    model_server.script = script
    configure('model = "m"\nconfidence = "logprobs"\nmax_tokens = 50', "gemini")
    ran = project.run("--refusal-policy=staging")
    assert outcome_fields(ran, "confidence") == pytest.approx([0.9] * 3)
    limits = [body["generationConfig"]["maxOutputTokens"] for body in model_server.requests]
    assert sorted(limits) == [1, 1, 1, 50, 50, 50]


def test_by_an_instruction_in_the_same_turn(
    project: Any, model_server: Any, configure: Any
) -> None:
    model_server.script = lambda body, number: model_server.says(f"{ANSWERS} [conf=0.6]")
    configure('model = "m"\nsystem = "Be brief."\nconfidence = "tag"')
    ran = project.run("--refusal-policy=staging")
    assert outcome_fields(ran, "confidence") == [0.6] * 3
    assert len(model_server.requests) == 3
    system = model_server.requests[0]["messages"][0]["content"]
    assert system.startswith("Be brief.")
    assert "[conf=0.X]" in system
    assert ran.policy("staging")["parameters"]["confidence"] == "tag"


def test_from_a_field_of_the_reply(project: Any, model_server: Any, configure: Any) -> None:
    model_server.script = lambda body, number: model_server.fails(
        200, {"text": ANSWERS, "sure": 0.4 if number else None}
    )
    configure(
        'body = { q = "{prompt}" }\ntext = "text"\nconfidence = "sure"\nconcurrency = 1', "http"
    )
    ran = project.run("--refusal-policy=staging")
    assert outcome_fields(ran, "confidence") == [None, 0.4, 0.4]
    assert ran.policy("staging")["missing_confidence"] == 1
    assert len(model_server.requests) == 3


def test_probabilities_are_refused_where_there_are_none(project: Any, configure: Any) -> None:
    configure('model = "m"\nconfidence = "logprobs"', "anthropic")
    ran = project.run("--refusal-policy=staging")
    assert ran.exit_status == 4
    assert '"logprobs" needs the type "openai" or "gemini"' in ran.stderr
