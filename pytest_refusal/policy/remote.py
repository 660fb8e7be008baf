"""A policy behind HTTP: sends what a wire asks for and lets it read what came back.

One call, one request: trying again is the business of the one who asks.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pytest_refusal.errors import PolicyError, TransientPolicyError, UnusablePolicyError
from pytest_refusal.policy.digging import dig
from pytest_refusal.policy.secrets import Redaction, Secret
from pytest_refusal.policy.status import status_error
from pytest_refusal.policy.wire import Wire, public_url
from pytest_refusal.prompt import Prompt
from pytest_refusal.response import Response

if TYPE_CHECKING:
    import httpx2

CONNECT_TIMEOUT_S = 5.0

# They write URLs and the headers of replies; a filter holds for one logger, not those below it.
_LOGGERS = (
    "httpx2",
    *(f"httpcore2.{part}" for part in ("connection", "http11", "http2", "proxy", "socks")),
)


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
        self._request_timeout_s = request_timeout_s
        self._redaction = Redaction(hidden)
        self._client: httpx2.AsyncClient | None = None

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
        status, headers, raw = await self._send(prompt, sample)
        # Before anything reads it: no part of a secret that is echoed goes further than here.
        content = self._redaction.hide(raw)
        try:
            body: object = json.loads(content)
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
                str(status_error(status, headers, body)) + " (expected a JSON object)",
                reason="not_json",
            )
        return self._wire.response(body)

    async def aclose(self) -> None:
        """Close the connections; to be called on the loop that asked."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()
            self._redaction.show_in_logs(_LOGGERS)

    async def _send(self, prompt: Prompt, sample: int) -> tuple[int, Mapping[str, str], str]:
        import httpx2

        request = self._wire.request(prompt, sample=sample)
        content = None if request.body is None else json.dumps(request.body).encode("ascii")
        try:
            reply = await self._open_client().request(request.method, request.url, content=content)
        except httpx2.TimeoutException as error:
            kind = "connecting" if isinstance(error, httpx2.ConnectTimeout) else "waiting for it"
            text = f"no reply from {self._host()}: timed out {kind}"
            raise TransientPolicyError(text, reason="timeout") from None
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            raise self._transport_error(error) from None
        except (httpx2.InvalidURL, UnicodeError) as error:
            text = f"cannot ask {self._host()}: {self._redaction.hide(str(error))}"
            raise UnusablePolicyError(text) from None
        headers = {name.lower(): value for name, value in reply.headers.items()}
        return reply.status_code, headers, reply.content.decode("utf-8", "replace")

    def _transport_error(self, error: Exception) -> PolicyError:
        said = self._redaction.hide(str(error)) or type(error).__name__
        text = f"no reply from {self._host()}: {said}"
        if _is_certificate_error(error):
            return UnusablePolicyError(f"{text} (its certificate is not valid)", reason="tls")
        return TransientPolicyError(text, reason="connection")

    def _open_client(self) -> httpx2.AsyncClient:
        if self._client is None:
            import httpx2

            self._redaction.hide_in_logs(_LOGGERS)
            revealed = {name: value.reveal() for name, value in self._headers.items()}
            key = None if self._key is None else self._key.reveal()
            self._client = httpx2.AsyncClient(
                headers={
                    "Content-Type": "application/json",
                    **self._wire.headers(key),
                    **revealed,
                },
                follow_redirects=False,
                timeout=httpx2.Timeout(
                    self._request_timeout_s,
                    connect=min(CONNECT_TIMEOUT_S, self._request_timeout_s),
                    pool=None,  # waiting for a free connection is no fault of the server
                ),
                limits=httpx2.Limits(
                    max_connections=self.concurrency,
                    max_keepalive_connections=self.concurrency,
                ),
            )
        return self._client

    def _host(self) -> str:
        return public_url(self._wire.url)

    def __repr__(self) -> str:
        return f"RemotePolicy({self.name!r}, {self._host()!r})"


def _is_certificate_error(error: BaseException | None) -> bool:
    seen = 0
    while error is not None and seen < 10:
        if isinstance(error, ssl.SSLCertVerificationError) or "CERTIFICATE_VERIFY" in str(error):
            return True
        error = error.__cause__ or error.__context__
        seen += 1
    return False
