"""Responses written to a file as they come, and given again without asking.

A line holds a response and what it was the response to; no verdict, no header, no address
with a key in it, no time.  What could not be asked is not recorded.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from tempfile import NamedTemporaryFile

from pytest_refusal.errors import PolicyError, SettingsError
from pytest_refusal.execution.meter import Meter
from pytest_refusal.execution.wrapping import WrappingPolicy
from pytest_refusal.outcome import plain_response, response_from
from pytest_refusal.prompt import Prompt
from pytest_refusal.protocols import Policy
from pytest_refusal.response import Response


class RecordMode(StrEnum):
    """What to do with a recording, as users of VCR-like plugins know it.

    none: only replay.  once: record if there is no file yet, else only replay.  new: replay
    what is there, record the rest.  all: ask for everything again.
    """

    NONE = "none"
    ONCE = "once"
    NEW = "new"
    ALL = "all"


class NotInRecordingError(PolicyError):
    """A response is not in the recording, and nobody may be asked for it."""

    reason = "not_recorded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One recorded response, and what it was the response to.

    key: a hash of all that determines the response.
    """

    key: str
    policy: str
    corpus: str
    prompt_id: str
    sample: int
    prompt: str
    response: Response

    @property
    def order(self) -> tuple[str, str, str, int, str]:
        """Where it stands in a sorted file."""
        return (self.policy, self.corpus, self.prompt_id, self.sample, self.key)

    def line(self) -> str:
        """Write it as one line of ASCII JSON."""
        plain = plain_response(self.response)
        plain.pop("latency_s", None)
        members = {
            "policy": self.policy,
            "corpus": self.corpus,
            "prompt_id": self.prompt_id,
            "sample": self.sample,
            "prompt": self.prompt,
            "response": plain,
            "key": self.key,
        }
        return json.dumps(members) + "\n"


class Recording:
    """A file of recorded responses, shared by the policies and the processes of a run.

    mode: `once` must have been resolved by `resolve`, in the process that starts the others.
    """

    def __init__(self, path: Path, mode: RecordMode) -> None:
        self.path = path
        self.mode = mode
        self.notes: tuple[str, ...] = ()
        self._entries: dict[str, Entry] = {}
        self._used: set[str] = set()
        self._file: int | None = None
        if path.exists():
            self._entries, self.notes = _read(path)
        elif mode is RecordMode.NONE:
            raise SettingsError([f"{path}: there is no such recording"])

    @staticmethod
    def resolve(path: Path, mode: RecordMode) -> RecordMode:
        """Turn `once` into what it means here: `none` if the file is there, else `new`."""
        if mode is RecordMode.ONCE:
            return RecordMode.NONE if path.exists() else RecordMode.NEW
        return mode

    def find(self, key: str) -> Response | None:
        """Return what is to be replayed, if anything."""
        entry = None if self.mode is RecordMode.ALL else self._entries.get(key)
        if entry is None:
            return None
        self._used.add(key)
        return entry.response

    def known_for(self, entry: tuple[str, str, str, int]) -> bool:
        """Whether there is a response for policy, corpus, prompt and sample, with another key."""
        return any(e.order[:4] == entry for e in self._entries.values())

    def add(self, entry: Entry) -> None:
        """Write a response at the end of the file, in one piece, before anything else is done."""
        if self._file is None:
            self._file = _open_to_append(self.path)
        os.write(self._file, entry.line().encode("ascii"))
        self._entries[entry.key] = entry
        self._used.add(entry.key)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    @property
    def used(self) -> tuple[str, ...]:
        """The keys of what was asked for, sorted."""
        return tuple(sorted(self._used))

    def use(self, keys: Iterable[str]) -> None:
        """Note what another process was asked for."""
        self._used.update(keys)

    def unused(self, policies: Collection[str]) -> tuple[str, ...]:
        """Name the prompts whose recorded responses, by these policies, were not asked for."""
        left = (
            e for key, e in self._entries.items() if key not in self._used and e.policy in policies
        )
        return tuple(dict.fromkeys(f"{e.corpus}::{e.prompt_id}" for e in left))


def tidy(path: Path) -> None:
    """Sort a recording and drop what was replaced, so that it can be committed and reviewed.

    To be called when no process writes to it any more.  The file is replaced at once.
    """
    if not path.exists():
        return
    entries, _ = _read(path)
    text = "".join(e.line() for e in sorted(entries.values(), key=lambda e: e.order))
    if path.read_text(encoding="utf-8", errors="replace") == text:
        return
    with NamedTemporaryFile(
        "w", encoding="ascii", dir=path.parent, prefix=f".{path.name}.", delete=False
    ) as file:
        file.write(text)
    Path(file.name).replace(path)


