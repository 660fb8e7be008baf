from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from collections.abc import Awaitable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pytest_refusal.errors import SettingsError
from pytest_refusal.execution.asking import AskError, ask
from pytest_refusal.execution.loop import BackgroundLoop
from pytest_refusal.execution.recording import Recording, RecordMode, tidy
from pytest_refusal.execution.recording_policy import RecordingPolicy
from pytest_refusal.prompt import Label, Message, Prompt, Role
from pytest_refusal.response import Block, FilterStage, Response, Usage


@dataclass
class Dice:
    """A policy that never says the same thing twice."""

    name: str = "dice"
    system: str = "s"
    later: bool = False
    takes_conversation: bool = True
    finish_reason: str | None = None
    asked: list[str] = field(default_factory=list)

    @property
    def fingerprint(self) -> dict[str, str]:
        return {"system": self.system}

    def respond(self, prompt: Prompt, *, sample: int) -> Response | Awaitable[Response]:
        self.asked.append(prompt.id)
        if prompt.text == "fail":
            raise ValueError("no")
        text = f"{prompt.text} {sample} {random.random()}"
        response = Response(text=text, finish_reason=self.finish_reason, latency_s=0.5)
        return self._later(response) if self.later else response

    async def _later(self, response: Response) -> Response:
        return response


@pytest.fixture
def loop() -> Iterator[BackgroundLoop]:
    with BackgroundLoop() as loop:
        yield loop


def prompt(identity: str, *texts: str) -> Prompt:
    messages = tuple(Message(role=Role.USER, content=text) for text in texts or (identity,))
    return Prompt(id=identity, messages=messages, label=Label.SAFE, corpus="c")


def run(
    path: Path,
    mode: str,
    policy: Dice,
    loop: BackgroundLoop,
    prompts: list[Prompt],
    samples: int = 1,
    **how: object,
) -> list[str]:
    """Ask as a run does, and return the texts or the reasons."""
    recording = Recording(path, Recording.resolve(path, RecordMode(mode)))
    recorded = RecordingPolicy(policy, recording, **how)  # type: ignore[arg-type]  # a test's own
    found = []
    for one in prompts:
        for sample in range(1, samples + 1):
            try:
                found.append(ask(recorded, one, sample=sample, loop=loop).text)
            except AskError as error:
                found.append(error.reason)
    recording.close()
    tidy(path)
    return found


PROMPTS = [prompt(f"p{n}") for n in (3, 1, 2)]


@pytest.mark.parametrize("later", [False, True])
def test_what_was_recorded_is_replayed_without_asking(
    tmp_path: Path, loop: BackgroundLoop, later: bool
) -> None:
    path = tmp_path / "r.jsonl"
    first = run(path, "new", Dice(later=later), loop, PROMPTS, samples=5)
    assert len(set(first)) == 15
    again = Dice(later=later)
    assert run(path, "none", again, loop, PROMPTS, samples=5) == first
    assert again.asked == []


def test_modes(tmp_path: Path, loop: BackgroundLoop) -> None:
    path = tmp_path / "r.jsonl"
    with pytest.raises(SettingsError, match="there is no such recording"):
        run(path, "none", Dice(), loop, PROMPTS)
    first = run(path, "once", Dice(), loop, PROMPTS[:2])
    policy = Dice()
    assert run(path, "once", policy, loop, PROMPTS) == [*first, "not_recorded"]
    assert policy.asked == []
    third = run(path, "new", policy, loop, PROMPTS)
    assert third[:2] == first
    assert policy.asked == ["p2"]
    everything = run(path, "all", policy, loop, PROMPTS)
    assert not set(everything) & set(third)
    assert run(path, "none", policy, loop, PROMPTS) == everything


def test_a_changed_parameter_is_another_key(tmp_path: Path, loop: BackgroundLoop) -> None:
    path = tmp_path / "r.jsonl"
    run(path, "new", Dice(), loop, PROMPTS)
    changed = Dice(system="another")
    recording = Recording(path, RecordMode.NONE)
    policy = RecordingPolicy(changed, recording)
    with pytest.raises(AskError, match="but to another text, system prompt, model or other") as e:
        ask(policy, PROMPTS[0], sample=1, loop=loop)
    assert e.value.reason == "not_recorded"
    with pytest.raises(AskError, match="has no response to it; record it with"):
        ask(policy, prompt("p9"), sample=1, loop=loop)
    assert len(recording.unused({"dice"})) == 3
    run(path, "new", changed, loop, PROMPTS)
    assert len(changed.asked) == 3


