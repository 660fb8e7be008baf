"""Responses written to a file as they come, and given again without asking.

A line holds a response and what it was the response to; no verdict, no header, no address
with a key in it, no time.  What could not be asked is not recorded.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import Lock
from types import MappingProxyType

from pytest_refusal.errors import SettingsError
from pytest_refusal.execution.appended_file import AppendedFile, nobody_appends
from pytest_refusal.outcome import plain_response, response_from
from pytest_refusal.response import Response, misfit

#: What a response is one of, whatever it was asked with: policy, judged, corpus, prompt, sample.
Place = tuple[str, str, str, str, int]

_NO_JUDGES: Mapping[str, str] = MappingProxyType({})


class RecordMode(StrEnum):
    """What to do with a recording, as users of VCR-like plugins know it.

    none: only replay.  once: record if there is no file yet, else only replay.  new: replay
    what is there, record the rest.  all: ask for everything again.
    """

    NONE = "none"
    ONCE = "once"
    NEW = "new"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One recorded response, and what it was the response to.

    key: a hash of all that determines the response.
    judged: the policy whose response a judge was asked about; then `sample` is the number of
    that response, and `prompt` the question.  "" for a response to the prompt itself.
    """

    key: str
    policy: str
    judged: str = ""
    corpus: str
    prompt_id: str
    sample: int
    prompt: str
    response: Response

    @property
    def place(self) -> Place:
        """What it is the response to, whatever that was asked with."""
        return (self.policy, self.judged, self.corpus, self.prompt_id, self.sample)

    @property
    def judged_place(self) -> Place:
        """That of the response that it judges."""
        return (self.judged, "", self.corpus, self.prompt_id, self.sample)

    @property
    def order(self) -> tuple[Place, str]:
        """Where it stands in a sorted file."""
        return self.place, self.key

    @property
    def name(self) -> str:
        """What to call it before people."""
        prompt = f"{self.corpus}::{self.prompt_id}"
        return f"{prompt} (judged by {self.policy})" if self.judged else prompt

    def line(self) -> str:
        """Write it as one line of ASCII JSON."""
        plain = plain_response(self.response)
        plain.pop("latency_s", None)
        members = {
            "policy": self.policy,
            **({"judged": self.judged} if self.judged else {}),
            "corpus": self.corpus,
            "prompt_id": self.prompt_id,
            "sample": self.sample,
            "prompt": self.prompt,
            "response": plain,
            "key": self.key,
        }
        return json.dumps(members) + "\n"


class Recording:
    """A file of recorded responses, shared by the policies, judges and processes of a run.

    mode: `once` must have been resolved by `resolve`, in the process that starts the others.
    """

    def __init__(self, path: Path, mode: RecordMode) -> None:
        self.path = path
        self.mode = mode
        self.notes: tuple[str, ...] = ()
        self._entries: dict[str, Entry] = {}
        self._used: set[str] = set()
        self._file = AppendedFile(path)
        # Judges and policies are asked on loops of their own.
        self._lock = Lock()
        if path.exists():
            self._entries, self.notes = _read(path)
        elif mode is RecordMode.NONE:
            raise SettingsError([f"{path}: there is no such recording"])
        self._places = {entry.place for entry in self._entries.values()}

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

    def holds(self, place: Place) -> bool:
        """Whether the file had a response at this place, with whatever key."""
        return place in self._places

    def add(self, entry: Entry) -> None:
        """Write a response at the end of the file, in one piece, before anything else is done."""
        with self._lock:
            self._file.append(entry.line().encode("ascii"))
            self._entries[entry.key] = entry
            self._used.add(entry.key)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    @property
    def used(self) -> tuple[str, ...]:
        """The keys of what was asked for, sorted."""
        return tuple(sorted(self._used))

    def use(self, keys: Iterable[str]) -> None:
        """Note what another process was asked for."""
        self._used.update(keys)

    def unused(
        self, policies: Collection[str], judges: Mapping[str, str] = _NO_JUDGES
    ) -> tuple[str, ...]:
        """Name the prompts whose recorded responses, by these policies, were not asked for.

        judges: who judges the responses of a policy, by its name.
        """
        left = (
            e
            for key, e in self._entries.items()
            if key not in self._used
            and (judges.get(e.judged) == e.policy if e.judged else e.policy in policies)
        )
        return tuple(dict.fromkeys(e.name for e in left))

    def tidy(self) -> None:
        """Sort the file and drop what was replaced, so that it can be committed and reviewed.

        To be called when no process of the run writes to it any more; another run may.
        """
        tidy(self.path, anew=self._used if self.mode is RecordMode.ALL else ())


def tidy(path: Path, *, anew: Collection[str] = ()) -> None:
    """Sort a recording, and drop what was replaced.  The file is replaced at once.

    anew: the keys of what was recorded afresh; judgements of what a policy had said before are
    dropped.
    """
    if not path.exists():
        return
    path = path.resolve()  # what a link leads to is put in order, and the link stays
    with nobody_appends(path):
        entries, _ = _read(path)
        replaced = {entries[key].place for key in anew if key in entries}
        kept = [
            e
            for e in entries.values()
            if not e.judged or e.key in anew or e.judged_place not in replaced
        ]
        text = "".join(e.line() for e in sorted(kept, key=lambda e: e.order))
        if path.read_text(encoding="utf-8", errors="replace") == text:
            return
        with NamedTemporaryFile(
            "w", encoding="ascii", dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as file:
            file.write(text)
        shutil.copymode(path, file.name)
        Path(file.name).replace(path)


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
        except (LookupError, TypeError, ValueError, AttributeError):
            faults.append(f"{path}:{number}: not a line of a recording")
            continue
        entries[entry.key] = entry
    if faults:
        raise SettingsError(faults)
    return entries, tuple(notes)


def _entry(plain: Mapping[str, object]) -> Entry:
    names = ("key", "policy", "corpus", "prompt_id", "prompt")
    key, policy, corpus, prompt_id, prompt = (plain[name] for name in names)
    sample, response, judged = plain["sample"], plain["response"], plain.get("judged", "")
    texts = (key, policy, corpus, prompt_id, prompt, judged)
    if not all(isinstance(text, str) for text in texts) or not isinstance(sample, int):
        raise TypeError
    if not isinstance(response, dict) or not isinstance(response["text"], str):
        raise TypeError
    replayed = response_from(response)
    if misfit(replayed) is not None:
        raise TypeError
    return Entry(
        key=str(key),
        policy=str(policy),
        judged=str(judged),
        corpus=str(corpus),
        prompt_id=str(prompt_id),
        sample=sample,
        prompt=str(prompt),
        response=replayed,
    )
