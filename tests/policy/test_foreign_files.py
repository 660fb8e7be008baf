"""Files that other tools wrote, read by `recorded:`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_refusal.policy.recorded import NotRecorded, RecordedPolicy
from pytest_refusal.prompt import Label, Message, Prompt, Role


def prompt(identity: str, text: str = "x") -> Prompt:
    messages = (Message(role=Role.USER, content=text),)
    return Prompt(id=identity, messages=messages, label=Label.SAFE)


def test_output_of_an_openai_batch(tmp_path: Path) -> None:
    def line(identity: str, status: int, body: object) -> str:
        response = {"status_code": status, "request_id": "r", "body": body}
        return json.dumps({"id": "batch_1", "custom_id": identity, "response": response})

    answer = {"role": "assistant", "content": "A"}
    message = {"role": "assistant", "content": None, "refusal": "No."}
    path = tmp_path / "output.jsonl"
    path.write_text(
        "\n".join(
            [
                line("a", 200, {"choices": [{"finish_reason": "stop", "message": answer}]}),
                line("b", 200, {"choices": [{"finish_reason": "stop", "message": message}]}),
                line("c", 400, {"error": {"code": "content_filter"}}),
                line(
                    "f",
                    200,
                    {
                        "status": "completed",
                        "output": [
                            {"type": "message", "content": [{"type": "output_text", "text": "F"}]}
                        ],
                    },
                ),
                line("d", 500, {"error": {"message": "gone"}}),
                json.dumps({"custom_id": "e", "response": None, "error": {"code": "expired"}}),
            ]
        )
        + "\n"
    )
    policy = RecordedPolicy.read(path, name="batch")
    assert policy.respond(prompt("a"), sample=1).text == "A"
    assert policy.respond(prompt("b"), sample=1).refusal == "No."
    assert policy.respond(prompt("c"), sample=1).finish_reason == "content_filter"
    assert policy.respond(prompt("f"), sample=1).text == "F"
    for failed in "de":
        with pytest.raises(NotRecorded, match="is null"):
            policy.respond(prompt(failed), sample=1)


def test_a_log_of_inspect(tmp_path: Path) -> None:
    def sample(identity: object, epoch: int, content: object, **more: object) -> object:
        choice = {"message": {"role": "assistant", "content": content}, "stop_reason": "stop"}
        return {"id": identity, "epoch": epoch, "output": {"choices": [choice]}, **more}

    parts = [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "second"}]
    samples = [
        sample("a", 1, "first"),
        sample("a", 2, parts),
        sample(7, 1, "seven"),
        sample("b", 1, "", error={"message": "gone"}),
    ]
    path = tmp_path / "log.json"
    path.write_text(json.dumps({"version": 2, "eval": {"model": "m"}, "samples": samples}))
    policy = RecordedPolicy.read(path, name="inspect")
    assert policy.respond(prompt("a"), sample=1).text == "first"
    assert policy.respond(prompt("a"), sample=2).text == "second"
    assert policy.respond(prompt("7"), sample=1).text == "seven"
    with pytest.raises(NotRecorded):
        policy.respond(prompt("b"), sample=1)


def test_results_of_promptfoo(tmp_path: Path) -> None:
    results = [
        {
            "vars": {"prompt": "Hello"},
            "prompt": {"raw": "Be kind. Hello"},
            "provider": {"id": "openai:m"},
            "response": {"output": "Hi.", "finishReason": "stop"},
        },
        {
            "vars": {},
            "prompt": {"raw": "Bye"},
            "provider": {"id": "openai:m"},
            "response": {"error": "API error: 500"},
        },
    ]
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"evalId": "e", "results": {"version": 3, "results": results}}))
    policy = RecordedPolicy.read(path, name="promptfoo")
    assert policy.respond(prompt("x", "Hello"), sample=1).text == "Hi."
    with pytest.raises(NotRecorded, match="is null"):
        policy.respond(prompt("y", "Bye"), sample=1)
