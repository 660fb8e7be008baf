"""Asking again over real connections, with the faults that happen in life."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_refusal.errors import PolicyError
from pytest_refusal.execution import retry
from pytest_refusal.execution.asking import AskError, ask
from pytest_refusal.execution.loop import BackgroundLoop
from pytest_refusal.execution.meter import Budget, Tariff
from pytest_refusal.execution.prefetch import Prefetch, Question
from pytest_refusal.execution.retry import RetryingPolicy
from pytest_refusal.policy.build import build_remote
from pytest_refusal.policy.tables import parse_policy_table
from pytest_refusal.prompt import Label, Message, Prompt, Role


@pytest.fixture
def loop() -> Iterator[BackgroundLoop]:
    with BackgroundLoop() as loop:
        yield loop


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait as usual, a hundred times as fast."""
    monkeypatch.setattr(retry, "_FIRST_WAIT_S", 0.005)
    monkeypatch.setattr(retry, "_LONGEST_WAIT_S", 0.08)


def prompt(number: int = 0, *more: str) -> Prompt:
    messages = [Message(role=Role.USER, content=text) for text in (f"prompt {number}", *more)]
    return Prompt(id=f"p{number}", messages=tuple(messages), label=Label.SAFE, corpus="c")


def policy_at(server: Any, budget: Budget | None = None, **keys: Any) -> RetryingPolicy:
    retries = keys.pop("retries", 6)
    tariff = keys.pop("tariff", None)
    asks = keys.pop("asks_confidence", False)
    table = {"type": "openai", "base_url": server.url, "model": "m", **keys}
    parsed, faults = parse_policy_table("staging", table, where="t")
    assert parsed is not None, faults
    remote = build_remote(parsed, base=Path(), environ={})
    return RetryingPolicy(
        remote,
        retries=retries,
        concurrency=remote.concurrency,
        timeout_s=remote.timeout_s,
        asks_confidence=asks,
        tariff=tariff,
        budget=budget,
        randomness=random.Random(1),
    )


FAULTS: dict[str, dict[str, Any]] = {
    "429 with seconds": {"status": 429, "headers": {"Retry-After": "0.01"}},
    "429 without": {"status": 429, "body": {"error": {"message": "slow down"}}},
    "500": {"status": 500},
    "529": {"status": 529, "body": {"type": "error", "error": {"type": "overloaded_error"}}},
    "reset": {"reset": True},
    "cut body": {"status": 200, "body": {"choices": []}, "cut": True},
    "malformed JSON": {"status": 200, "body": '{"choices": ['},
    "HTML": {"status": 200, "body": "<html>maintenance</html>"},
    "error with 200": {"status": 200, "body": {"error": {"code": 502, "message": "gone"}}},
    "stalled": {"delay_s": 30},
}


@pytest.mark.parametrize("case", FAULTS)
def test_a_fault_that_passes_costs_one_more_request(
    model_server: Any, loop: BackgroundLoop, case: str
) -> None:
    model_server.script = lambda body, number: (
        model_server.fails(**FAULTS[case]) if number < 2 else model_server.says("Hi.")
    )
    policy = policy_at(model_server, request_timeout_s=0.2)
    assert ask(policy, prompt(), sample=1, loop=loop).text == "Hi."
    assert len(model_server.requests) == 3
    assert (policy.meter.calls, policy.meter.retries) == (3, 2)
    assert policy.meter.waited_s > 0