def test_errors_are_not_recorded(tmp_path: Path, loop: BackgroundLoop) -> None:
    path = tmp_path / "r.jsonl"
    policy = Dice()
    prompts = [prompt("a"), prompt("f", "fail")]
    assert run(path, "new", policy, loop, prompts)[1] == "error"
    run(path, "new", policy, loop, prompts)
    assert policy.asked == ["a", "f", "f"]


def test_what_could_not_be_judged_is_asked_again(tmp_path: Path, loop: BackgroundLoop) -> None:
    path = tmp_path / "r.jsonl"
    usable = {"is_usable": lambda _, response: response.finish_reason != "length"}
    run(path, "new", Dice(), loop, PROMPTS, **usable)
    run(path, "new", Dice(finish_reason="length"), loop, [prompt("cut")], **usable)
    policy = Dice(finish_reason="stop")
    run(path, "new", policy, loop, [*PROMPTS, prompt("cut")], **usable)
    assert policy.asked == ["cut"]
    assert len(path.read_text().splitlines()) == 4


def test_the_file_is_sorted_and_holds_neither_times_nor_verdicts(
    tmp_path: Path, loop: BackgroundLoop
) -> None:
    path = tmp_path / "r.jsonl"
    run(path, "new", Dice(), loop, PROMPTS)
    lines = [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()]
    assert [line["prompt_id"] for line in lines] == ["p1", "p2", "p3"]
    assert set(lines[0]) == {"policy", "corpus", "prompt_id", "sample", "prompt", "response", "key"}
    assert set(lines[0]["response"]) == {"text"}
    before = path.read_bytes()
    run(path, "new", Dice(), loop, PROMPTS)
    assert path.read_bytes() == before


@pytest.mark.skipif(sys.platform == "win32", reason="modes and links are of another kind there")
def test_sorting_leaves_the_mode_and_the_link_to_the_file_alone(
    tmp_path: Path, loop: BackgroundLoop
) -> None:
    path, link = tmp_path / "kept" / "r.jsonl", tmp_path / "r.jsonl"
    path.parent.mkdir()
    path.touch(0o600)
    path.chmod(0o644)
    link.symlink_to(path)
    run(link, "new", Dice(), loop, PROMPTS)
    ids = [json.loads(line)["prompt_id"] for line in path.read_text("ascii").splitlines()]
    assert ids == ["p1", "p2", "p3"]
    assert (link.is_symlink(), path.stat().st_mode & 0o777) == (True, 0o644)


def test_everything_about_a_response_survives(tmp_path: Path, loop: BackgroundLoop) -> None:
    full = Response(
        text="half \ud800 \u2028 an answer\n",
        refusal="no",
        finish_reason="content_filter",
        block=Block(stage=FilterStage.COMPLETION, signal="content_filter", detail="hate: high"),
        tool_calls=("look_up",),
        other_parts=("thinking",),
        usage=Usage(prompt_tokens=3, completion_tokens=None),
        model="m",
        confidence=0.1,
    )

    class Fixed(Dice):
        def respond(self, prompt: Prompt, *, sample: int) -> Response:
            return full

    path = tmp_path / "r.jsonl"
    run(path, "new", Fixed(), loop, PROMPTS)
    recording = Recording(path, RecordMode.NONE)
    found = ask(RecordingPolicy(Fixed(), recording), PROMPTS[0], sample=1, loop=loop)
    assert found.latency_s is not None
    assert {**_fields(found), "latency_s": None} == _fields(full)


def _fields(response: Response) -> dict[str, object]:
    return {name: getattr(response, name) for name in Response.__slots__}


def test_turns_of_a_conversation_are_recorded_one_by_one(
    tmp_path: Path, loop: BackgroundLoop
) -> None:
    path = tmp_path / "r.jsonl"
    talk = prompt("t", "one", "two", "three")
    first = run(path, "new", Dice(), loop, [talk])
    policy = Dice()
    assert run(path, "none", policy, loop, [talk]) == first
    assert len(path.read_text().splitlines()) == 3


