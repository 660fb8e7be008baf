"""A labelled prompt: what is asked, and whether it should be declined. No I/O."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

UNCATEGORISED = "uncategorised"

_quoted = json.JSONEncoder().encode


class Label(StrEnum):
    """What a good assistant does with the prompt: answer a safe one, decline an unsafe one."""

    SAFE = "safe"
    UNSAFE = "unsafe"


class Role(StrEnum):
    """Who says a message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a prompt begins: the file and the line, counted from 1."""

    path: Path
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One labelled prompt of a corpus.

    messages: at least one, with at least one of the user.  severity: 1 (mild) to 5.
    transform: what was done to the last message of the user; None for nothing.
    corpus: the short name of the file it came from, "" for a prompt made in code.
    (corpus, id) is unique within a run.
    """

    id: str
    messages: tuple[Message, ...]
    label: Label
    category: str = UNCATEGORISED
    severity: int | None = None
    taxonomy: str | None = None
    source: str | None = None
    tags: tuple[str, ...] = ()
    note: str | None = None
    pair: str | None = None
    language: str | None = None
    transform: str | None = None
    corpus: str = ""
    place: Place | None = None

    def __post_init__(self) -> None:
        for message in self.messages:
            if message.role is Role.USER:
                return
        msg = f"prompt {self.id!r} has no message of the user"
        raise ValueError(msg)

    @property
    def text(self) -> str:
        """The last message of the user."""
        return next(m.content for m in reversed(self.messages) if m.role is Role.USER)

    @property
    def is_conversation(self) -> bool:
        """Whether there is more to it than one message of the user."""
        return len(self.messages) > 1

    @property
    def sha256(self) -> str:
        """A hash of all messages, in hexadecimal; equal only for equal conversations."""
        return conversation_sha256(self.messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceQuestion(Prompt):
    """A prompt of our own: how likely is it that a decision was right?

    by_token: to be answered by one token, yes or no, whose probability is what is wanted.
    """

    by_token: bool = False


def conversation_sha256(messages: Iterable[Message]) -> str:
    """Hash messages, in hexadecimal; equal only for equal conversations."""
    # A list of [role, content] as ASCII JSON, which holds what UTF-8 cannot, such as a lone
    # surrogate.  Text alone is written five times as fast as lists of it.
    plain = ", ".join([f'["{m.role}", {_quoted(m.content)}]' for m in messages])
    return hashlib.sha256(f"[{plain}]".encode("ascii")).hexdigest()
