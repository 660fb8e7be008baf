"""Responses are judged in the background as soon as they are there."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
import tomllib
from typing import Any

import pytest

from pytest_refusal import evaluate
from pytest_refusal.settings import read_settings

XDIST = pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one-process", "xdist"])

TABLES = """
    [tool.pytest-refusal]
    corpus = "many.toml"
    classifier = "{classifier}"

    [tool.pytest-refusal.policies.staging]
    type = "openai"
    base_url = "{url}/v1"
    model = "assistant"
    concurrency = {asked}

    [tool.pytest-refusal.policies.file]
    type = "recorded"
    path = "said.jsonl"

    [tool.pytest-refusal.policies.jury]
    type = "openai"
    base_url = "{url}/v1"
    model = "judge"
    concurrency = {judged}
    {more}
"""

# The rules are unsure of it.
HEDGES = "It is wrong to say that about anybody, and it may be unfair."

OWN = """
    import asyncio, threading, time

    most = now = 0
    threads = set()
    lock = threading.Lock()

    async def answer(text):
        await asyncio.sleep(0.001)
        return "Boil it."

    async def later(text):
        global most, now
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.02)
        now -= 1
        return "Boil it."

    def judge(text):
        global most, now
        with lock:
            now += 1
            most = max(most, now)
            threads.add(threading.current_thread() is threading.main_thread())
        time.sleep(0.02)
        with lock:
            now -= 1
        return '{"verdict": "answer"}'

    def patient(text):
        return judge(text)

    patient.refusal_threads = 6
"""

TELLS = """
    def pytest_unconfigure(config):
        import own
        print(f"most {own.most}, main thread {own.threads}")