class RecordingPolicy(WrappingPolicy):
    """A policy whose responses are recorded and replayed.

    is_usable: whether a response can be judged; what cannot is asked again where that is
    allowed.  Has the `concurrency` and `timeout_s` of the policy that is asked.
    """

    def __init__(
        self,
        policy: Policy,
        recording: Recording,
        *,
        is_usable: Callable[[Response], bool] = lambda _: True,
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
        key = key_of(self.policy, prompt, sample)
        found = self._recording.find(key)
        may_ask = self._recording.mode is not RecordMode.NONE
        if found is not None and (not may_ask or self._is_usable(found)):
            self.meter.replayed += 1
            return found
        if not may_ask:
            raise NotInRecordingError(self._missing(prompt, sample))
        response = self.policy.respond(prompt, sample=sample)
        if isinstance(response, Response):
            return self._keep(response, key, prompt, sample)
        return self._keep_later(response, key, prompt, sample)

    def replays(self, prompt: Prompt, sample: int) -> bool:
        """Whether the response to a prompt as it stands is there and usable."""
        found = self._recording.find(key_of(self.policy, prompt, sample))
        return found is not None and self._is_usable(found)

    async def _keep_later(
        self, response: Awaitable[Response], key: str, prompt: Prompt, sample: int
    ) -> Response:
        return self._keep(await response, key, prompt, sample)

    def _keep(self, response: Response, key: str, prompt: Prompt, sample: int) -> Response:
        if isinstance(response, Response):  # else it is told where it is asked
            entry = Entry(
                key=key,
                policy=self.name,
                corpus=prompt.corpus,
                prompt_id=prompt.id,
                sample=sample,
                prompt=prompt.text,
                response=replace(response, latency_s=None),
            )
            self._recording.add(entry)
        return response

    def _missing(self, prompt: Prompt, sample: int) -> str:
        path = self._recording.path
        if self._recording.known_for((self.name, prompt.corpus, prompt.id, sample)):
            return (
                f"{path} has a response to this prompt, but to another text, system prompt,"
                " model or other parameters; record again with --refusal-record-mode=new"
            )
        return f"{path} has no response to it; record it with --refusal-record-mode=new"


def key_of(policy: Policy, prompt: Prompt, sample: int) -> str:
    """Hash all that determines a response: the policy's parameters, the messages, the sample."""
    fingerprint: Mapping[str, object] = getattr(policy, "fingerprint", {})
    plain = [
        policy.name,
        fingerprint,
        [[message.role.value, message.content] for message in prompt.messages],
        sample,
    ]
    text = json.dumps(plain, sort_keys=True, default=repr)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _read(path: Path) -> tuple[dict[str, Entry], tuple[str, ...]]:
    """Read a recording; the last response of a key counts, and torn lines are left out."""
    entries: dict[str, Entry] = {}
    faults: list[str] = []
    notes: list[str] = []
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise SettingsError([f"{path}: cannot be read: {error.strerror or error}"]) from error
    for number, line in enumerate(raw.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            plain = json.loads(line)
        except (ValueError, RecursionError):
            # A process that is killed tears its line; others may write on after it.
            notes.append(f"{path}:{number}: a torn line was left out")
            continue
        try:
            entry = _entry(plain)
        except (KeyError, TypeError, ValueError, AttributeError):
            faults.append(f"{path}:{number}: not a line of a recording")
            continue
        entries[entry.key] = entry
    if faults:
        raise SettingsError(faults)
    return entries, tuple(notes)


def _entry(plain: Mapping[str, object]) -> Entry:
    names = ("key", "policy", "corpus", "prompt_id", "prompt")
    key, policy, corpus, prompt_id, prompt = (plain[name] for name in names)
    sample, response = plain["sample"], plain["response"]
    texts = (key, policy, corpus, prompt_id, prompt)
    if not all(isinstance(text, str) for text in texts) or not isinstance(sample, int):
        raise TypeError
    if not isinstance(response, dict) or not isinstance(response["text"], str):
        raise TypeError
    return Entry(
        key=str(key),
        policy=str(policy),
        corpus=str(corpus),
        prompt_id=str(prompt_id),
        sample=sample,
        prompt=str(prompt),
        response=response_from(response),
    )


def _open_to_append(path: Path) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
    file = os.open(path, flags, 0o644)
    size = os.fstat(file).st_size
    if size:
        os.lseek(file, size - 1, os.SEEK_SET)
        if os.read(file, 1) != b"\n":
            os.write(file, b"\n")  # what was torn ends here, and is left out when read
    return file