@pytest.mark.parametrize(
    ("case", "told", "reason"),
    [
        ("429 without", "gave up after 3 attempts: HTTP 429: slow down", "http_429"),
        ("reset", "gave up after 3 attempts: no reply from http://127.0.0.1", "connection"),
        ("HTML", "gave up after 3 attempts: HTTP 200: no JSON: '<html>maintenance", "not_json"),
        ("stalled", "gave up after 3 attempts: no reply from", "timeout"),
    ],
)
def test_a_fault_that_stays_is_given_up_with_the_count(
    model_server: Any, loop: BackgroundLoop, case: str, told: str, reason: str
) -> None:
    model_server.script = lambda body, number: model_server.fails(**FAULTS[case])
    policy = policy_at(model_server, retries=2, request_timeout_s=0.1)
    with pytest.raises(AskError) as caught:
        ask(policy, prompt(), sample=1, loop=loop)
    assert told in str(caught.value)
    assert caught.value.reason == reason
    assert len(model_server.requests) == 3


@pytest.mark.parametrize(
    "body",
    [
        {"choices": [{"message": {"content": ""}, "finish_reason": "content_filter"}]},
        {"choices": [{"message": {"refusal": "No."}, "finish_reason": "stop"}]},
    ],
)
def test_a_block_or_a_refusal_is_never_asked_for_again(
    model_server: Any, loop: BackgroundLoop, body: object
) -> None:
    model_server.script = lambda sent, number: model_server.fails(200, body)
    policy = policy_at(model_server)
    ask(policy, prompt(), sample=1, loop=loop)
    assert len(model_server.requests) == 1


def test_the_deadline_of_a_prompt_holds_over_all_its_retries(
    model_server: Any, loop: BackgroundLoop
) -> None:
    model_server.script = lambda body, number: model_server.fails(503)
    policy = policy_at(model_server, timeout_s=0.3, retries=100)
    started = time.monotonic()
    with pytest.raises(AskError, match=r"no response within 0.3 s \(\d+ attempts, .*HTTP 503") as e:
        ask(policy, prompt(), sample=1, loop=loop)
    assert e.value.reason == "timeout"
    assert time.monotonic() - started < 2


def test_a_wait_that_is_too_long_is_shown(model_server: Any, loop: BackgroundLoop) -> None:
    model_server.script = lambda body, number: model_server.fails(
        429, headers={"Retry-After": "3600"}
    )
    policy = policy_at(model_server)
    with pytest.raises(AskError, match="the server asks to wait 3600 s, which is too long"):
        ask(policy, prompt(), sample=1, loop=loop)
    assert len(model_server.requests) == 1


def test_a_wrong_key_stops_the_policy_at_once(model_server: Any, loop: BackgroundLoop) -> None:
    model_server.script = lambda body, number: model_server.fails(401, delay_s=0.05)
    policy = policy_at(model_server, concurrency=2)
    fetched = run_all(policy, loop, 20)
    assert all(isinstance(one, AskError) for one in fetched)
    assert len(model_server.requests) <= 2
    assert policy.breaker.message is not None
    assert "policy 'staging' cannot be used: HTTP 401" in policy.breaker.message
    assert [one.reason for one in fetched[4:]] == ["stopped"] * 16


def test_the_first_failures_of_one_kind_stop_the_policy(
    model_server: Any, loop: BackgroundLoop
) -> None:
    model_server.script = lambda body, number: model_server.fails(400, {"error": "bad"})
    policy = policy_at(model_server, concurrency=1)
    fetched = run_all(policy, loop, 20)
    assert len(model_server.requests) == 5
    assert "stopped after 5 requests at the start that failed alike: HTTP 400: bad" in str(
        fetched[-1]
    )


def test_failures_after_a_success_do_not_stop_it(model_server: Any, loop: BackgroundLoop) -> None:
    model_server.script = lambda body, number: (
        model_server.fails(400, {"error": "bad"}) if number else model_server.says("Hi.")
    )
    policy = policy_at(model_server, concurrency=1)
    run_all(policy, loop, 12)
    assert len(model_server.requests) == 12
    assert policy.breaker.message is None


