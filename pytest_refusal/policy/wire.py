"""What an API looks like from here: a request to be sent, and the meaning of what came back.

Pure: a wire makes and reads plain data. Sending is the business of `remote.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import urlsplit, urlunsplit

from pytest_refusal.prompt import Message, Prompt, Role
from pytest_refusal.response import Response


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request with a body of JSON; headers of authentication are added when it is sent."""

    url: str = field(repr=False)  # may hold a password
    body: Mapping[str, object] | None
    method: str = "POST"


class Wire(Protocol):
    """One API of a provider."""

    @property
    def url(self) -> str:
        """Where requests go, as configured."""

    @property
    def takes_conversation(self) -> bool:
        """Whether a request holds all messages."""

    @property
    def fingerprint(self) -> Mapping[str, object]:
        """All that determines a response beside the messages; no secrets."""

    def headers(self, key: str | None) -> Mapping[str, str]:
        """Return the headers that every request carries; `key` is the API key."""

    def request(self, prompt: Prompt, *, sample: int) -> Request:
        """Ask for one response to a conversation."""

    def blocked(self, status: int, body: object) -> Response | None:
        """Return the response if an error body says that a filter or the model declined."""

    def response(self, body: object) -> Response:
        """Read the body of a success; raises PolicyError for what is no response."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How the model is to respond; None leaves it to the server.

    system: put before the conversation.  extra: members of the body, verbatim.
    """

    system: str | None = None
    temperature: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    extra: Mapping[str, object]

    def seed_of(self, sample: int) -> int | None:
        """Return the seed of one sample: equal seeds would make equal samples."""
        return None if self.seed is None else self.seed + sample - 1

    @property
    def plain(self) -> dict[str, object]:
        """All of it as plain data."""
        return {
            "system": self.system,
            "temperature": self.temperature,
            "seed": self.seed,
            "max_tokens": self.max_tokens,
            "extra": dict(self.extra),
        }


def model_fingerprint(api: str, url: str, model: str, sampling: Sampling) -> Mapping[str, object]:
    """Return all that determines a response of a model beside the messages; no secrets."""
    return {"api": api, "url": public_url(url), "model": model, **sampling.plain}


def messages_with_system(prompt: Prompt, system: str | None) -> list[Message]:
    """Put the configured system prompt before the conversation."""
    first = [Message(role=Role.SYSTEM, content=system)] if system is not None else []
    return [*first, *prompt.messages]


def split_system(messages: list[Message]) -> tuple[str, list[Message]]:
    """Take the messages of the system out, for APIs that have a field of their own for it."""
    system = "\n\n".join(m.content for m in messages if m.role is Role.SYSTEM)
    return system, [m for m in messages if m.role is not Role.SYSTEM]


def join_url(base: str, path: str) -> str:
    """Append a path to a base URL that may carry a query, as Azure's do."""
    parts = urlsplit(base)
    return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{path}"))


def public_url(url: str) -> str:
    """Return a URL without user, password, query and fragment."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))
