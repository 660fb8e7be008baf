"""Any JSON endpoint: a template of the request, and paths into the reply."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

from pytest_refusal.errors import PolicyError
from pytest_refusal.policy.digging import dig, word
from pytest_refusal.policy.wire import Request, public_url
from pytest_refusal.prompt import Message, Prompt, Role
from pytest_refusal.response import Block, FilterStage, Response

#: What a template may hold between braces.
FIELDS = ("prompt", "messages", "system", "sample")

_FIELD = re.compile(r"\{(" + "|".join(FIELDS) + r")\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyPaths:
    """Where things are in the reply, as dotted paths: `choices.0.text`.

    refusal: a flag or a text; null, false and "" mean that there is none.
    """

    text: str
    refusal: str | None = None
    finish_reason: str | None = None
    confidence: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonEndpoint:
    """An application behind one URL.

    template: a URL and a body that hold `{prompt}`, `{messages}`, `{system}` or
    `{sample}`.  A value that is `"{messages}"` and nothing else becomes the list.
    """

    template_url: str = field(repr=False)  # may hold a password
    method: str
    body: Mapping[str, object] | None
    paths: ReplyPaths
    system: str | None = None

    @property
    def url(self) -> str:
        """Where requests go, still with the fields in it."""
        return self.template_url

    @property
    def takes_conversation(self) -> bool:
        """Whether the template has a place for all messages."""
        return "{messages}" in repr(self.body)

    @property
    def fingerprint(self) -> Mapping[str, object]:
        """All that determines a response beside the messages."""
        return {
            "api": "http",
            "url": public_url(self.template_url),
            "method": self.method,
            "body": self.body,
            "system": self.system,
        }

    def headers(self, key: str | None) -> Mapping[str, str]:
        """Return a bearer token, if there is a key."""
        return {"Authorization": f"Bearer {key}"} if key else {}

    def request(self, prompt: Prompt, *, sample: int) -> Request:
        """Fill the template; what a prompt holds is never taken for a field."""
        fill = _filler(prompt, self.system, sample)
        url = _FIELD.sub(lambda match: quote(str(fill(match[1])), safe=""), self.template_url)
        body = None if self.body is None else {k: _filled(v, fill) for k, v in self.body.items()}
        return Request(url=url, body=body, method=self.method)

    def blocked(self, status: int, body: object) -> Response | None:  # noqa: ARG002  # the shape of Wire
        """Return None: an error of an unknown application is an error."""
        return None

    def response(self, body: object) -> Response:
        """Read the reply; raises PolicyError where the text is not found."""
        paths = self.paths
        found = _at(body, paths.text)
        refusal = _at(body, paths.refusal) if paths.refusal else None
        declined = refusal is True or (isinstance(refusal, str) and bool(refusal.strip()))
        if found is None and not declined and not _is_there(body, paths.text):
            msg = f"the reply has nothing at {paths.text!r}, where its text should be"
            raise PolicyError(
                msg,
                reason="no_text",
            )
        if found is not None and not isinstance(found, str):
            kind = type(found).__name__
            msg = f"{paths.text!r} of the reply is no text ({kind})"
            raise PolicyError(msg, reason="no_text")
        return Response(
            text=found or "",
            refusal=_refusal_text(refusal, found) if declined else None,
            # A flag alone is a signal without words; none are made up for it.
            block=Block(stage=FilterStage.COMPLETION, signal=paths.refusal or "")
            if declined and _refusal_text(refusal, found) is None
            else None,
            finish_reason=word(_at(body, paths.finish_reason)) if paths.finish_reason else None,
            confidence=_confidence(_at(body, paths.confidence)) if paths.confidence else None,
        )


def _refusal_text(refusal: object, found: str | None) -> str | None:
    if isinstance(refusal, str):
        return refusal
    return found if found and found.strip() else None


def _confidence(value: object) -> float | None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if number and 0 <= value <= 1 else None  # type: ignore[arg-type, operator]  # a number


def _steps(path: str) -> list[str | int]:
    return [int(step) if step.isdecimal() else step for step in path.split(".")]


def _at(body: object, path: str) -> object:
    return dig(body, *_steps(path))


def _is_there(body: object, path: str) -> bool:
    *before, last = _steps(path)
    holder = dig(body, *before)
    return isinstance(holder, dict) and str(last) in holder


def _filler(prompt: Prompt, system: str | None, sample: int) -> Callable[[str], object]:
    def fill(field: str) -> object:
        match field:
            case "prompt":
                return prompt.text
            case "messages":
                first = [Message(role=Role.SYSTEM, content=system)] if system else []
                messages = [*first, *prompt.messages]
                return [{"role": m.role.value, "content": m.content} for m in messages]
            case "system":
                return system or ""
            case _:
                return sample

    return fill


def _filled(template: object, fill: Callable[[str], object]) -> object:
    if isinstance(template, str):
        whole = _FIELD.fullmatch(template)
        if whole:
            return fill(whole[1])
        return _FIELD.sub(lambda match: str(fill(match[1])), template)
    if isinstance(template, Mapping):
        return {key: _filled(value, fill) for key, value in template.items()}
    if isinstance(template, list):
        return [_filled(value, fill) for value in template]
    return template
