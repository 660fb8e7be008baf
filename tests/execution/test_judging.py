"""Judgements apart from any classifier: which response is judged, by whom, and how often."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pytest_refusal.errors import ClassifierError, SettingsError
from pytest_refusal.execution.judging import Judge, Judging
from pytest_refusal.execution.recording import Recording, RecordMode
from pytest_refusal.outcome import Trial
from pytest_refusal.prompt import Label, Message, Prompt, Role
from pytest_refusal.protocols import Steps
from pytest_refusal.response import Response


@dataclass
class Echo:
    """A judge that says what it was asked, and keeps count."""

    name: str = "echo"
    takes_conversation: bool = True
    concurrency: int = 2
    asked: list[str] = field(default_factory=list)
    samples: list[int] = field(default_factory=list)
    pause_s: float = 0.01
    most: int = 0
    now: int = 0

    async def respond(self, prompt: Prompt, *, sample: int) -> Response:
        self.now += 1
        self.most = max(self.most, self.now)
        self.asked.append(prompt.text)
        self.samples.append(sample)
        await asyncio.sleep(self.pause_s)
        self.now -= 1
        if "fail" in prompt.text:
            raise OSError("no")
        return Response(text=prompt.text)


class Plain:
    name = "plain"
    takes_conversation = False

    def respond(self, prompt: Prompt, *, sample: int) -> Response:
        assert threading.current_thread() is threading.main_thread()
        return Response(text=prompt.text)


def ask_twice(prompt: Prompt, response: Response) -> Steps[object]:
    """Ask about a response, then about the reply; a response of "sure" is not asked about."""
    if response.text == "sure":
        return "sure"
    first = yield question(prompt, response.text)
    second = yield question(prompt, first.text + "!")
    return second.text


def question(prompt: Prompt, text: str) -> Prompt:
    message = Message(role=Role.USER, content=text)
    return Prompt(id=prompt.id, corpus=prompt.corpus, label=Label.SAFE, messages=(message,))


def judge_of(policy: Echo | Plain) -> Judge:
    return Judge(
        name="the judge",
        policy=policy,
        steps=ask_twice,
        is_usable=lambda _, reply: bool(reply.text),
    )


def trial(number: int = 0, policy: str = "bot", sample: int = 1) -> Trial:
    message = Message(role=Role.USER, content="Q")
    prompt = Prompt(id=f"p{number}", corpus="c", label=Label.SAFE, messages=(message,))
    return Trial(prompt=prompt, policy=policy, sample=sample)


@pytest.fixture
def echo() -> Echo:
    return Echo()


@pytest.fixture
def judging(echo: Echo) -> Iterator[Judging]:
    judging = Judging({"bot": judge_of(echo), "other": judge_of(echo)})
    yield judging
    judging.close()


def test_what_was_begun_is_not_asked_again(judging: Judging, echo: Echo) -> None:
    responses = [Response(text=f"r{n}") for n in range(6)]
    for number, response in enumerate(responses):
        judging.begin(trial(number, "bot" if number % 2 else "other"), response)
    found = [
        judging.judge(trial(number, "bot" if number % 2 else "other"), response)
        for number, response in enumerate(responses)
    ]
    assert found == [f"r{n}!" for n in range(6)]
    assert (len(echo.asked), echo.most, set(echo.samples)) == (12, 2, {1})


def test_a_response_that_came_later_is_judged_itself(judging: Judging, echo: Echo) -> None:
    judging.begin(trial(), Response(text="before"))
    assert judging.judge(trial(), Response(text="after")) == "after!"
    response = Response(text="again")
    assert judging.judge(trial(), response) == judging.judge(trial(), response) == "again!"
    assert echo.asked.count("again") == 2


def test_what_needs_no_judge_asks_none_and_waits_for_none(judging: Judging, echo: Echo) -> None:
    echo.pause_s = 60
    for number in range(3):
        judging.begin(trial(number), Response(text="r"))
    response = Response(text="sure")
    judging.begin(trial(9), response)
    assert judging.judge(trial(9), response) == "sure"
    assert echo.most <= 2


def test_a_judge_that_fails_is_named(judging: Judging) -> None:
    response = Response(text="fail")
    judging.begin(trial(), response)
    with pytest.raises(ClassifierError, match=r"^judge the judge: OSError: no") as caught:
        judging.judge(trial(), response)
    assert caught.value.reason == "classifier"


def test_what_is_plain_is_asked_where_it_is_waited_for() -> None:
    judging = Judging({"bot": judge_of(Plain())})
    assert judging.at_once("bot") == judging.at_once("nobody") == 0
    assert judging.judge(trial(), Response(text="r")) == "r!"
    judging.close()


def test_nothing_is_begun_after_the_end(judging: Judging, echo: Echo) -> None:
    judging.begin(trial(), Response(text="r"))
    judging.close()
    judging.begin(trial(1), Response(text="r"))
    assert len(echo.asked) <= 1


def test_each_response_is_judged_on_its_own_and_replayed(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    trials = [trial(policy=policy, sample=n) for policy in ("bot", "other") for n in (1, 2)]
    response = Response(text="the same")
    counts = []
    for mode in (RecordMode.NEW, RecordMode.NEW, RecordMode.NONE):
        echo, recording = Echo(), Recording(path, mode)
        judging = Judging({"bot": judge_of(echo), "other": judge_of(echo)}, recording=recording)
        assert [judging.judge(one, response) for one in trials] == ["the same!"] * 4
        counts.append(len(echo.asked))
        assert set(echo.samples) <= {1}
        judging.close()
        recording.close()
    assert counts == [8, 0, 0]
    judging = Judging({"bot": judge_of(Echo())}, recording=Recording(path, RecordMode.NONE))
    assert judging.is_replayed(trials[0], response)
    assert not judging.is_replayed(trials[0], Response(text="another"))
    assert not judging.is_replayed(trials[0], Response(text="sure"))
    with pytest.raises(ClassifierError, match="has a judgement of this prompt, but of") as caught:
        judging.judge(trials[0], Response(text="another"))
    assert caught.value.reason == "not_recorded"
    with pytest.raises(ClassifierError, match="has no judgement of it; record it with"):
        judging.judge(trial(7), Response(text="another"))
    # A prompt may get another name, for it is not what the judge is asked.
    assert judging.judge(trial(7), response) == "the same!"


def test_a_recording_of_judgements_is_checked_like_any_other(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(
        '{"policy": "j", "judged": 3, "corpus": "c", "prompt_id": "p", "sample": 1,'
        ' "prompt": "q", "response": {"text": "t"}, "key": "k"}\n'
    )
    with pytest.raises(SettingsError, match="not a line of a recording"):
        Recording(path, RecordMode.NEW)
