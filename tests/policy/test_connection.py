"""Connections to real servers on loopback, through proxies, over TLS and to nobody."""

from __future__ import annotations

import asyncio
import base64
import json
import shutil
import ssl
import subprocess
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from pytest_refusal.errors import PolicyError, TransientPolicyError, UnusablePolicyError
from pytest_refusal.policy.connection import Connection, Reply
from pytest_refusal.policy.wire import Request

Ask = Callable[..., list[Reply]]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def ask(url: str, *, headers: Mapping[str, str] | None = None, times: int = 1) -> list[Reply]:
    connection = Connection(
        url, headers=lambda: headers or {}, limit=2, timeout_s=5, hide=lambda text: text
    )

    async def all_of_them() -> list[Reply]:
        try:
            request = Request(url=url, body={"a": "ä"})
            return [await connection.send(request) for _ in range(times)]
        finally:
            await connection.aclose()

    return asyncio.run(all_of_them())


@pytest.fixture
def server(httpserver: HTTPServer) -> HTTPServer:
    httpserver.expect_request("/x").respond_with_json({}, headers={"Set-Cookie": "id=1"})
    return httpserver


def test_one_prompt_leaves_no_cookie_for_the_next(server: HTTPServer) -> None:
    ask(server.url_for("/x").replace("127.0.0.1", "localhost"), times=2)
    assert len(server.log) == 2
    assert all("Cookie" not in request.headers for request, _ in server.log)


def test_a_user_in_the_url_is_told_to_the_server(server: HTTPServer) -> None:
    url = server.url_for("/x").replace("://", "://me:pass%2Fword@")
    ask(url)
    told = base64.b64encode(b"me:pass/word").decode()
    assert server.log[0][0].headers["Authorization"] == f"Basic {told}"


def test_a_key_stands_above_a_user_in_the_url(server: HTTPServer) -> None:
    url = server.url_for("/x").replace("://", "://me:pw@")
    ask(url, headers={"Authorization": "Bearer sk"})
    assert server.log[0][0].headers["Authorization"] == "Bearer sk"


def test_no_password_is_taken_from_netrc(
    server: HTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "netrc"
    path.write_text(f"machine {server.host} login me password pw\n")
    path.chmod(0o600)
    monkeypatch.setenv("NETRC", str(path))
    ask(server.url_for("/x"))
    assert "Authorization" not in server.log[0][0].headers


def test_a_proxy_of_the_environment_is_asked(
    httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    httpserver.expect_request("/chat").respond_with_json({"by": "proxy"})
    monkeypatch.setenv("HTTP_PROXY", f"{httpserver.host}:{httpserver.port}")
    (reply,) = ask("http://model.invalid/chat")
    assert json.loads(reply.content) == {"by": "proxy"}
    assert httpserver.log[0][0].headers["Host"] == "model.invalid"


def test_a_host_without_proxy_is_asked_directly(
    server: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    assert ask(server.url_for("/x"))[0].status == 200


def test_a_proxy_of_another_kind_is_refused_with_a_reason(
    server: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    with pytest.raises(UnusablePolicyError, match="proxy of a kind not spoken"):
        ask(server.url_for("/x"))


def test_a_host_that_nobody_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TransientPolicyError, match=r"no reply from http://no-such-host\.invalid/"):
        ask("http://no-such-host.invalid/")


def test_an_address_that_is_none() -> None:
    with pytest.raises(UnusablePolicyError, match=r"cannot ask http://a\.\.b/"):
        ask("http://a..b/")


@pytest.mark.parametrize("coded", [False, True], ids=["plain", "compressed"])
def test_a_reply_without_an_end_is_not_read_to_its_end(httpserver: HTTPServer, coded: bool) -> None:
    packer = zlib.compressobj(wbits=31)
    megabyte = b" " * 1_000_000

    def body() -> Iterator[bytes]:
        for _ in range(200):
            yield packer.compress(megabyte) + packer.flush(zlib.Z_SYNC_FLUSH) if coded else megabyte

    headers = {"Content-Encoding": "gzip"} if coded else {}
    httpserver.expect_request("/x").respond_with_handler(
        lambda request: Response(body(), headers=headers)
    )
    with pytest.raises(PolicyError, match="HTTP 200: the reply is larger than 32 MB") as caught:
        ask(httpserver.url_for("/x"))
    assert caught.value.reason == "too_large"


def test_a_body_that_is_said_to_be_compressed_and_is_not(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/x").respond_with_data("{}", headers={"Content-Encoding": "gzip"})
    with pytest.raises(TransientPolicyError):
        ask(httpserver.url_for("/x"))


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """Make a certificate for 127.0.0.1 that nobody trusts, and its key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl, which makes the certificate, is not installed here")
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    command = (
        f"{openssl} req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
        f" -subj /CN=here -addext subjectAltName=IP:127.0.0.1 -keyout {key} -out {certificate}"
    )
    subprocess.run(command.split(), check=True, capture_output=True)
    return certificate, key


def test_a_certificate_must_be_valid(
    certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    with HTTPServer(host="127.0.0.1", ssl_context=context) as server:
        server.expect_request("/x").respond_with_json({})
        with pytest.raises(UnusablePolicyError, match="its certificate is not valid") as caught:
            ask(server.url_for("/x"))
        assert caught.value.reason == "tls"
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
        assert ask(server.url_for("/x"))[0].status == 200
