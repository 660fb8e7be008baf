"""A policy behind HTTP: sends what a wire asks for and lets it read what came back.

One call, one request: trying again is the business of the one who asks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from pytest_refusal.errors import TransientPolicyError
from pytest_refusal.policy.connection import Connection
from pytest_refusal.policy.digging import dig
from pytest_refusal.policy.secrets import Redaction, Secret
from pytest_refusal.policy.status import status_error
from pytest_refusal.policy.wire import Wire, public_url
from pytest_refusal.prompt import Prompt
from pytest_refusal.response import Response


class RemotePolicy:
    """A policy that is asked over HTTP, on one event loop, over connections kept alive.

    concurrency: how many requests may be under way.  timeout_s: for one prompt, with all its
    retries; request_timeout_s: for one request.  retries: how often to try again.
    hidden: what must never be shown, wherever a server echoes it.
    """

    def __init__(
        self,
        name: str,
        wire: Wire,
        *,
        key: Secret | None = None,
        headers: Mapping[str, Secret] | None = None,
        concurrency: int = 8,
        timeout_s: float = 120.0,
        request_timeout_s: float = 60.0,
        retries: int = 6,
        hidden: Sequence[Secret] = (),
    ) -> None:
        self.name = name
        self.concurrency = concurrency
        self.timeout_s = timeout_s
        self.retries = retries
        self._wire = wire
        self._key = key
        self._headers = dict(headers or {})
        self._redaction = Redaction(hidden)
        self._connection = Connection(
            wire.url,
            headers=self._revealed_headers,
            limit=concurrency,
            timeout_s=request_timeout_s,
            hide=self._redaction.hide,
        )

    @property
    def takes_conversation(self) -> bool:
        """Whether a request holds all messages."""
        return self._wire.takes_conversation

    @property
    def fingerprint(self) -> Mapping[str, object]:
        """All that determines a response beside the messages; no secrets."""
        return self._wire.fingerprint

    def hide(self, text: str) -> str:
        """Return `text` without the keys that requests carry."""
        return self._redaction.hide(text)

    async def respond(self, prompt: Prompt, *, sample: int) -> Response:
        """Send one request.

        Raises TransientPolicyError where trying again may help, UnusablePolicyError where no
        prompt will ever get a response, else PolicyError.
        """
        reply = await self._connection.send(self._wire.request(prompt, sample=sample))
        status, headers = reply.status, reply.headers
        # Before anything reads it: no part of a secret that is echoed goes further than here.
        content = self._redaction.hide(reply.content)
        try:
            body: object = self._redaction.hide_in_json(json.loads(content))
        except (ValueError, RecursionError):
            body = content
        failed = not 200 <= status < 300 or dig(body, "error") not in (None, "")
        if failed:
            blocked = self._wire.blocked(status, body)
            if blocked is not None:
                return blocked
            raise status_error(status, headers, body)
        if not isinstance(body, dict):
            raise TransientPolicyError(
                f"{status_error(status, headers, body)} ({_instead(body)})",
                reason="not_json",
            )
        return self._wire.response(body)

    async def aclose(self) -> None:
        """Close the connections; to be called on the loop that asked."""
        await self._connection.aclose()

    def _revealed_headers(self) -> Mapping[str, str]:
        key = None if self._key is None else self._key.reveal()
        own = {name: value.reveal() for name, value in self._headers.items()}
        return {**self._wire.headers(key), **own}

    def __repr__(self) -> str:
        return f"RemotePolicy({self.name!r}, {public_url(self._wire.url)!r})"


def _instead(body: object) -> str:
    start = body.lstrip()[:20].casefold() if isinstance(body, str) else ""
    if start.startswith(("<!doctype html", "<html")):
        return "HTML instead of JSON: a login page, or not the address of the API"
    return "expected a JSON object"
