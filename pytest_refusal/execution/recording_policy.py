"""Policies and judges that are recorded and replayed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from pytest_refusal.errors import PolicyError
from pytest_refusal.execution.meter import Meter
from pytest_refusal.execution.recording import Entry, Recording, RecordMode
from pytest_refusal.execution.wrapping import WrappingPolicy
from pytest_refusal.prompt import Prompt
from pytest_refusal.protocols import Policy
from pytest_refusal.response import Response, misfit


class NotInRecordingError(PolicyError):
    """A response is not in the recording, and nobody may be asked for it."""

    reason = "not_recorded"


class RecordingPolicy(WrappingPolicy):
    """A policy whose responses are recorded and replayed.

    is_usable: whether a response to a prompt is of use; what is not is asked for again where
    that is allowed.  Has the `concurrency` and `timeout_s` of the policy that is asked.
    judged: whose responses it judges; "" for a policy that judges none.
    """

    judged = ""

    def __init__(
        self,
        policy: Policy,
        recording: Recording,
        *,
        is_usable: Callable[[Prompt, Response], bool] = lambda *_: True,
    ) -> None:
        super().__init__(policy)
        self.meter: Meter = getattr(policy, "meter", Meter())
        self._recording = recording
        self._is_usable = is_usable

    @property
    def concurrency(self) -> int:
        """How many requests may be under way; 0 where none is sent."""
        found: int = getattr(self.policy, "concurrency", 0)
        return 0 if self._recording.mode is RecordMode.NONE else found

    @property
    def timeout_s(self) -> float | None:
        """How long one prompt may take; None where nobody is waited for."""
        found: float | None = getattr(self.policy, "timeout_s", None)
        return None if self._recording.mode is RecordMode.NONE else found

    @property
    def asks_confidence(self) -> bool:
        """Whether a second request asks for the confidence."""
        return bool(getattr(self.policy, "asks_confidence", False))

    @property
    def asks_by_token(self) -> bool:
        """Whether that request is answered by the probability of a token."""
        return bool(getattr(self.policy, "asks_by_token", False))

    def respond(self, prompt: Prompt, *, sample: int) -> Response | Awaitable[Response]:
        """Replay, or ask and record; raises NotInRecordingError where neither is possible."""
        key = self._key(prompt, sample)
        found = self._recording.find(key)
        may_ask = self._recording.mode is not RecordMode.NONE
        if found is not None and (not may_ask or self._is_usable(prompt, found)):
            self.meter.replayed += 1
            return found
        if not may_ask:
            raise NotInRecordingError(f"{self._recording.path} {self._missing(prompt, sample)}")
        response = self._respond(prompt, sample)
        if isinstance(response, Response):
            return self._keep(response, key, prompt, sample)
        return self._keep_later(response, key, prompt, sample)

    def recorded(self, prompt: Prompt, sample: int) -> Response | None:
        """Return what will be replayed to a prompt as it stands; None where nothing will."""
        found = self._recording.find(self._key(prompt, sample))
        return found if found is not None and self._is_usable(prompt, found) else None

    def is_known(self, prompt: Prompt, sample: int) -> bool:
        """Whether there is a response to a prompt of this name, whatever it was asked with."""
        return self._recording.holds((self.name, self.judged, prompt.corpus, prompt.id, sample))

    def _key(self, prompt: Prompt, sample: int) -> str:
        return key_of(self.policy, prompt, sample)

    def _respond(self, prompt: Prompt, sample: int) -> Response | Awaitable[Response]:
        return self.policy.respond(prompt, sample=sample)

    async def _keep_later(
        self, response: Awaitable[Response], key: str, prompt: Prompt, sample: int
    ) -> Response:
        return self._keep(await response, key, prompt, sample)

    def _keep(self, response: Response, key: str, prompt: Prompt, sample: int) -> Response:
        if isinstance(response, Response):  # else it is told where it is asked
            if misfit(response) is not None:
                return response  # that too
            entry = Entry(
                key=key,
                policy=self.name,
                judged=self.judged,
                corpus=prompt.corpus,
                prompt_id=prompt.id,
                sample=sample,
                prompt=prompt.text,
                response=replace(response, latency_s=None),
            )
            self._recording.add(entry)
        return response

    def _missing(self, prompt: Prompt, sample: int) -> str:
        if self.is_known(prompt, sample):
            return (
                "has a response to this prompt, but to another text, system prompt,"
                " model or other parameters; record again with --refusal-record-mode=new"
            )
        return "has no response to it; record it with --refusal-record-mode=new"


class RecordingJudge(RecordingPolicy):
    """A judge of the responses of one policy, whose replies are recorded and replayed.

    A prompt is a question about a response, and its sample the number of that response: each is
    judged on its own, as it is where nothing is recorded.
    """

    def __init__(
        self,
        policy: Policy,
        recording: Recording,
        *,
        judged: str,
        is_usable: Callable[[Prompt, Response], bool],
    ) -> None:
        super().__init__(policy, recording, is_usable=is_usable)
        self.judged = judged

    def _key(self, prompt: Prompt, sample: int) -> str:
        return key_of(self.policy, prompt, sample, judged=self.judged)

    def _respond(self, prompt: Prompt, sample: int) -> Response | Awaitable[Response]:  # noqa: ARG002  # that of another
        return self.policy.respond(prompt, sample=1)

    def _missing(self, prompt: Prompt, sample: int) -> str:
        if self.is_known(prompt, sample):
            return (
                "has a judgement of this prompt, but of another response, or by another model,"
                " rubric or parameters; record again with --refusal-record-mode=new"
            )
        return "has no judgement of it; record it with --refusal-record-mode=new"


def key_of(policy: Policy, prompt: Prompt, sample: int, *, judged: str = "") -> str:
    """Hash all that determines a response: the policy's parameters, the messages, the sample.

    judged: whose response the messages are about, so that two policies that say the same are
    judged apart.
    """
    fingerprint: Mapping[str, object] = getattr(policy, "fingerprint", {})
    plain: list[object] = [
        policy.name,
        fingerprint,
        [[message.role.value, message.content] for message in prompt.messages],
        sample,
    ]
    if judged:
        plain.append(judged)
    text = json.dumps(plain, sort_keys=True, default=repr)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
