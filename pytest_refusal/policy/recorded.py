"""A policy that looks its responses up in a file. Opens that file; asks nobody."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pytest_refusal.errors import PolicyError, SettingsError
from pytest_refusal.escape import one_line
from pytest_refusal.policy.foreign_files import own_fields
from pytest_refusal.policy.response_file import Fault, Row, read_rows
from pytest_refusal.prompt import Prompt, Role
from pytest_refusal.response import Response

ID_FIELDS = ("prompt_id", "id")
RESPONSE_FIELDS = ("response", "completion", "output", "text")

_NAME_LIMIT = 60


class NotRecorded(PolicyError):  # noqa: N818  # it is no fault of the policy: nothing is there
    """There is no recorded response for a prompt."""

    reason = "not_recorded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What a recorded response is found by: an id or else an exact text.

    corpus, sample: None where the file does not say, and then any matches.
    """

    id: str | None
    text: str | None
    corpus: str | None
    sample: int | None

    @property
    def name(self) -> str:
        """What to call it before people, safe to print."""
        if self.id is None:
            return '"' + one_line(self.text or "", _NAME_LIMIT) + '"'
        name = self.id if self.corpus is None else f"{self.corpus}::{self.id}"
        return one_line(name, _NAME_LIMIT)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedPolicy:
    """Responses by prompt, from a file.

    responses: None where the file has null, which is no response.
    notes: what was passed over in the file, a line each.
    """

    name: str
    path: Path
    responses: Mapping[Key, Response | None]
    notes: tuple[str, ...] = ()

    takes_conversation = True
    #: A response belongs to the whole prompt, so it is never asked turn by turn.
    answers_whole_prompts = True
    #: It may be asked ahead of its turn, by any thread, so that a judge has something to judge.
    answers_at_once = True

    @classmethod
    def read(cls, path: Path, *, name: str) -> RecordedPolicy:
        """Read the responses that a file has for this policy.

        Where the file says which policy a response is of, only those of `name` are taken;
        if it knows of one other policy only, all are.  Raises SettingsError with all faults.
        """
        file = read_rows(path)
        faults = list(file.faults)
        entries: list[_Entry] = []
        for row in file.rows:
            entry = _entry(row)
            if isinstance(entry, _Entry):
                entries.append(entry)
            else:
                faults.extend(Fault(row.line, fault) for fault in entry)
        of_policies = {entry.policy for entry in entries if entry.policy is not None}
        if name in of_policies:
            entries = [entry for entry in entries if entry.policy in {name, None}]
        elif len(of_policies) > 1:
            known = ", ".join(sorted(one_line(policy) for policy in of_policies))
            text = (
                f"holds the responses of several policies ({known}), none of them {name!r};"
                " name the policy after one of them"
            )
            faults.append(Fault(0, text))
            entries = []
        responses, twice = _by_key(entries)
        faults.extend(twice)
        if not faults and not responses:
            faults.append(Fault(0, "holds no response"))
        if faults:
            raise SettingsError([fault.at(path) for fault in sorted(faults, key=_line)])
        notes = tuple(note.at(path) for note in file.notes)
        return cls(name=name, path=path, responses=responses, notes=notes)

    def respond(self, prompt: Prompt, *, sample: int) -> Response:
        """Return the recorded response; raises NotRecorded."""
        for key in _keys(prompt, sample):
            if key in self.responses:
                response = self.responses[key]
                if response is None:
                    msg = f"the response to it in {self.path} is null"
                    raise NotRecorded(msg)
                return response
        msg = f"{self.path} has no response to it"
        raise NotRecorded(msg)

    def unused(self, prompts: Iterable[Prompt]) -> tuple[str, ...]:
        """Name the recorded responses that belong to none of `prompts`, in order of the file."""
        wanted: set[tuple[str | None, str | None, str | None]] = set()
        for prompt in prompts:
            text = _only_text(prompt)
            for corpus in (prompt.corpus, None):
                wanted.add((prompt.id, None, corpus))
                wanted.add((None, text, corpus))
        names = (k.name for k in self.responses if (k.id, k.text, k.corpus) not in wanted)
        return tuple(dict.fromkeys(names))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    line: int
    key: Key
    policy: str | None
    response: Response | None


