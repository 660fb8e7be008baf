"""All asking of one run in one process: recorded or live, ahead, within its limits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

from pytest_refusal.execution.asking import AskError, ask, is_async
from pytest_refusal.execution.breaker import Breaker, StoppedError
from pytest_refusal.execution.conversation import UNUSABLE_REPLIES, calls_of
from pytest_refusal.execution.judging import Judge, Judging
from pytest_refusal.execution.loop import BackgroundLoop
from pytest_refusal.execution.meter import Budget, Meter, SpentError
from pytest_refusal.execution.prefetch import Prefetch, Question, concurrency_of, window_of
from pytest_refusal.execution.recording import Recording, RecordMode
from pytest_refusal.execution.recording_policy import NotInRecordingError, RecordingPolicy
from pytest_refusal.execution.retry import RetryingPolicy
from pytest_refusal.outcome import Trial
from pytest_refusal.protocols import Policy
from pytest_refusal.response import Response

# Why a prompt may have no response that is no fault of its policy.
_NO_FAULT = UNUSABLE_REPLIES | {
    *(NotInRecordingError.reason, SpentError.reason, StoppedError.reason),
    "cancelled",
}

_NOBODY: Mapping[str, Judge] = MappingProxyType({})


class Asker:
    """Asks the policies of a run, and their judges.

    policies: by the names that trials have.  recording: of all of them, or none.
    judges: who is asked about the responses of a policy, by its name.
    is_usable: whether a recorded response can be judged, else it is asked for again.
    asks_ahead: whether a policy makes use of the trials that are named as coming next.
    """

    def __init__(
        self,
        policies: Mapping[str, Policy],
        loop: BackgroundLoop,
        *,
        budget: Budget | None = None,
        recording: Recording | None = None,
        judges: Mapping[str, Judge] = _NOBODY,
        is_usable: Callable[[Response], bool] = lambda _: True,
    ) -> None:
        self._live = dict(policies)
        self.judges = judges
        self._judging = Judging(judges, recording=recording)
        self._loop = loop
        self._budget = budget
        self._recording = recording
        self._prefetch = Prefetch(loop)
        self.policies: Mapping[str, Policy] = self._live
        asked = (*self._live.values(), *(judge.policy for judge in judges.values()))
        self._remote = [policy for policy in asked if isinstance(policy, RetryingPolicy)]
        if budget is not None:
            for remote in self._remote:
                remote.budget = budget
        if recording is not None:
            self.policies = {
                name: RecordingPolicy(
                    policy, recording, is_usable=lambda _, response: is_usable(response)
                )
                for name, policy in self._live.items()
            }
        # One that is not asked ahead costs no more than pytest's own limits let it.
        self._breakers = {
            name: Breaker(name, counted="prompts")
            for name, policy in self.policies.items()
            if concurrency_of(policy) > 0
        }
        self._failed: set[object] = set()
        self._windows = {name: self._window(name) for name in self.policies}
        self.asks_ahead = any(self._windows.values())
        hiders = [getattr(policy, "hide", None) for policy in asked]
        self._hiders: Sequence[Callable[[str], str]] = [hide for hide in hiders if hide]

    def fetch(self, trial: Trial, ahead: Iterable[Trial] = ()) -> Response:
        """Return the response to a trial; those ahead are asked meanwhile.

        ahead: the trials that are sure to come next in this process, in order; read only as
        far as needed.  Raises AskError.
        """
        if not self.asks_ahead:
            policy = self.policies[trial.policy]
            return ask(policy, trial.prompt, sample=trial.sample, loop=self._loop)
        breaker = self._breakers.get(trial.policy)
        if breaker is not None and breaker.message is not None:
            raise AskError(breaker.message, reason=StoppedError.reason)
        question = self._question(trial)
        try:
            response = self._prefetch.fetch(question, map(self._question, ahead))
        except AskError as error:
            # A prompt that is run again and again is one prompt.
            is_new = error.reason not in _NO_FAULT and question.key not in self._failed
            if breaker is not None and is_new:
                self._failed.add(question.key)
                breaker.failed(error)
            raise
        if breaker is not None:
            breaker.succeeded()
        return response

    def judge(self, trial: Trial, response: Response) -> object:
        """Return the judgement of a response, by a judge that is there for its policy.

        Raises ClassifierError where the judge gives no reply, and what its steps raise.
        """
        return self._judging.judge(trial, response)

    def window(self, policy: str) -> int:
        """How many prompts of a policy may be asked and not yet fetched; 0 if none ahead."""
        return self._windows[policy]

    def open_loops(self) -> None:
        """Make the event loops now, where a policy or a judge says that it will be awaited.

        Others may be all the same.
        """
        if self.asks_ahead or any(is_async(policy) for policy in self.policies.values()):
            self._loop.open()
        self._judging.open()

    def cancel(self) -> None:
        """Cancel what was asked ahead and is not wanted any more."""
        self._prefetch.cancel()
        self._judging.cancel()

    def close(self) -> None:
        """Cancel what is under way and close the recording; the loop closes the connections."""
        self.cancel()
        self._judging.close()
        if self._recording is not None:
            self._recording.close()

    @property
    def stopped(self) -> str | None:
        """Why a policy or a judge is asked no more, in words; None while all are."""
        breakers = (*(policy.breaker for policy in self._remote), *self._breakers.values())
        for breaker in breakers:
            if breaker.message is not None:
                return self.hide(breaker.message)
        return None if self._budget is None else self._budget.message

    def hide(self, text: str) -> str:
        """Return `text` without the keys that the policies and judges of the run hold."""
        for hide in self._hiders:
            text = hide(text)
        return text

    def meters(self) -> Mapping[str, Meter]:
        """Return the counts of each policy that has any."""
        found = {name: getattr(policy, "meter", None) for name, policy in self.policies.items()}
        return {name: meter for name, meter in found.items() if isinstance(meter, Meter)}

    def judging(self) -> Mapping[str, Meter]:
        """Return the counts of the judge of each policy, where it has any."""
        return self._judging.meters()

    def replays(self, trial: Trial) -> bool:
        """Whether the response to a trial will come from the recording, and no call be made."""
        recording = self._recording
        if recording is None:
            return False
        if recording.mode is RecordMode.NONE:
            return True
        return self._recorded(trial) is not None

    def replays_judgement(self, trial: Trial) -> bool:
        """Whether response and judgement will both come from the recording, and no call be made."""
        response = self._recorded(trial)
        return response is not None and self._judging.is_replayed(trial, response)

    def planned_calls(self, trials: Iterable[Trial]) -> Mapping[str, int]:
        """Count the requests that trials will take, for each policy behind a network.

        An upper bound where conversations were recorded: later turns depend on replies.
        """
        counts: dict[str, int] = {}
        for trial in trials:
            policy = self._live[trial.policy]
            if isinstance(policy, RetryingPolicy):
                calls = 0 if self.replays(trial) else calls_of(policy, trial.prompt)
                counts[trial.policy] = counts.get(trial.policy, 0) + calls
        return counts

    def _question(self, trial: Trial) -> Question:
        at_once = self._judging.at_once(trial.policy)
        return Question(
            policy=self.policies[trial.policy],
            prompt=trial.prompt,
            sample=trial.sample,
            judged_at_once=at_once,
            arrived=partial(self._judging.begin, trial) if at_once else None,
        )

    def _window(self, policy: str) -> int:
        return window_of(self.policies[policy], judged_at_once=self._judging.at_once(policy))

    def _recorded(self, trial: Trial) -> Response | None:
        policy = self.policies[trial.policy]
        if not isinstance(policy, RecordingPolicy):
            return None
        return policy.recorded(trial.prompt, trial.sample)
