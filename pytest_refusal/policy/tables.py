"""The table of one policy in the configuration, checked: plain data to a frozen value.

Opens no file and reads no environment; `build.py` makes the policy.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from pytest_refusal.policy.http import ReplyPaths
from pytest_refusal.table_reader import TableReader


class Api(StrEnum):
    """What a policy behind HTTP speaks."""

    OPENAI = "openai"
    OPENAI_RESPONSES = "openai-responses"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"
    HTTP = "http"
    LITELLM = "litellm"


class ConfidenceBy(StrEnum):
    """How a model is asked how sure it is.

    none: it is not asked; a tag in its text is still read.  second_turn: in a request of its
    own after the reply, which doubles the calls.  tag: by an instruction in the system prompt,
    which changes what is measured.  logprobs: by the probability of the token with which it
    answers a second request.
    """

    NONE = "none"
    SECOND_TURN = "second_turn"
    TAG = "tag"
    LOGPROBS = "logprobs"


#: Where requests go if no `base_url` is set, and the variable that then holds the key.
DEFAULT_SERVERS: Mapping[Api, tuple[str, str]] = {
    Api.OPENAI: ("https://api.openai.com/v1", "OPENAI_API_KEY"),
    Api.OPENAI_RESPONSES: ("https://api.openai.com/v1", "OPENAI_API_KEY"),
    Api.ANTHROPIC: ("https://api.anthropic.com", "ANTHROPIC_API_KEY"),
    Api.GEMINI: ("https://generativelanguage.googleapis.com/v1beta", "GEMINI_API_KEY"),
}


_GIVES_LOGPROBS = (Api.OPENAI, Api.GEMINI)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """What a million tokens cost, in a currency of the user's own."""

    input_per_million: float = 0.0
    output_per_million: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Transport:
    """How requests are sent.

    headers: sent as they are.  headers_env: a header, and the variable that holds its value.
    timeout_s: for a prompt, with all its retries.  request_timeout_s: for one request.
    """

    api_key_env: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    headers_env: Mapping[str, str] = field(default_factory=dict)
    concurrency: int = 8
    timeout_s: float = 120.0
    request_timeout_s: float = 60.0
    retries: int = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTable:
    """A model behind one of the APIs that are known, as configured.

    system_file: relative to the folder of the configuration.
    """

    name: str
    api: Api
    base_url: str = field(repr=False)  # may hold a password
    model: str
    system: str | None = None
    system_file: str | None = None
    temperature: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    max_tokens_field: str = "max_tokens"
    extra: Mapping[str, object] = field(default_factory=dict)
    api_key_header: str = "Authorization"
    confidence: ConfidenceBy = ConfidenceBy.NONE
    transport: Transport = Transport()
    prices: Prices | None = None

    @property
    def asks_confidence(self) -> bool:
        """Whether a second request asks for the confidence."""
        return self.confidence in {ConfidenceBy.SECOND_TURN, ConfidenceBy.LOGPROBS}

    @property
    def asks_by_token(self) -> bool:
        """Whether that request is answered by the probability of a token."""
        return self.confidence is ConfidenceBy.LOGPROBS


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointTable:
    """An application behind a JSON endpoint, as configured."""

    name: str
    url: str = field(repr=False)  # may hold a password
    method: str
    body: Mapping[str, object] | None
    paths: ReplyPaths
    system: str | None = None
    system_file: str | None = None
    transport: Transport = Transport()
    prices: Prices | None = None

    @property
    def asks_confidence(self) -> bool:
        """Whether a second request asks for the confidence: never, it may stand in the reply."""
        return False

    @property
    def asks_by_token(self) -> bool:
        """Whether that request is answered by the probability of a token: never."""
        return False


PolicyTable = ModelTable | EndpointTable


def model_from_spec(spec: str) -> ModelTable | None:
    """Read `openai:MODEL`, `anthropic:MODEL` and the like: an API and a model of it."""
    kind, colon, model = spec.partition(":")
    if not colon or not model or kind not in set(Api) - {Api.HTTP}:
        return None
    api = Api(kind)
    base_url, key = DEFAULT_SERVERS.get(api, ("", None))
    transport = Transport(api_key_env=key)
    return ModelTable(name=spec, api=api, model=model, base_url=base_url, transport=transport)


