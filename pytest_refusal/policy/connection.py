"""Sending requests over connections that are kept alive, and what it means where none comes back.

The only place that touches the client library, which is aiohttp: at 64 requests at a time the
cost of a request decides how near a run comes to what the server allows, and aiohttp's was
measured at a quarter of httpx2's and a tenth of the providers' own libraries'.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from pytest_refusal.errors import PolicyError, TransientPolicyError, UnusablePolicyError
from pytest_refusal.policy.wire import Request, public_url

if TYPE_CHECKING:
    import aiohttp

CONNECT_TIMEOUT_S = 5.0

# Far beyond what any model says: a body that does not end must not fill the memory.
_LARGEST_REPLY = 32_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back. headers: with names in lower case."""

    status: int
    headers: Mapping[str, str]
    content: str


class Connection:
    """The connections of one policy to one server, on one event loop.

    headers: sent with every request, secrets among them.  limit: how many connections.
    timeout_s: for one request.  hide: takes secrets out of a text.
    """

    def __init__(
        self,
        url: str,
        *,
        headers: Callable[[], Mapping[str, str]],
        limit: int,
        timeout_s: float,
        hide: Callable[[str], str],
    ) -> None:
        self._url = url
        self._headers = headers
        self._limit = limit
        self._timeout_s = timeout_s
        self._hide = hide
        self._session: aiohttp.ClientSession | None = None
        self._proxy: str | None = None

    async def send(self, request: Request) -> Reply:
        """Send one request and read the whole reply, whatever its status.

        Raises TransientPolicyError where none came and another try may bring one,
        UnusablePolicyError where none ever will, and PolicyError for one without an end.
        """
        import aiohttp

        session = self._open_session()
        try:
            async with session.request(
                request.method,
                self._without_unused_user(request.url),
                data=None if request.body is None else json.dumps(request.body).encode("ascii"),
                proxy=self._proxy,
                allow_redirects=False,
            ) as response:
                content = await _whole(response)
        except TimeoutError as error:
            connecting = isinstance(error, aiohttp.ConnectionTimeoutError)
            doing = "connecting" if connecting else "waiting for it"
            raise TransientPolicyError(
                f"no reply from {self._shown()}: timed out {doing}", reason="timeout"
            ) from None
        except (aiohttp.ClientSSLError, ssl.SSLError) as error:
            raise self._tls_error(error) from None
        except ValueError as error:  # an address or a proxy that is none, told by aiohttp
            raise self._unusable(self._said(error)) from None
        except (aiohttp.ClientError, OSError) as error:
            raise TransientPolicyError(
                f"no reply from {self._shown()}: {self._said(error)}", reason="connection"
            ) from None
        return Reply(
            status=response.status,
            headers={name.lower(): value for name, value in response.headers.items()},
            content=content.decode("utf-8", "replace"),
        )

    async def aclose(self) -> None:
        """Close the connections; to be called on the loop that asked."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            import aiohttp

            self._proxy = _proxy_of(self._url)
            if self._proxy is not None and not self._proxy.startswith(("http://", "https://")):
                kind = self._proxy.partition(":")[0]
                raise self._unusable(f"the environment names a proxy of a kind not spoken ({kind})")
            is_https = urlsplit(self._url).scheme == "https"
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=self._limit, ssl=_system_trust() if is_https else True
                ),
                # A cookie would tie the response to one prompt to those before it.
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"Content-Type": "application/json", **self._headers()},
                timeout=aiohttp.ClientTimeout(
                    total=self._timeout_s, sock_connect=min(CONNECT_TIMEOUT_S, self._timeout_s)
                ),
            )
        return self._session

    def _without_unused_user(self, url: str) -> str:
        """Leave the user of a URL out where a header says already who asks."""
        parts = urlsplit(url)
        if "@" not in parts.netloc or "authorization" not in map(str.lower, self._headers()):
            return url
        return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))

    def _tls_error(self, error: Exception) -> PolicyError:
        text = f"no reply from {self._shown()}: {self._said(error)}"
        if "CERTIFICATE_VERIFY" in str(error):
            return UnusablePolicyError(f"{text} (its certificate is not valid)", reason="tls")
        return TransientPolicyError(text, reason="connection")

    def _unusable(self, why: str) -> UnusablePolicyError:
        return UnusablePolicyError(f"cannot ask {self._shown()}: {why}")

    def _said(self, error: Exception) -> str:
        # The whole text may hold the whole URL; these parts of it do not.
        said = getattr(error, "strerror", None) or getattr(error, "message", None) or str(error)
        return self._hide(str(said)) or type(error).__name__

    def _shown(self) -> str:
        return public_url(self._url)


async def _whole(response: aiohttp.ClientResponse) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in response.content.iter_any():
        parts.append(part)
        size += len(part)
        if size > _LARGEST_REPLY:
            limit = f"{_LARGEST_REPLY // 1_000_000} MB"
            text = f"HTTP {response.status}: the reply is larger than {limit}"
            raise PolicyError(text, reason="too_large")
    return b"".join(parts)


def _proxy_of(url: str) -> str | None:
    """Find the proxy that the environment names; none for hosts that it leaves out.

    aiohttp's own way would read passwords out of ~/.netrc as well.
    """
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(url)
    if proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    return proxy if proxy is None or "://" in proxy else f"http://{proxy}"


def _system_trust() -> ssl.SSLContext:
    """Trust whom the system trusts: companies have authorities of their own."""
    import truststore

    context: ssl.SSLContext = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return context
