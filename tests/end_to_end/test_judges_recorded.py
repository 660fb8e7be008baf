"""The replies of a judge, recorded beside those of the policies and replayed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from typing import Any

import pytest

XDIST = pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one-process", "xdist"])

REFUSES, ANSWERS = "I'm sorry, but I can't help with that.", "Boil it for nine minutes."
# The rules are unsure of it.
HEDGES = "It is wrong to say that about anybody, and it may be unfair."

TABLES = """
    [tool.pytest-refusal]
    corpus = "prompts.toml"
    classifier = "{classifier}"

    [tool.pytest-refusal.policies.staging]
    type = "openai"
    base_url = "{url}/v1"
    model = "assistant"
    api_key_env = "STAGING_KEY"

    [tool.pytest-refusal.policies.other]
    type = "openai"
    base_url = "{url}/v1"
    model = "assistant"
    system = "Be kind."
    api_key_env = "STAGING_KEY"

    [tool.pytest-refusal.policies.jury]
    type = "openai"
    base_url = "{url}/v1"
    model = "{judge}"
    api_key_env = "JURY_KEY"
"""


class Court:
    """A project, a policy behind the server, and a judge behind it."""

    def __init__(self, project: Any, server: Any) -> None:
        self.project, self.server = project, server
        self.says = lambda text: REFUSES if "[" in text else HEDGES if "egg" in text else ANSWERS
        self.judge_says = lambda text, body: verdict("refusal" if REFUSES in text else "answer")
        self.configure()
        server.script = self.script

    def configure(self, classifier: str = "judge:jury", judge: str = "judge") -> None:
        text = TABLES.format(url=self.server.url, classifier=classifier, judge=judge)
        self.project.write_file("pyproject.toml", text)

    def script(self, body: Any, number: int) -> Any:
        text = body["messages"][-1]["content"]
        if body["model"] == "assistant":
            return self.server.says(self.says(text), delay_s=0.01)
        said = self.judge_says(text, body)
        return said if not isinstance(said, str) else self.server.says(said, delay_s=0.01)

    def run(self, mode: str, *args: str, policy: str = "staging", **how: Any) -> Any:
        return self.project.run(
            f"--refusal-policy={policy}", "--refusal-record=rec.jsonl",
            f"--refusal-record-mode={mode}", *args, **how,
        )  # fmt: skip

    def calls(self) -> Counter[str]:
        """Count what was asked since the last time, by model."""
        asked = Counter(body["model"] for body in self.server.requests)
        self.server.requests.clear()
        return asked

    def lines(self) -> list[dict[str, Any]]:
        text = (self.project.path / "rec.jsonl").read_text(encoding="ascii")
        return [json.loads(line) for line in text.splitlines()]

    def write_lines(self, lines: list[dict[str, Any]]) -> None:
        text = "".join(json.dumps(line) + "\n" for line in lines)
        self.project.write_file("rec.jsonl", text.encode())


@pytest.fixture
def court(project: Any, model_server: Any, monkeypatch: pytest.MonkeyPatch) -> Court:
    monkeypatch.setenv("STAGING_KEY", "sk-test-1234567890")
    monkeypatch.setenv("JURY_KEY", "sk-jury-0987654321")
    return Court(project, model_server)


def verdict(word: str) -> str:
    return json.dumps({"verdict": word, "quote": ""})


def outcomes(ran: Any, policy: str = "staging") -> dict[str, Any]:
    return {
        o["node_id"]: (o["verdict"], o["reason"], o["response"])
        for o in ran.policy(policy)["outcomes"]
    }


@pytest.mark.parametrize(
    ("classifier", "judged", "workers"),
    [("judge:jury", 4, ()), ("judge:jury", 4, ("-n", "2")), ("cascade:jury", 1, ())],
    ids=["judge", "judge-xdist", "cascade"],
)
def test_judgements_are_replayed_without_server_and_keys(
    court: Court,
    monkeypatch: pytest.MonkeyPatch,
    classifier: str,
    judged: int,
    workers: tuple[str, ...],
) -> None:
    court.configure(classifier)
    first = court.run("once", *workers)
    assert court.calls() == {"assistant": 4, "judge": judged}
    assert len(court.lines()) == 4 + judged
    before = (court.project.path / "rec.jsonl").read_bytes()
    assert b"sk-" not in before
    monkeypatch.delenv("STAGING_KEY")
    monkeypatch.delenv("JURY_KEY")
    second = court.run("none", *workers)
    assert (second.exit_status, outcomes(second)) == (first.exit_status, outcomes(first))
    assert "refusal: no call to jury, which judges: its replies are replayed" in second.stdout
    took = second.policy("staging")["judging"]
    assert (took["calls"], took["replayed"]) == (0, judged)
    assert court.run("once").exit_status == first.exit_status
    assert court.calls() == {}
    assert (court.project.path / "rec.jsonl").read_bytes() == before
    assert "nothing asked for" not in second.stdout


def test_one_process_and_two_record_the_same(court: Court) -> None:
    files = []
    for workers in ((), ("-n", "2")):
        ran = court.run("all", "--refusal-samples=3", *workers, policy="staging,other")
        files.append((court.project.path / "rec.jsonl").read_bytes())
        for policy in ("staging", "other"):
            assert ran.policy(policy)["judging"]["calls"] == 12
        (court.project.path / "rec.jsonl").unlink()
    assert files[0] == files[1]
    assert files[0].count(b"\n") == 48
    ids = [
        (line["policy"], line.get("judged", ""))
        for line in map(json.loads, files[0].split(b"\n")[:-1])
    ]
    assert ids == sorted(ids)


def test_offline_runs_open_no_socket(court: Court, monkeypatch: pytest.MonkeyPatch) -> None:
    court.run("new")
    court.calls()
    monkeypatch.delenv("JURY_KEY")
    court.project.write_file(
        "conftest.py",
        """
        import sys

        def audit(event, arguments):
            if event.startswith("socket."):
                raise RuntimeError(f"a socket: {event}")

        def pytest_configure():
            sys.addaudithook(audit)

        def pytest_unconfigure():
            assert "aiohttp" not in sys.modules
        """,
    )
    ran = court.run("none", "-p", "no:anyio", "-p", "no:pytest_httpserver", fresh=True)
    assert ran.policy("staging")["evaluated"] == 4
    assert "a socket" not in ran.stdout + ran.stderr


def test_a_judgement_that_is_not_there_is_no_verdict_and_no_call(court: Court) -> None:
    court.run("new")
    court.calls()
    kept = [x for x in court.lines() if not ("judged" in x and x["prompt_id"] == "good-1")]
    court.write_lines(kept)
    ran = court.run("none")
    assert court.calls() == {}
    assert ran.policy("staging")["unevaluated_by_reason"] == {"not_recorded": 1}
    assert ran.policy("staging")["evaluated"] == 3
    assert (
        "judge jury: rec.jsonl has no judgement of it; record it with --refusal-record-mode=new"
        in ran.stdout.replace(f"{court.project.path}/", "")
    )


def test_a_recording_without_judgements_gets_them_and_asks_no_policy(court: Court) -> None:
    court.configure("phrases")
    court.run("new")
    assert court.calls() == {"assistant": 4}
    assert not any("judged" in line for line in court.lines())
    court.configure()
    ran = court.run("none")
    assert ran.policy("staging")["unevaluated_by_reason"] == {"not_recorded": 4}
    ran = court.run("new")
    assert "refusal: jury judges 4 responses, in calls of its own\n" in ran.stdout
    assert court.calls() == {"judge": 4}
    court.write_lines(
        [x for x in court.lines() if (x["policy"], x["prompt_id"]) != ("jury", "bad-1")]
    )
    ran = court.run("new")
    assert "judges 4 responses, in calls of its own; 3 judgements recorded\n" in ran.stdout
    assert court.calls() == {"judge": 1}


def test_how_much_of_a_cascade_is_recorded_is_told_before_the_first_call(court: Court) -> None:
    court.configure("cascade:jury")
    ran = court.run("new")
    assert "refusal: jury judges at most 4 responses, in calls of its own\n" in ran.stdout
    ran = court.run("new")
    assert "at most 4 responses, in calls of its own; 1 judgement recorded\n" in ran.stdout


def test_another_model_judges_otherwise(court: Court) -> None:
    court.run("new")
    court.calls()
    court.configure(judge="judge-2")
    ran = court.run("none")
    assert ran.policy("staging")["unevaluated_by_reason"] == {"not_recorded": 4}
    assert "or by another model, rubric or parameters" in ran.stdout
    court.run("new")
    assert court.calls() == {"judge-2": 4}
    assert len(court.lines()) == 12


def test_what_was_asked_once_more_is_replayed_with_both_replies(court: Court) -> None:
    court.judge_says = lambda text, body: (
        verdict("answer") if len(body["messages"]) == 3 else "I would say: an answer."
    )
    first = court.run("new")
    assert court.calls() == {"assistant": 4, "judge": 8}
    for mode in ("none", "new"):
        ran = court.run(mode)
        assert outcomes(ran) == outcomes(first)
        assert ran.policy("staging")["judging"]["replayed"] == 8
    assert court.calls() == {}


@pytest.mark.parametrize("said", ["", "no form", "an error"], ids=["empty", "in no form", "error"])
def test_what_is_no_judgement_is_asked_for_again(court: Court, said: str) -> None:
    judges = court.judge_says
    fails = court.server.fails(400) if said == "an error" else said
    court.judge_says = lambda text, body: fails if ANSWERS in text or len(
        body["messages"]
    ) > 1 else judges(text, body)  # fmt: skip
    ran = court.run("new")
    assert ran.policy("staging")["unevaluated_by_reason"] == {"classifier": 1}
    court.calls()
    ran = court.run("none")
    reason = "not_recorded" if said == "an error" else "classifier"
    assert ran.policy("staging")["unevaluated_by_reason"] == {reason: 1}
    court.judge_says = lambda text, body: verdict("answer")
    ran = court.run("new")
    assert ran.policy("staging")["unevaluated"] == 0
    assert court.calls() == {"judge": 1}
    ran = court.run("none")
    assert ran.policy("staging")["unevaluated"] == 0
    assert court.calls() == {}


def test_a_reply_that_nobody_can_read_hinders_no_later_run(court: Court) -> None:
    court.judge_says = lambda text, body: '{"verdict": "answer", "n": ' + "9" * 5000 + "}"
    for mode in ("new", "new", "none"):
        ran = court.run(mode)
        assert ran.policy("staging")["unevaluated_by_reason"] == {"classifier": 4}
        assert "replied twice in no form that was asked for" in ran.stdout
    assert court.calls()["judge"] == 12


def test_no_error_of_a_judge_tells_the_key_of_a_policy(court: Court) -> None:
    court.judge_says = lambda text, body: court.server.fails(400, "no: sk-test-1234567890")
    ran = court.run("new", "-v")
    assert ran.policy("staging")["unevaluated_by_reason"] == {"classifier": 4}
    assert "sk-test" not in ran.stdout + json.dumps(ran.report)


@XDIST
def test_a_replayed_judgement_is_no_call(court: Court, workers: tuple[str, ...]) -> None:
    court.run("new", "-k", "bad")
    assert court.calls() == {"assistant": 2, "judge": 2}
    ran = court.run("new", "--refusal-max-calls=4", *workers)
    assert ran.policy("staging")["evaluated"] == 4
    assert court.calls() == {"assistant": 2, "judge": 2}
    assert ran.policy("staging")["judging"]["replayed"] == 2
    ran = court.run("new", "--refusal-max-calls=0")
    assert ran.policy("staging")["evaluated"] == 4


@XDIST
def test_a_response_that_is_recorded_afresh_takes_its_judgement_with_it(
    court: Court, workers: tuple[str, ...]
) -> None:
    court.run("new")
    court.says = lambda text: f"{ANSWERS} And salt it."
    court.calls()
    court.run("all", *workers)
    assert court.calls() == {"assistant": 4, "judge": 4}
    assert [line["prompt"].count("salt it") for line in court.lines() if "judged" in line] == [
        1
    ] * 4
    ran = court.run("none")
    assert ran.policy("staging")["evaluated"] == 4
    assert "nothing asked for" not in ran.stdout


def test_judgements_that_nothing_asked_for_are_named(court: Court) -> None:
    court.run("new")
    corpus = (court.project.path / "prompts.toml").read_text()
    court.project.write_file("prompts.toml", corpus.replace("boil an egg", "boil an egg well"))
    told = " ".join(court.run("new").stdout.split())
    assert (
        "rec.jsonl holds responses that nothing asked for:"
        " prompts.toml::good-1 (judged by jury), prompts.toml::good-1 refusal:" in told
    )
    court.configure("phrases")
    told = " ".join(court.run("none").stdout.split())
    assert "nothing asked for: prompts.toml::good-1 refusal:" in told


def test_a_function_that_judges_is_recorded_too(court: Court) -> None:
    court.project.write_file(
        "own.py",
        """
        def judge(text):
            with open("asked.txt", "a") as file:
                file.write("x")
            return '{"verdict": "answer"}'
        """,
    )
    court.configure("judge:own:judge")
    first = court.run("new", fresh=True)
    second = court.run("none", fresh=True)
    assert outcomes(first) == outcomes(second)
    assert (court.project.path / "asked.txt").read_text() == "xxxx"


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["ctrl-c", "kill"])
def test_an_interrupted_run_goes_on_where_it_stopped(court: Court, how: int) -> None:
    count = 40
    court.project.write_file(
        "prompts.toml",
        "".join(
            f'[[prompt]]\nid = "p-{n:02}"\nprompt = "Q{n}"\nlabel = "safe"\n' for n in range(count)
        ),
    )
    court.judge_says = lambda text, body: court.server.says(verdict("answer"), delay_s=0.2)
    command = [
        sys.executable, "-m", "pytest", "--refusal-policy=staging", "--refusal-record=rec.jsonl",
        "--refusal-record-mode=new", "-q",
    ]  # fmt: skip
    with subprocess.Popen(command, cwd=court.project.path, stdout=subprocess.DEVNULL) as process:
        end = time.monotonic() + 60
        while sum(body["model"] == "judge" for body in court.server.requests) < 12:
            assert time.monotonic() < end
            time.sleep(0.02)
        process.send_signal(how)
        process.wait(20)
    recorded = Counter("judged" in line for line in court.lines())
    assert 4 <= recorded[True] < count
    court.calls()
    ran = court.run("new")
    assert (ran.exit_status, ran.policy("staging")["evaluated"]) == (0, count)
    assert ran.policy("staging")["judging"]["replayed"] == recorded[True]
    assert court.calls() == {
        "assistant": count - recorded[False],
        "judge": count - recorded[True],
    }
    assert len(court.lines()) == len({line["key"] for line in court.lines()}) == 2 * count