def parse_policy_table(
    name: str, table: Mapping[str, object], *, where: str
) -> tuple[PolicyTable | None, list[str]]:
    """Check the table of a policy behind HTTP, `type` included.

    where: the name of the table, for messages.  Returns the value, or None and every fault.
    """
    reader = TableReader(table, where)
    api = reader.choice("type", Api, Api.OPENAI)
    found: PolicyTable
    found = _endpoint(name, reader) if api is Api.HTTP else _model(name, api, reader)
    if found.system is not None and found.system_file is not None:
        reader.fault("system_file", "stands beside `system`; only one of them can hold")
    if found.asks_by_token and api not in _GIVES_LOGPROBS:
        known = " or ".join(f'"{one}"' for one in _GIVES_LOGPROBS)
        reader.fault("confidence", f'"logprobs" needs the type {known}; others give none')
    reader.refuse_unknown()
    return (None, reader.faults) if reader.faults else (found, [])


def _model(name: str, api: Api, reader: TableReader) -> ModelTable:
    default_url, default_key = DEFAULT_SERVERS.get(api, ("", None))
    base_url = reader.url("base_url")
    # A key is sent unasked only to the server that it belongs to.
    default_key = None if base_url else default_key
    return ModelTable(
        name=name,
        api=api,
        base_url=base_url or default_url,
        model=reader.text("model", needed=True) or "",
        system=reader.text("system"),
        system_file=reader.text("system_file"),
        temperature=reader.number("temperature", None, low=0, high=10),
        seed=reader.integer("seed", None, low=0, high=2**63 - 1),
        max_tokens=reader.integer("max_tokens", None, low=1, high=10**9),
        max_tokens_field=reader.text("max_tokens_field") or "max_tokens",
        extra=reader.table("extra") or {},
        api_key_header=reader.text("api_key_header") or "Authorization",
        confidence=reader.choice("confidence", ConfidenceBy, ConfidenceBy.NONE),
        transport=_transport(reader, default_key),
        prices=_prices(reader),
    )


def _endpoint(name: str, reader: TableReader) -> EndpointTable:
    body = reader.table("body")
    url = reader.url("url", needed=True)
    if url and not re.search(r"\{(prompt|messages)\}", f"{url} {body!r}"):
        reader.fault("body", 'must hold "{prompt}" or "{messages}", or `url` must hold {prompt}')
    return EndpointTable(
        name=name,
        url=url,
        method=(reader.text("method") or ("GET" if body is None else "POST")).upper(),
        body=body,
        paths=ReplyPaths(
            text=reader.text("text", needed=True) or "",
            refusal=reader.text("refusal"),
            finish_reason=reader.text("finish_reason"),
            confidence=reader.text("confidence"),
        ),
        system=reader.text("system"),
        system_file=reader.text("system_file"),
        transport=_transport(reader, None),
        prices=_prices(reader),
    )


def _transport(reader: TableReader, default_key: str | None) -> Transport:
    headers_env = reader.texts("headers_env")
    return Transport(
        api_key_env=reader.variable("api_key_env") or default_key,
        headers=reader.texts("headers"),
        headers_env=headers_env,
        concurrency=reader.integer("concurrency", 8, low=1, high=1000) or 8,
        timeout_s=reader.number("timeout_s", 120.0, low=0.001, high=86400) or 120.0,
        request_timeout_s=reader.number("request_timeout_s", 60.0, low=0.001, high=86400) or 60.0,
        retries=_or(reader.integer("retries", 6, low=0, high=100), 6),
    )


def _prices(reader: TableReader) -> Prices | None:
    into = reader.number("input_price_per_million", None, low=0, high=1e9)
    out = reader.number("output_price_per_million", None, low=0, high=1e9)
    if into is None and out is None:
        return None
    return Prices(input_per_million=into or 0.0, output_per_million=out or 0.0)


def _or(value: int | None, default: int) -> int:
    return default if value is None else value