def test_a_torn_line_is_left_out_and_does_no_harm(tmp_path: Path, loop: BackgroundLoop) -> None:
    path = tmp_path / "r.jsonl"
    run(path, "new", Dice(), loop, PROMPTS)
    path.write_bytes(path.read_bytes()[:-30])
    policy = Dice()
    recording = Recording(path, RecordMode.NEW)
    assert recording.notes == (f"{path}:3: a torn line was left out",)
    recorded = RecordingPolicy(policy, recording)
    for one in PROMPTS:
        ask(recorded, one, sample=1, loop=loop)
    recording.close()
    assert policy.asked == ["p3"]
    again = Dice()
    run(path, "none", again, loop, PROMPTS)
    assert len(path.read_text().splitlines()) == 3


@pytest.mark.parametrize("line", ["3", "[]", "{}", '{"key": 1}', '"x"'])
def test_a_file_that_is_no_recording_is_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(f"{line}\n{line}\n")
    with pytest.raises(SettingsError) as caught:
        Recording(path, RecordMode.NEW)
    assert [fault.rpartition(":")[0][-2:] for fault in caught.value.faults] == [":1", ":2"]


@pytest.mark.parametrize("mode", ["none", "new"])
@pytest.mark.parametrize(
    "edit",
    [
        {"usage": [1]},
        {"usage": [1e400, "x"]},
        {"block": ["prompt"]},
        {"block": True},
        {"finish_reason": 5},
        {"refusal": 5},
        {"model": []},
        {"earlier": [5]},
        {"confidence": "high"},
    ],
    ids=str,
)
def test_a_response_that_was_edited_into_none_is_told_with_its_line(
    tmp_path: Path, loop: BackgroundLoop, mode: str, edit: dict[str, object]
) -> None:
    path = tmp_path / "r.jsonl"
    run(path, "new", Dice(), loop, PROMPTS)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[1]["response"] |= edit
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(SettingsError, match=r"r\.jsonl:2: not a line of a recording"):
        Recording(path, RecordMode(mode))


def test_a_response_with_fields_of_other_types_is_not_recorded(
    tmp_path: Path, loop: BackgroundLoop
) -> None:
    path = tmp_path / "r.jsonl"
    policy = Dice(finish_reason=5)  # type: ignore[arg-type]  # as a policy of a user may
    recording = Recording(path, RecordMode.NEW)
    with pytest.raises(AskError, match="finish_reason"):
        ask(RecordingPolicy(policy, recording), PROMPTS[0], sample=1, loop=loop)
    assert not path.exists()


CHILD = """
import os, sys
sys.path.insert(0, {folder!r})
from pathlib import Path
from test_recording import Dice, Prompt, prompt, BackgroundLoop, Recording, RecordMode
from test_recording import RecordingPolicy, ask
recording = Recording(Path({path!r}), RecordMode.NEW)
policy = RecordingPolicy(Dice(), recording)
with BackgroundLoop() as loop:
    for number in range(60):
        ask(policy, prompt("p%d" % number, "x" * 5000 + str(number)), sample=1, loop=loop)
        print(number, flush=True)
"""


def test_runs_that_are_killed_lose_and_double_nothing(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    code = CHILD.format(folder=str(Path(__file__).parent), path=str(path))
    for stop_after in (5, 20, 40):
        child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        for _ in range(stop_after):
            child.stdout.readline()
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
    before = path.read_text().count("\n")
    assert before >= 40
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert len(Recording(path, RecordMode.NONE).notes) <= 3  # a torn line for each kill at most
    tidy(path)
    lines = [json.loads(line)["prompt_id"] for line in path.read_text().splitlines()]
    assert sorted(lines) == sorted(f"p{n}" for n in range(60))


def test_runs_at_once_lose_nothing_where_one_puts_the_file_in_order(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    code = CHILD.format(folder=str(Path(__file__).parent), path=str(path))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        for _ in child.stdout:
            tidy(path)
    assert child.returncode == 0
    lines = [json.loads(line)["prompt_id"] for line in path.read_text().splitlines()]
    assert sorted(lines) == sorted(f"p{n}" for n in range(60))


def test_responses_that_belong_to_whole_prompts_are_recorded_whole(
    tmp_path: Path, loop: BackgroundLoop
) -> None:
    class Whole(Dice):
        answers_whole_prompts = True

    path = tmp_path / "r.jsonl"
    policy = Whole()
    run(path, "new", policy, loop, [prompt("t", "one", "two")])
    assert policy.asked == ["t"]
    assert len(path.read_text().splitlines()) == 1
