from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_refusal.execution.asker import Asker
from pytest_refusal.execution.asking import AskError
from pytest_refusal.execution.loop import BackgroundLoop
from pytest_refusal.execution.meter import Budget
from pytest_refusal.execution.recording import Recording, RecordMode
from pytest_refusal.execution.retry import RetryingPolicy
from pytest_refusal.outcome import Trial
from pytest_refusal.policy.build import build_remote
from pytest_refusal.policy.tables import parse_policy_table
from pytest_refusal.prompt import Label, Message, Prompt, Role
from pytest_refusal.response import Response


@pytest.fixture
def loop() -> Iterator[BackgroundLoop]:
    with BackgroundLoop() as loop:
        yield loop


class Plain:
    name = "plain"
    takes_conversation = False

    def respond(self, prompt: Prompt, *, sample: int) -> Response:
        return Response(text=f"plain {prompt.text}")


def staging(server: Any) -> RetryingPolicy:
    table = {"type": "openai", "base_url": server.url, "model": "m", "concurrency": 2}
    parsed, _ = parse_policy_table("staging", table, where="t")
    assert parsed is not None
    remote = build_remote(parsed, base=Path(), environ={})
    return RetryingPolicy(remote, retries=0, concurrency=2, timeout_s=5)


class Broken:
    """Fails as it is told, prompt by prompt, and may be asked ahead."""

    name = "broken"
    takes_conversation = True
    concurrency = 1

    def __init__(self, *errors: Exception | None) -> None:
        self.errors = errors
        self.asked = 0

    async def respond(self, prompt: Prompt, *, sample: int) -> Response:
        self.asked += 1
        error = self.errors[int(prompt.id[1:]) % len(self.errors)]
        if error is not None:
            raise error
        return Response(text="Hi.")


def trials(policy: str, count: int = 4, turns: int = 1) -> list[Trial]:
    return [
        Trial(
            prompt=Prompt(
                id=f"p{n}",
                corpus="c",
                label=Label.SAFE,
                messages=tuple(
                    Message(role=Role.USER, content=f"{n}.{turn}") for turn in range(turns)
                ),
            ),
            policy=policy,
        )
        for n in range(count)
    ]


def fetch_all(asker: Asker, wanted: list[Trial]) -> list[str]:
    found = []
    for number, trial in enumerate(wanted):
        try:
            found.append(asker.fetch(trial, wanted[number + 1 :]).text)
        except AskError as error:
            found.append(error.reason)
    asker.close()
    return found


def test_policies_of_both_kinds_side_by_side(model_server: Any, loop: BackgroundLoop) -> None:
    asker = Asker({"plain": Plain(), "staging": staging(model_server)}, loop)
    mixed = [t for pair in zip(trials("plain"), trials("staging"), strict=True) for t in pair]
    assert asker.planned_calls(mixed) == {"staging": 4}
    assert fetch_all(asker, mixed) == [text for n in range(4) for text in (f"plain {n}.0", "Hi.")]
    assert {name: meter.calls for name, meter in asker.meters().items()} == {"staging": 4}
    assert asker.stopped is None


def test_a_second_run_asks_nothing(model_server: Any, loop: BackgroundLoop, tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    first = Asker({"s": staging(model_server)}, loop, recording=Recording(path, RecordMode.NEW))
    assert first.planned_calls(trials("s", turns=2)) == {"s": 8}
    assert fetch_all(first, trials("s")) == ["Hi."] * 4
    second = Asker({"s": staging(model_server)}, loop, recording=Recording(path, RecordMode.NEW))
    assert second.planned_calls(trials("s", 5)) == {"s": 1}
    assert fetch_all(second, trials("s")) == ["Hi."] * 4
    assert len(model_server.requests) == 4
    assert second.meters()["s"].replayed == 4


def test_limits_and_stops_are_told(model_server: Any, loop: BackgroundLoop) -> None:
    asker = Asker({"s": staging(model_server)}, loop, budget=Budget(max_calls=2))
    assert sorted(fetch_all(asker, trials("s"))) == ["Hi.", "Hi.", "budget", "budget"]
    model_server.script = lambda body, number: model_server.fails(401)
    asker = Asker({"s": staging(model_server)}, loop)
    fetch_all(asker, trials("s"))
    assert asker.stopped is not None
    assert "policy 'staging' cannot be used: HTTP 401" in asker.stopped


def reasons(asker: Asker, policy: Broken) -> list[str]:
    found = []
    for trial in trials("broken", 12):
        try:
            asker.fetch(trial)
        except AskError as error:
            found.append(error.reason)
        else:
            found.append("")
    return found


def test_any_policy_that_is_asked_ahead_stops_where_its_first_prompts_fail_alike(
    loop: BackgroundLoop,
) -> None:
    policy = Broken(OSError("no route to 1"), OSError("no route to 2"))
    asker = Asker({"broken": policy}, loop)
    assert reasons(asker, policy) == ["error"] * 5 + ["stopped"] * 7
    assert policy.asked == 5
    assert asker.stopped is not None
    assert asker.stopped.startswith(
        "policy 'broken' stopped after 5 prompts at the start that failed alike:"
        " OSError: no route to 1"
    )


@pytest.mark.parametrize(
    "errors",
    [(OSError("no"), ValueError("no")), (OSError("no"), None), (None, *[OSError("no")] * 11)],
    ids=["not alike", "now and then", "after a success"],
)
def test_it_goes_on_where_prompts_fail_otherwise(
    loop: BackgroundLoop, errors: tuple[Exception | None, ...]
) -> None:
    policy = Broken(*errors)
    asker = Asker({"broken": policy}, loop)
    assert "stopped" not in reasons(asker, policy)
    assert (policy.asked, asker.stopped) == (12, None)


def test_a_prompt_that_is_run_again_and_again_does_not_stop_the_others(
    loop: BackgroundLoop,
) -> None:
    policy = Broken(OSError("no"))
    asker = Asker({"broken": policy}, loop)
    first, second, *_ = trials("broken")
    for trial in (*[first] * 6, *[second] * 6):
        with pytest.raises(AskError):
            asker.fetch(trial)
    assert (policy.asked, asker.stopped) == (12, None)


def test_a_reply_with_which_no_conversation_can_go_on_is_no_fault(
    model_server: Any, loop: BackgroundLoop
) -> None:
    model_server.script = lambda body, number: model_server.says("")
    asker = Asker({"staging": staging(model_server)}, loop)
    for trial in trials("staging", 8, turns=2):
        with pytest.raises(AskError, match="the reply was empty"):
            asker.fetch(trial)
    assert asker.stopped is None