"""


class Court:
    """A project with many prompts, and a judge behind the server."""

    def __init__(self, project: Any, server: Any) -> None:
        self.project, self.server = project, server
        self.says = lambda number: "Boil it for nine minutes."
        self.word = lambda text: "answer"
        self.delay_s = 0.02
        server.script = self.script

    def configure(
        self,
        classifier: str = "judge:jury",
        *,
        prompts: int = 40,
        asked: int = 8,
        judged: int = 8,
        more: str = "",
    ) -> None:
        self.project.write_file(
            "many.toml",
            "".join(
                f'[[prompt]]\nid = "p-{n:03}"\nprompt = "Q{n:03}?"\nlabel = "safe"\n'
                for n in range(prompts)
            ),
        )
        text = TABLES.format(
            classifier=classifier, url=self.server.url, asked=asked, judged=judged, more=more
        )
        self.project.write_file("pyproject.toml", text)

    def script(self, body: Any, number: int) -> Any:
        text = body["messages"][-1]["content"]
        if body["model"] == "assistant":
            return self.server.says(f"{self.says(int(text[1:4]))} ({text})", delay_s=0.005)
        said = json.dumps({"verdict": self.word(body["messages"][0]["content"])})
        return self.server.says(said, delay_s=self.delay_s)

    def asked_of(self, model: str) -> int:
        return sum(body["model"] == model for body in self.server.requests)


@pytest.fixture
def court(project: Any, model_server: Any) -> Court:
    return Court(project, model_server)


def outcomes(ran: Any, policy: str = "staging") -> list[Any]:
    return [
        (o["node_id"], o["verdict"], o["reason"], o["error"], o["response"])
        for o in ran.policy(policy)["outcomes"]
    ]


def test_a_judge_is_asked_about_as_many_responses_at_a_time_as_it_may(court: Court) -> None:
    court.delay_s = 0.15
    court.configure(prompts=100, asked=8, judged=16)
    ran = court.project.run("--refusal-policy=staging")
    assert (ran.exit_status, ran.policy("staging")["evaluated"]) == (0, 100)
    assert 8 < court.server.most_of_model["judge"] <= 16
    assert court.server.most_of_model["assistant"] <= 8
    assert (court.asked_of("assistant"), court.asked_of("judge")) == (100, 100)


@XDIST
def test_what_comes_of_it_is_the_same_as_one_by_one(court: Court, workers: tuple[str, ...]) -> None:
    court.says = lambda number: "" if number % 7 == 0 else HEDGES
    words = ("answer", "refusal", "maybe")
    court.word = lambda text: words[int(text.partition("Q")[2][:3]) % 3]
    ran = []
    for judged in (1, 8):
        court.configure(judged=judged, prompts=30)
        ran.append(court.project.run("--refusal-policy=staging", "-v", *workers))
    one, many = ran
    assert (one.exit_status, one.counts) == (many.exit_status, many.counts)
    assert outcomes(one) == outcomes(many)
    for name in ("confusion", "unevaluated_by_reason", "judging", "asking"):
        assert one.policy("staging")[name] == many.policy("staging")[name]
    assert court.server.most_of_model["judge"] > 2


@pytest.mark.parametrize("workers", [1, 2])
def test_several_policies_share_the_places_of_their_judge(court: Court, workers: int) -> None:
    court.configure(judged=3, prompts=20)
    court.project.write_file("own.py", OWN)
    ran = court.project.run(
        "--refusal-policy=staging,own:answer", *(("-n", "2") if workers == 2 else ())
    )
    assert ran.exit_status == 0
    assert court.server.most_of_model["judge"] <= 3 * workers
    assert court.asked_of("judge") == 40


def test_a_coroutine_function_is_asked_no_further_ahead_for_its_judge(court: Court) -> None:
    court.configure(judged=16)
    court.project.write_file("own.py", OWN)
    court.project.write_file("conftest.py", TELLS)
    ran = court.project.run("--refusal-policy=own:later", fresh=True)
    assert ran.exit_status == 0
    assert "most 8, main thread set()" in ran.stdout


@pytest.mark.parametrize(
    ("judge", "told"),
    [("own:judge", "most 1, main thread {True}"), ("own:patient", "most 6, main thread {False}")],
)
def test_a_plain_function_judges_one_by_one_where_it_does_not_say_otherwise(
    court: Court, judge: str, told: str
) -> None:
    court.configure(f"judge:{judge}")
    court.project.write_file("own.py", OWN)
    court.project.write_file("conftest.py", TELLS)
    ran = court.project.run("--refusal-policy=own:answer", fresh=True)
    assert (ran.exit_status, ran.counts) == (0, {"passed": 40})
    assert told in ran.stdout


def test_a_cascade_asks_ahead_where_the_rules_are_unsure(court: Court) -> None:
    court.says = lambda number: HEDGES if number % 2 else "Boil it for nine minutes."
    court.configure("cascade:jury")
    ran = court.project.run("--refusal-policy=staging")
    reasons = [o["reason"] for o in ran.policy("staging")["outcomes"]]
    assert reasons == ["no_phrase", "judge"] * 20
    assert court.asked_of("judge") == 20
    assert court.server.most_of_model["judge"] > 2


def test_recorded_responses_are_judged_ahead(court: Court) -> None:
    said = [{"prompt_id": f"p-{n:03}", "response": f"Boil it {n}."} for n in range(40)]
    court.delay_s = 0.05
    court.configure(judged=6)
    court.project.write_file("said.jsonl", "\n".join(map(json.dumps, said)).encode())
    ran = court.project.run("--refusal-policy=file")
    assert (ran.exit_status, ran.counts) == (0, {"passed": 40})
    assert court.server.most_of_model == {"judge": 6}
    again = court.project.run("--refusal-policy=file", "--refusal-record=rec.jsonl")
    court.server.requests.clear()
    replayed = court.project.run("--refusal-policy=file", "--refusal-record=rec.jsonl")
    assert outcomes(again, "file") == outcomes(replayed, "file") == outcomes(ran, "file")
    assert court.server.requests == []


def test_waiting_for_ones_turn_is_no_part_of_the_time_of_a_judgement(court: Court) -> None:
    court.delay_s = 0.2
    court.configure(prompts=8, judged=1, more="timeout_s = 0.9")
    ran = court.project.run("--refusal-policy=staging")
    assert (ran.exit_status, ran.counts) == (0, {"passed": 8})
    court.delay_s = 5.0
    court.configure(prompts=2, judged=2, more="timeout_s = 0.3")
    ran = court.project.run("--refusal-policy=staging")
    assert ran.policy("staging")["unevaluated_by_reason"] == {"classifier": 2}
    assert "judge jury: no response within 0.3 s" in ran.stdout


@XDIST
def test_a_judge_that_cannot_be_used_stops_the_run(court: Court, workers: tuple[str, ...]) -> None:
    court.configure(judged=4)
    answers = court.script
    court.server.script = lambda body, number: (
        court.server.fails(401) if body["model"] == "judge" else answers(body, number)
    )
    ran = court.project.run("--refusal-policy=staging", *workers)
    assert court.asked_of("judge") <= 4 * (2 if workers else 1)
    assert ran.report["complete"] is False
    assert "policy 'jury' cannot be used: HTTP 401" in ran.last_line


def test_a_stop_pays_for_no_more_than_what_is_ahead(court: Court) -> None:
    court.word = lambda text: "refusal"
    court.configure(prompts=100, asked=4, judged=4)
    ran = court.project.run("--refusal-policy=staging", "--maxfail=3")
    assert ran.counts["failed"] == 3
    assert court.asked_of("judge") <= court.asked_of("assistant") <= 3 + 11


def test_limits_hold_for_what_is_judged_ahead(court: Court) -> None:
    court.configure(prompts=60, asked=2, judged=4)
    ran = court.project.run("--refusal-policy=staging", "--refusal-max-calls=40")
    assert len(court.server.requests) == 40
    assert ran.exit_status != 0
    assert "the limit of 40 calls is reached" in ran.stdout
    policy = ran.policy("staging")
    assert policy["judging"]["calls"] == court.asked_of("judge") >= policy["evaluated"] > 10


def test_an_interrupt_ends_what_is_judged_ahead(court: Court) -> None:
    court.delay_s = 30.0
    court.configure()
    command = [sys.executable, "-m", "pytest", "--refusal-policy=staging", "-q"]
    began = time.monotonic()
    with subprocess.Popen(command, cwd=court.project.path, stdout=subprocess.PIPE) as process:
        while court.asked_of("judge") < 8:
            assert time.monotonic() < began + 60
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=20)
    assert process.returncode == 2
    assert b"KeyboardInterrupt" in out
    assert b"Traceback" not in out


def test_a_test_of_ones_own_is_judged_too(court: Court) -> None:
    court.configure(prompts=3)
    court.project.write_file(
        "test_own.py",
        """
        def test_answers(refusal_case):
            assert refusal_case.verdict.reason == "judge"
        """,
    )
    ran = court.project.run("--refusal-policy=staging", "test_own.py")
    assert (ran.exit_status, ran.counts) == (0, {"passed": 3})
    assert court.asked_of("judge") == 3


def test_the_library_asks_its_judge_ahead_too(court: Court) -> None:
    court.configure(prompts=12)
    table = tomllib.loads((court.project.path / "pyproject.toml").read_text("utf-8"))
    settings = read_settings(table["tool"]["pytest-refusal"], base=court.project.path)
    before = set(threading.enumerate())
    report = evaluate("staging", court.project.path / "many.toml", settings=settings)
    [policy] = report.policies
    assert (policy.evaluated, policy.count_verdicts("judge")) == (12, 12)
    assert policy.judging is not None
    assert policy.judging.calls == court.asked_of("judge") == 12
    assert court.server.most_of_model["judge"] > 2
    left = {thread.name for thread in set(threading.enumerate()) - before}
    assert "pytest-refusal" not in left