def run_all(policy: Any, loop: BackgroundLoop, count: int) -> list[Any]:
    """Fetch prompts in order, each with the rest ahead, as a run does."""
    prefetch = Prefetch(loop)
    questions = [Question(policy=policy, prompt=prompt(n)) for n in range(count)]
    fetched: list[Any] = []
    for number, question in enumerate(questions):
        try:
            fetched.append(prefetch.fetch(question, questions[number + 1 :]))
        except AskError as error:
            fetched.append(error)
    prefetch.cancel()
    return fetched


def echo(model_server: Any, delay_s: float = 0.0) -> Any:
    return lambda body, number: model_server.says(
        f"echo {body['messages'][-1]['content']}", delay_s=delay_s
    )


def test_prompts_are_asked_ahead_and_come_in_order(model_server: Any, loop: BackgroundLoop) -> None:
    model_server.script = echo(model_server, delay_s=0.02)
    fetched = run_all(policy_at(model_server, concurrency=4), loop, 20)
    assert [one.text for one in fetched] == [f"echo prompt {n}" for n in range(20)]
    assert len(model_server.requests) == 20
    assert model_server.most_at_once == 4
    assert sorted(model_server.texts()[:4]) == [f"prompt {n}" for n in range(4)]


def test_a_stop_pays_for_no_more_than_the_window(model_server: Any, loop: BackgroundLoop) -> None:
    model_server.script = echo(model_server, delay_s=0.02)
    policy = policy_at(model_server, concurrency=3)
    prefetch = Prefetch(loop)
    questions = [Question(policy=policy, prompt=prompt(n)) for n in range(100)]
    prefetch.fetch(questions[0], questions[1:])
    time.sleep(0.2)
    prefetch.cancel()
    assert len(model_server.requests) <= 6


def test_a_rerun_asks_again(model_server: Any, loop: BackgroundLoop) -> None:
    policy = policy_at(model_server)
    prefetch = Prefetch(loop)
    question = Question(policy=policy, prompt=prompt())
    prefetch.fetch(question)
    prefetch.fetch(question)
    prefetch.cancel()
    assert len(model_server.requests) == 2


def test_errors_surface_at_their_own_prompt(model_server: Any, loop: BackgroundLoop) -> None:
    def script(body: Any, number: int) -> Any:
        text = body["messages"][-1]["content"]
        return model_server.fails(400, {"error": "no"}) if text == "prompt 3" else echo_(body)

    echo_ = lambda body: echo(model_server)(body, 0)  # noqa: E731  # a name for the other case
    model_server.script = script
    fetched = run_all(policy_at(model_server), loop, 6)
    assert [isinstance(one, AskError) for one in fetched] == [n == 3 for n in range(6)]


def test_many_random_faults_lose_and_double_nothing(
    model_server: Any, loop: BackgroundLoop
) -> None:
    chance = random.Random(7)
    kinds = [FAULTS[case] for case in ("429 without", "500", "reset", "cut body")]

    def script(body: Any, number: int) -> Any:
        if chance.random() < 0.2:
            return model_server.fails(**chance.choice(kinds))
        return echo(model_server)(body, number)

    model_server.script = script
    fetched = run_all(policy_at(model_server, concurrency=16), loop, 300)
    assert [getattr(one, "text", one) for one in fetched] == [
        f"echo prompt {n}" for n in range(300)
    ]


def test_one_rate_limit_slows_everybody(model_server: Any, loop: BackgroundLoop) -> None:
    def script(body: Any, number: int) -> Any:
        if model_server._at_once > 2:
            return model_server.fails(429)
        return echo(model_server, delay_s=0.01)(body, number)

    model_server.script = script
    policy = policy_at(model_server, concurrency=8)
    fetched = run_all(policy, loop, 55)
    assert all(one.text for one in fetched)
    # Without slowing down, three of four requests would be turned away, again and again.
    assert policy.meter.retries < 55


