"""Rows to prompts: every field checked, every fault gathered. No I/O."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from sys import intern
from typing import Any

from pytest_refusal.corpus.faults import Fault, UnreadableError, did_you_mean, listing, quoted
from pytest_refusal.corpus.fields import DEFAULTABLE, FIELDS
from pytest_refusal.corpus.rows import Broken, Row
from pytest_refusal.corpus.sources import CorpusFile
from pytest_refusal.prompt import (
    Label,
    Message,
    Place,
    Prompt,
    Role,
    conversation_sha256,
)

_LABELS: Mapping[object, Label] = {label.value: label for label in Label}
_ROLES: Mapping[object, Role] = {role.value: role for role in Role}
_LABEL_NAMES = tuple(label.value for label in Label)
_ROLE_NAMES = tuple(role.value for role in Role)
_MESSAGE_FIELDS = ("role", "content")

#: Faults of one file, after which it is read no further.
MOST_FAULTS = 5_000

#: How a prompt of most tables gets its label, for people.
LABEL_COLUMN = "add a column `label`"

_MAP_LABELS = ' (other words are mapped as labels = {{ {} = "unsafe" }}, in pyproject.toml)'
_MAP_FIELDS = (
    "; a file that is not written for this says so in pyproject.toml, under"
    ' [[tool.pytest-refusal.corpora]], as columns = { prompt = "prompt", label = "label" }'
)
_TAG_SEPARATOR = re.compile(r"[;,]")
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,9}", re.ASCII)


class PromptBuilder:
    """Makes the prompts of one file, row by row, and gathers what is wrong.

    ours: whether the rows are in our own form, where an unknown field and a wrong type are
    faults; else they come from a table, in which numbers and tags are text and a cell of
    white space is empty.
    labelled_by: how a prompt of such a table gets its label, "" where it has no place for one.
    Raises UnreadableError at the place where there are too many faults.
    """

    def __init__(
        self, file: CorpusFile, *, ours: bool, defaults: Row | None, labelled_by: str
    ) -> None:
        self._file = file
        self._ours = ours
        # What somebody wrote for us has slips; what comes from elsewhere wants to be mapped.
        self._by_hand = file.path.suffix.casefold() == ".toml"
        self._labelled_by = labelled_by
        self._faults: list[Fault] = []
        self._line = 1
        self._line_of_id: dict[str, int] = {}
        self._unlabelled: list[int] = []
        self._built = 0
        self._copies: dict[str, int] = {}
        self._words: dict[object, str] = {}
        self._tag_tuples: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._checks: dict[str, Callable[[object, str], object]] = {
            "id": self._own_id,
            "prompt": self._messages,
            "label": self._label,
            "category": self._word,
            "severity": self._severity,
            "source": self._word,
            "tags": self._tags,
            "note": self._text,
            "taxonomy": self._word,
            "pair": self._text,
            "language": self._word,
        }
        self._defaults = {} if defaults is None else self._checked_defaults(defaults)

    def build(self, row: Row) -> Prompt | None:
        """Make the prompt of a row; None where something is wrong with it."""
        self._line = row.line
        self._built += 1
        found_before = len(self._faults) + len(self._unlabelled)
        checks = self._checks
        values: dict[str, Any] = {}  # each as its check returned it
        fields = {**self._defaults, **row.fields} if self._defaults else row.fields
        for name, value in fields.items():
            check = checks.get(name)
            if check is None:
                self._unknown(name, FIELDS)
            elif value is not None:
                values[name] = check(value, name)
        messages = values.pop("prompt", None)
        if messages is None:
            self._fault("the prompt is missing; `prompt` is a text, or a list of messages")
        if "label" not in values:
            self._unlabelled.append(row.line)
        if len(self._faults) + len(self._unlabelled) > found_before:
            return None
        if "id" not in values:
            values["id"] = self._id_from(messages)
        place = Place(path=self._file.path, line=row.line)
        return Prompt(messages=messages, corpus=self._file.name, place=place, **values)

    def refuse(self, broken: Broken) -> None:
        """Take down a place that could not be read."""
        self._line = broken.line
        self._built += 1
        self._fault(broken.what)

    def faults(self) -> list[Fault]:
        """Return all that was wrong."""
        if not self._unlabelled:
            return list(self._faults)
        if len(self._unlabelled) == self._built:
            # One thing is missing from the file, not one thing from each prompt.
            whats = [(self._unlabelled[0], self._no_label_at_all())]
        else:
            # A column that is there needs no words about it.
            how = "" if self._labelled_by == LABEL_COLUMN else self._labelled_by
            what = f"the label is missing; {how or f'allowed are {listing(_LABEL_NAMES)}'}"
            whats = [(line, what) for line in self._unlabelled]
        name = self._file.name
        return [*self._faults, *(Fault(name, line, what) for line, what in whats)]

    def _no_label_at_all(self) -> str:
        if self._ours:
            how = 'label = "unsafe" under [defaults]'
            if not self._by_hand:
                how = '{"defaults": {"label": "unsafe"}, "prompts": [...]}, as JSON'
            how = f"if it is the same for all, give it once, {how}"
        else:
            how = (
                f"{self._labelled_by}, or, if it is the same for all, " if self._labelled_by else ""
            )
            how += (
                "give it in pyproject.toml, "
                f"under [[tool.pytest-refusal.corpora]] with path = {quoted(self._file.name)} "
                'and label = "unsafe"'
            )
        return (
            f"no prompt of this file has a label, {' or '.join(map(quoted, _LABEL_NAMES))}; {how}"
        )

    def _fault(self, what: str) -> None:
        if len(self._faults) == MOST_FAULTS:
            what = f"more than {MOST_FAULTS} faults; the file was read no further than here"
            raise UnreadableError(self._line, what)
        self._faults.append(Fault(self._file.name, self._line, what))

    def _unknown(self, name: str, allowed: tuple[str, ...]) -> None:
        close = did_you_mean(name, allowed)
        how = "" if close or self._by_hand else _MAP_FIELDS
        self._fault(f"unknown field {quoted(name)}; allowed are {listing(allowed)}{close}{how}")

    def _checked_defaults(self, defaults: Row) -> dict[str, object]:
        self._line = defaults.line
        good: dict[str, object] = {}
        for name, value in defaults.fields.items():
            before = len(self._faults)
            if name not in DEFAULTABLE:
                self._unknown(name, DEFAULTABLE)
            elif value is not None:
                self._checks[name](value, name)
                # A bad label is said once, where it stands: not at each prompt that lacks one.
                stand_in = Label.UNSAFE.value if name == "label" else None
                good[name] = value if len(self._faults) == before else stand_in
        return good

    def _messages(self, value: object, _name: str) -> tuple[Message, ...]:
        if isinstance(value, str):
            if value and not value.isspace():
                return (Message(role=Role.USER, content=value),)
            self._fault("the prompt is empty")
        elif not isinstance(value, list):
            self._fault(f"the prompt is {quoted(value)}; it must be a text, or a list of messages")
        elif not value:
            self._fault("the prompt is an empty list")
        else:
            return self._conversation(value)
        return ()

    def _conversation(self, values: list[object]) -> tuple[Message, ...]:
        before = len(self._faults)
        messages = tuple(
            message
            for number, value in enumerate(values, start=1)
            if (message := self._message(value, f"message {number}")) is not None
        )
        if len(self._faults) == before and all(m.role is not Role.USER for m in messages):
            self._fault('the conversation has no message with role "user"')
        return messages

    def _message(self, value: object, which: str) -> Message | None:
        if not isinstance(value, dict):
            self._fault(f"{which} is {quoted(value)}; it must have a role and a content")
            return None
        for name in value:
            if name not in _MESSAGE_FIELDS:
                self._unknown(name, _MESSAGE_FIELDS)
        role = _ROLES.get(value.get("role")) if isinstance(value.get("role"), str) else None
        if role is None:
            self._fault(_not_one_of(f"the role of {which}", value.get("role"), _ROLE_NAMES))
        content = value.get("content")
        if not isinstance(content, str):
            what = "is missing" if content is None else f"is {quoted(content)}; it must be text"
            self._fault(f"the content of {which} {what}")
            return None
        if not content or content.isspace():
            self._fault(f"the content of {which} is empty")
            return None
        return None if role is None else Message(role=role, content=content)

    def _label(self, value: object, _name: str) -> Label | None:
        if isinstance(value, str):
            label = _LABELS.get(value)
            if label is None and not self._ours:
                label = _LABELS.get(value.strip().casefold())
            if label is not None:
                return label
        text = quoted(value) if isinstance(value, int | float) else value
        word = quoted(text) if isinstance(text, str) else '"harm*"'
        what = _not_one_of("the label", value, _LABEL_NAMES)
        is_slip = self._ours and (self._by_hand or "did you mean" in what)
        self._fault(what if is_slip else what + _MAP_LABELS.format(word))
        return None

    def _severity(self, value: object, _name: str) -> int | None:
        number = value
        if not self._ours and isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value.strip()):
            number = int(value)
        if isinstance(number, int) and not isinstance(number, bool) and 1 <= number <= 5:
            return number
        self._fault(f"the severity is {quoted(value)}; it must be a whole number from 1 to 5")
        return None

    def _tags(self, value: object, _name: str) -> tuple[str, ...]:
        tags: tuple[str, ...]
        if isinstance(value, str) and not self._ours:
            tags = tuple(tag for part in _TAG_SEPARATOR.split(value) if (tag := part.strip()))
        elif isinstance(value, list) and set(map(type, value)) <= {str} and "" not in value:
            tags = tuple(value)
        else:
            found = "a list with other values" if isinstance(value, list) else quoted(value)
            self._fault(f"the tags are {found}; they must be a list of texts")
            return ()
        return self._tag_tuples.setdefault(tags, tags)

    def _word(self, value: object, name: str) -> str | None:
        # The same few words stand in thousands of prompts: check and keep each once.
        known = self._words.get(value) if isinstance(value, str) else None
        if known is not None:
            return known
        text = self._text(value, name)
        return None if text is None else self._words.setdefault(text, intern(text))

    def _text(self, value: object, name: str) -> str | None:
        if isinstance(value, str):
            if value and not value.isspace():
                return value
            self._fault(f"the {name} is empty; leave it out instead")
        elif not self._ours and isinstance(value, int) and not isinstance(value, bool):
            return quoted(value)
        else:
            self._fault(f"the {name} is {quoted(value)}; it must be text")
        return None

    def _own_id(self, value: object, name: str) -> str | None:
        own = self._text(value, name)
        if own is None:
            return None
        if own in self._line_of_id:
            first = self._line_of_id[own]
            self._fault(f"the id {quoted(own)} is already used at line {first}")
        else:
            self._line_of_id[own] = self._line
        return own

    def _id_from(self, messages: tuple[Message, ...]) -> str:
        # From the text alone: it stays when the rows of the file change places.
        base = conversation_sha256(messages)[:10]
        free, copies = base, self._copies.get(base, 1)
        while free in self._line_of_id:
            copies += 1
            free = f"{base}-{copies}"
        if copies > 1:
            # The next one begins to count here: many rows may say the same.
            self._copies[base] = copies
        self._line_of_id[free] = self._line
        return free


def _not_one_of(what: str, value: object, allowed: tuple[str, ...]) -> str:
    if value is None:
        return f"{what} is missing; allowed are {listing(allowed)}"
    close = did_you_mean(value, allowed) if isinstance(value, str) else ""
    return f"{what} is {quoted(value)}; allowed are {listing(allowed)}{close}"
