"""Rows to prompts: every field checked, every fault gathered. No I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping
from sys import intern

from pytest_refusal.corpus.faults import Fault, did_you_mean, listing, quoted
from pytest_refusal.corpus.rows import Broken, Row
from pytest_refusal.corpus.sources import CorpusFile
from pytest_refusal.prompt import (
    UNCATEGORISED,
    Label,
    Message,
    Place,
    Prompt,
    Role,
    conversation_sha256,
)

#: The fields of a prompt, in the order in which a table has them.
FIELDS = (
    "id",
    "prompt",
    "label",
    "category",
    "severity",
    "source",
    "tags",
    "note",
    "taxonomy",
    "pair",
    "language",
)

#: The fields that can be given once for a whole file.
DEFAULTABLE = tuple(name for name in FIELDS if name not in {"id", "prompt"})

_LABELS: Mapping[object, Label] = {label.value: label for label in Label}
_ROLES: Mapping[object, Role] = {role.value: role for role in Role}
_LABEL_NAMES = tuple(label.value for label in Label)
_ROLE_NAMES = tuple(role.value for role in Role)
_MESSAGE_FIELDS = ("role", "content")
_TAG_SEPARATOR = re.compile(r"[;,]")
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,9}", re.ASCII)


class PromptBuilder:
    """Makes the prompts of one file, row by row, and gathers what is wrong.

    ours: whether the rows are in our own form, where an unknown field and a wrong type are
    faults; else they come from a table, in which numbers and tags are text and a cell of
    white space is empty.
    """

    def __init__(self, file: CorpusFile, *, ours: bool, defaults: Row | None) -> None:
        self._file = file
        self._ours = ours
        self._faults: list[Fault] = []
        self._line = 1
        self._line_of_id: dict[str, int] = {}
        self._unlabelled: list[int] = []
        self._built = 0
        self._tags: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._defaults = {} if defaults is None else self._checked_defaults(defaults)

    def build(self, row: Row) -> Prompt | None:
        """Make the prompt of a row; None where something is wrong with it."""
        self._line = row.line
        found_before = len(self._faults) + len(self._unlabelled)
        fields = {**self._defaults, **row.fields} if self._defaults else row.fields
        if self._ours:
            self._known(fields, FIELDS)
        messages = self._messages(fields.get("prompt"))
        label = self._label(fields.get("label"))
        category = self._text(fields.get("category"), "category")
        severity = self._severity(fields.get("severity"))
        source = self._text(fields.get("source"), "source")
        tags = self._tag_tuple(fields.get("tags"))
        note = self._text(fields.get("note"), "note")
        taxonomy = self._text(fields.get("taxonomy"), "taxonomy")
        pair = self._text(fields.get("pair"), "pair")
        language = self._text(fields.get("language"), "language")
        prompt_id = self._id(fields.get("id"), messages)
        self._built += 1
        if len(self._faults) + len(self._unlabelled) > found_before or label is None:
            return None
        return Prompt(
            id=prompt_id,
            messages=messages,
            label=label,
            category=UNCATEGORISED if category is None else intern(category),
            severity=severity,
            taxonomy=taxonomy and intern(taxonomy),
            source=source and intern(source),
            tags=tags,
            note=note,
            pair=pair,
            language=language and intern(language),
            corpus=self._file.name,
            place=Place(path=self._file.path, line=row.line),
        )

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
            what = f"the label is missing; allowed are {listing(_LABEL_NAMES)}"
            whats = [(line, what) for line in self._unlabelled]
        name = self._file.name
        return [*self._faults, *(Fault(name, line, what) for line, what in whats)]

    def _no_label_at_all(self) -> str:
        if self._ours:
            how = 'label = "unsafe" under [defaults]'
            if self._file.path.suffix.casefold() != ".toml":
                how = '{"defaults": {"label": "unsafe"}, "prompts": [...]}, as JSON'
            how = f"give it once, {how}"
        else:
            how = (
                "add a column `label`, or give it in pyproject.toml, under "
                f"[[tool.pytest-refusal.corpora]] with path = {quoted(self._file.name)} "
                'and label = "unsafe"'
            )
        return (
            f"no prompt of this file has a label, {' or '.join(map(quoted, _LABEL_NAMES))}; "
            f"if it is the same for all, {how}"
        )

    def _fault(self, what: str) -> None:
        self._faults.append(Fault(self._file.name, self._line, what))

    def _known(self, fields: Mapping[str, object], allowed: tuple[str, ...]) -> None:
        for name in fields:
            if name not in allowed:
                self._fault(
                    f"unknown field {quoted(name)}{did_you_mean(name, allowed)}; "
                    f"allowed are {listing(allowed)}"
                )

    def _checked_defaults(self, defaults: Row) -> dict[str, object]:
        self._line = defaults.line
        self._known(defaults.fields, DEFAULTABLE)
        checks = {"label": self._label, "severity": self._severity, "tags": self._tag_tuple}
        good: dict[str, object] = {}
        for name in DEFAULTABLE:
            value = defaults.fields.get(name)
            if value is None:
                continue
            before = len(self._faults)
            check = checks.get(name)
            if check is None:
                self._text(value, name)
            else:
                check(value)
            if len(self._faults) == before:
                good[name] = value
        if "label" in defaults.fields and "label" not in good:
            # Said once, where it stands: not again at each prompt.
            good["label"] = Label.UNSAFE.value
        return good

    def _messages(self, value: object) -> tuple[Message, ...]:
        if isinstance(value, str):
            if value and not value.isspace():
                return (Message(role=Role.USER, content=value),)
            self._fault("the prompt is empty")
        elif value is None:
            self._fault("the prompt is missing; `prompt` is a text, or a list of messages")
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
        self._known(value, _MESSAGE_FIELDS)
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

    def _label(self, value: object) -> Label | None:
        if isinstance(value, str):
            label = _LABELS.get(value if self._ours else value.strip().casefold())
            if label is not None:
                return label
        if value is None:
            self._unlabelled.append(self._line)
        else:
            self._fault(_not_one_of("the label", value, _LABEL_NAMES))
        return None

    def _severity(self, value: object) -> int | None:
        if value is None:
            return None
        number = value
        if not self._ours and isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value.strip()):
            number = int(value)
        if isinstance(number, int) and not isinstance(number, bool) and 1 <= number <= 5:
            return number
        self._fault(f"the severity is {quoted(value)}; it must be a whole number from 1 to 5")
        return None

    def _tag_tuple(self, value: object) -> tuple[str, ...]:
        if value is None:
            return ()
        tags: tuple[str, ...]
        if isinstance(value, str) and not self._ours:
            tags = tuple(tag for part in _TAG_SEPARATOR.split(value) if (tag := part.strip()))
        elif isinstance(value, list) and all(isinstance(tag, str) and tag for tag in value):
            tags = tuple(value)
        else:
            found = "a list with other values" if isinstance(value, list) else quoted(value)
            self._fault(f"the tags are {found}; they must be a list of texts")
            return ()
        return self._tags.setdefault(tags, tags)

    def _text(self, value: object, name: str) -> str | None:
        if value is None:
            return None
        if isinstance(value, str):
            if value and not value.isspace():
                return value
            self._fault(f"the {name} is empty; leave it out instead")
        elif not self._ours and isinstance(value, int) and not isinstance(value, bool):
            return quoted(value)
        else:
            self._fault(f"the {name} is {quoted(value)}; it must be text")
        return None

    def _id(self, value: object, messages: tuple[Message, ...]) -> str:
        own = self._text(value, "id")
        if own is not None:
            first = self._line_of_id.get(own)
            if first is None:
                self._line_of_id[own] = self._line
            else:
                self._fault(f"the id {quoted(own)} is already used at line {first}")
            return own
        if not messages:
            return ""
        # From the text alone: it stays when the rows of the file change places.
        base = conversation_sha256(messages)[:10]
        free, copies = base, 1
        while free in self._line_of_id:
            copies += 1
            free = f"{base}-{copies}"
        self._line_of_id[free] = self._line
        return free


def _not_one_of(what: str, value: object, allowed: tuple[str, ...]) -> str:
    if value is None:
        return f"{what} is missing; allowed are {listing(allowed)}"
    close = did_you_mean(value, allowed) if isinstance(value, str) else ""
    return f"{what} is {quoted(value)}; allowed are {listing(allowed)}{close}"