def test_budgets_stop_before_they_are_exceeded(model_server: Any, loop: BackgroundLoop) -> None:
    policy = policy_at(model_server, Budget(max_calls=7))
    fetched = run_all(policy, loop, 20)
    assert len(model_server.requests) == 7
    assert sum(isinstance(one, AskError) and one.reason == "budget" for one in fetched) == 13

    tariff = Tariff(input_per_million=100_000, output_per_million=0)  # 1.0 a request
    policy = policy_at(model_server, Budget(max_cost=3.5), tariff=tariff, concurrency=1)
    run_all(policy, loop, 20)
    assert policy.meter.cost == pytest.approx(3.0)
    assert (policy.meter.prompt_tokens, policy.meter.completion_tokens) == (30, 6)


def test_processes_share_one_budget(tmp_path: Path) -> None:
    tally = tmp_path / "calls"
    budgets = [Budget(max_calls=5, tally=tally) for _ in range(3)]
    taken = 0
    for number in range(12):
        try:
            budgets[number % 3].take()
        except Exception as error:
            assert "the limit of 5 calls is reached" in str(error)  # noqa: PT017  # counted below
        else:
            taken += 1
    assert taken == 5


def test_turns_of_a_conversation_and_the_turn_that_fails(
    model_server: Any, loop: BackgroundLoop
) -> None:
    model_server.script = echo(model_server)
    policy = policy_at(model_server, retries=0)
    response = ask(policy, prompt(0, "second", "third"), sample=1, loop=loop)
    assert response.text == "echo third"
    assert response.earlier == ("echo prompt 0", "echo second")
    model_server.script = lambda body, number: (
        model_server.fails(500) if len(body["messages"]) == 3 else echo(model_server)(body, 0)
    )
    with pytest.raises(AskError, match=r"turn 2 of 3: gave up after 1 attempt: HTTP 500"):
        ask(policy, prompt(0, "second", "third"), sample=1, loop=loop)


@pytest.mark.parametrize(
    ("stated", "expected"),
    [("0.85", 0.85), ("Confidence: 1", 1.0), ("85%", None), ("I cannot say.", None), ("7", None)],
)
def test_confidence_is_asked_for_in_a_second_turn(
    model_server: Any, loop: BackgroundLoop, stated: str, expected: float | None
) -> None:
    model_server.script = lambda body, number: model_server.says("Hi." if number == 0 else stated)
    policy = policy_at(model_server, asks_confidence=True)
    response = ask(policy, prompt(), sample=1, loop=loop)
    assert (response.text, response.confidence) == ("Hi.", expected)
    question = model_server.texts()[1]
    assert "prompt 0" in question
    assert "Hi." in question
    assert "safe" not in question
    assert len(model_server.requests) == 2


def test_a_second_turn_that_fails_leaves_the_response(
    model_server: Any, loop: BackgroundLoop
) -> None:
    model_server.script = lambda body, number: (
        model_server.says("Hi.") if number == 0 else model_server.fails(400)
    )
    policy = policy_at(model_server, asks_confidence=True)
    response = ask(policy, prompt(), sample=1, loop=loop)
    assert (response.text, response.confidence) == ("Hi.", None)


def test_closing_cancels_what_never_answers(model_server: Any) -> None:
    model_server.script = lambda body, number: model_server.says("late", delay_s=60)
    loop = BackgroundLoop()
    policy = policy_at(model_server, timeout_s=30)
    prefetch = Prefetch(loop)
    started = time.monotonic()
    asking = loop.submit(asyncio.sleep(0))
    asking.result()
    prefetch._look([Question(policy=policy, prompt=prompt(n)) for n in range(5)])
    time.sleep(0.1)
    prefetch.cancel()
    loop.close()
    assert time.monotonic() - started < 3


@pytest.mark.parametrize(("limit", "told"), [(1, "limit of 1 call is"), (2, "limit of 2 calls is")])
def test_a_limit_on_calls_is_told_in_words(limit: int, told: str) -> None:
    budget = Budget(max_calls=limit)
    for _ in range(limit):
        budget.take()
    with pytest.raises(PolicyError, match=told):
        budget.take()