def _keys(prompt: Prompt, sample: int) -> Iterator[Key]:
    """List what a response may be recorded under, the most exact first."""
    text = _only_text(prompt)
    by_id = (prompt.id, None)
    for identity, content in (by_id, (None, text)) if text is not None else (by_id,):
        for corpus in (prompt.corpus, None):
            for number in (sample, None):
                yield Key(id=identity, text=content, corpus=corpus, sample=number)


def _only_text(prompt: Prompt) -> str | None:
    """Return the text of a prompt of one message, instructions of the system aside."""
    said = [message for message in prompt.messages if message.role is not Role.SYSTEM]
    return said[0].content if len(said) == 1 else None


def _by_key(entries: Iterable[_Entry]) -> tuple[dict[Key, Response | None], list[Fault]]:
    first: dict[Key, _Entry] = {}
    faults = []
    for entry in entries:
        known = first.setdefault(entry.key, entry)
        if known.response != entry.response:
            text = (
                f"another response for {entry.key.name} than in line {known.line};"
                " several samples of a prompt need a field `sample` (1, 2, ...)"
            )
            faults.append(Fault(entry.line, text))
    return {key: entry.response for key, entry in first.items()}, faults


def _entry(row: Row) -> _Entry | list[str]:
    """Read one row, or say all that is wrong with it."""
    fields = own_fields(row.fields)
    faults: list[str] = []
    identity = _id(fields, faults)
    text = _text(fields, ("prompt",), faults) if identity is None else None
    if identity is None and text is None and not faults:
        faults.append("needs `prompt_id` (or `id`), or the exact text of the prompt in `prompt`")
    named = next((name for name in RESPONSE_FIELDS if name in fields), None)
    if named is None:
        faults.append(f"needs `response` (or {', '.join(f'`{n}`' for n in RESPONSE_FIELDS[1:])})")
    response_text = _text(fields, RESPONSE_FIELDS, faults)
    refusal = _text(fields, ("refusal",), faults) or None
    finish_reason = _text(fields, ("finish_reason",), faults) or None
    confidence = _confidence(fields.get("confidence"), faults)
    key = Key(
        id=identity,
        text=text,
        corpus=_text(fields, ("corpus",), faults) or None,
        sample=_sample(fields.get("sample"), faults),
    )
    policy = _text(fields, ("policy",), faults) or None
    if faults:
        return faults
    response = None
    if response_text is not None or refusal is not None or finish_reason is not None:
        response = Response(
            text=response_text or "",
            refusal=refusal,
            finish_reason=finish_reason,
            confidence=confidence,
        )
    return _Entry(line=row.line, key=key, policy=policy, response=response)


def _id(fields: Mapping[str, object], faults: list[str]) -> str | None:
    name = next((name for name in ID_FIELDS if name in fields), None)
    match fields[name] if name else None:
        case None | "":
            return None
        case bool() | list() | dict():
            faults.append(f"`{name}` must be a text or a number")
            return None
        case value:
            return str(value)  # files of others number their prompts: compared as text


def _text(fields: Mapping[str, object], names: tuple[str, ...], faults: list[str]) -> str | None:
    name = next((name for name in names if name in fields), None)
    value = fields[name] if name else None
    if value is None or isinstance(value, str):
        return value
    faults.append(f"`{name}` must be a text or null")
    return None


def _confidence(value: object, faults: list[str]) -> float | None:
    if value is None or value == "":
        return None
    number = math.nan
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        with suppress(ValueError, OverflowError):
            number = float(value)
    if 0 <= number <= 1:
        return number
    faults.append("`confidence` must be a number from 0 to 1")
    return None


def _sample(value: object, faults: list[str]) -> int | None:
    if value is None or value == "":
        return None
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return value
    if isinstance(value, str) and value.isascii() and value.isdigit() and 0 < len(value) < 10:
        number = int(value)
        if number >= 1:
            return number
    faults.append("`sample` must be a whole number from 1")
    return None


def _line(fault: Fault) -> int:
    return fault.line
