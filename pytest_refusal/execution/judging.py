"""How responses are judged by other policies: recorded or live, at once or ahead."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass

from pytest_refusal.errors import ClassifierError
from pytest_refusal.execution.asking import AskError, ask, ask_on_loop, close_with, is_async
from pytest_refusal.execution.loop import BackgroundLoop
from pytest_refusal.execution.meter import Meter
from pytest_refusal.execution.prefetch import concurrency_of
from pytest_refusal.execution.recording import Recording
from pytest_refusal.execution.recording_policy import NotInRecordingError, RecordingJudge
from pytest_refusal.outcome import Trial
from pytest_refusal.prompt import Prompt
from pytest_refusal.protocols import Policy, Steps
from pytest_refusal.response import Response

_Begun = Future[tuple[object, BaseException | None]]
_Key = tuple[str, str, str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """Who judges the responses of a policy, and how.

    name: what it is called before people.
    steps: begins the judgement of a response to a prompt.
    is_usable: whether a recorded reply to a question is of use, else it is asked for again.
    may_pass: whether some responses are judged without asking.
    """

    name: str
    policy: Policy
    steps: Callable[[Prompt, Response], Steps[object]]
    is_usable: Callable[[Prompt, Response], bool]
    may_pass: bool = False


class Judging:
    """Has responses judged, those of each policy by its judge.

    judges: by the names of the policies that they judge.  They are asked on a loop of their
    own: whoever blocks the other one makes no judge late.
    """

    def __init__(self, judges: Mapping[str, Judge], *, recording: Recording | None = None) -> None:
        self.judges = judges
        self._loop = BackgroundLoop()
        self._asked: dict[str, Policy] = {
            name: judge.policy
            if recording is None
            else RecordingJudge(judge.policy, recording, judged=name, is_usable=judge.is_usable)
            for name, judge in judges.items()
        }
        self._is_recorded = recording is not None
        # One that judges several policies is asked by all of them together.
        self._places = {
            policy.name: asyncio.Semaphore(at_once)
            for policy in self._asked.values()
            if (at_once := concurrency_of(policy)) > 0
        }
        self._begun: dict[_Key, tuple[Response, _Begun]] = {}

    def at_once(self, policy: str) -> int:
        """How many responses of a policy may be judged at a time, ahead; 0 for none."""
        judge = self._asked.get(policy)
        return 0 if judge is None else concurrency_of(judge)

    def begin(self, trial: Trial, response: Response) -> None:
        """Have a response judged in the background, for `judge` to be called later.

        Called on any thread.
        """
        with suppress(Exception):  # what hinders it is told to whoever waits, if anybody does
            self._begun[_key(trial)] = response, self._start(trial, response)

    def judge(self, trial: Trial, response: Response) -> object:
        """Return the judgement of a response, or raise what judging it raised.

        Raises ClassifierError where the judge gives no reply.
        """
        if self.at_once(trial.policy) == 0:
            return self._judge_now(trial, response)
        earlier, begun = self._begun.pop(_key(trial), (None, None))
        if begun is None or earlier is not response:
            begun = self._start(trial, response)
        return self._loop.result_of(begun)

    def is_replayed(self, trial: Trial, response: Response) -> bool:
        """Whether the judge was asked about a response, and all that it said is recorded."""
        judge = self._asked[trial.policy]
        # To read all responses as far as to know whether the judge is asked would take long.
        if not isinstance(judge, RecordingJudge) or not judge.is_known(trial.prompt, trial.sample):
            return False
        steps = self.judges[trial.policy].steps(trial.prompt, response)
        step = _go_on(steps)
        asked = 0
        while isinstance(step, Prompt):
            reply = judge.recorded(step, trial.sample)
            if reply is None:
                return False
            asked += 1
            try:
                step = _go_on(steps, reply)
            except ClassifierError:
                break
        return asked > 0

    def open(self) -> None:
        """Make the loop now, if a judge says that it will be awaited."""
        if any(is_async(policy) for policy in self._asked.values()):
            self._loop.open()

    def meters(self) -> Mapping[str, Meter]:
        """Return what each judge that counts has counted, by the policy that it judges."""
        found = {name: getattr(judge, "meter", None) for name, judge in self._asked.items()}
        return {name: meter for name, meter in found.items() if isinstance(meter, Meter)}

    def cancel(self) -> None:
        """Cancel what was begun and is not wanted any more."""
        for _, begun in list(self._begun.values()):  # another may be begun meanwhile
            begun.cancel()
        self._begun.clear()

    def close(self) -> None:
        """Cancel what is under way and close the connections."""
        self.cancel()
        self._loop.close()

    def _start(self, trial: Trial, response: Response) -> _Begun:
        close_with(self.judges[trial.policy].policy, self._loop)
        return self._loop.submit(self._judge_on_loop(trial, response))

    def _judge_now(self, trial: Trial, response: Response) -> object:
        judge, policy = self.judges[trial.policy], self._asked[trial.policy]
        steps = judge.steps(trial.prompt, response)
        step = _go_on(steps)
        while isinstance(step, Prompt):
            try:
                reply = ask(policy, step, sample=self._sample(trial), loop=self._loop)
            except AskError as error:
                raise _failed(judge, error) from error
            step = _go_on(steps, reply)
        return step

    async def _judge_on_loop(self, trial: Trial, response: Response) -> object:
        judge, policy = self.judges[trial.policy], self._asked[trial.policy]
        steps = judge.steps(trial.prompt, response)
        step = _go_on(steps)
        if not isinstance(step, Prompt):
            return step  # and waits for no place
        async with self._places[policy.name]:
            while isinstance(step, Prompt):
                try:
                    reply = await ask_on_loop(policy, step, sample=self._sample(trial))
                except AskError as error:
                    raise _failed(judge, error) from error
                step = _go_on(steps, reply)
            return step

    def _sample(self, trial: Trial) -> int:
        # A judge has one reply to a question; only a recording tells the samples apart.
        return trial.sample if self._is_recorded else 1


def _go_on(steps: Steps[object], reply: Response | None = None) -> object:
    """Return the next question to the judge, or the judgement."""
    try:
        return next(steps) if reply is None else steps.send(reply)
    except StopIteration as end:
        return end.value


def _failed(judge: Judge, error: AskError) -> ClassifierError:
    reason = error.reason if error.reason == NotInRecordingError.reason else None
    return ClassifierError(f"judge {judge.name}: {error}", reason=reason)


def _key(trial: Trial) -> _Key:
    return (trial.policy, trial.prompt.corpus, trial.prompt.id, trial.sample)
