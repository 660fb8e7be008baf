"""From a checked table to a policy: reads the environment and the file of a system prompt."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from pytest_refusal.errors import SettingsError
from pytest_refusal.policy.anthropic import AnthropicMessages
from pytest_refusal.policy.gemini import GeminiContent
from pytest_refusal.policy.http import JsonEndpoint
from pytest_refusal.policy.litellm import LiteLLMPolicy
from pytest_refusal.policy.openai import OpenAIChat
from pytest_refusal.policy.openai_responses import OpenAIResponses
from pytest_refusal.policy.remote import RemotePolicy
from pytest_refusal.policy.secrets import Secret
from pytest_refusal.policy.tables import (
    Api,
    ConfidenceBy,
    EndpointTable,
    ModelTable,
    PolicyTable,
    Transport,
)
from pytest_refusal.policy.wire import Sampling, Wire

#: What the confidence by `tag` adds to the system prompt.
TAG_INSTRUCTION = (
    "End every reply with one line of the form [conf=0.X], where 0.X is how likely, from 0 to 1,"
    " it is that your decision to answer or to decline was right."
)

_PROXIES = frozenset({"http_proxy", "https_proxy", "all_proxy"})
_KEY_VARIABLE = re.compile(r"_(KEY|KEY_ID|TOKEN|SECRET|PASSWORD)$", re.IGNORECASE)
_SECRET_NAME = re.compile(r"auth|key|token|secret|cookie|password|sig", re.IGNORECASE)


def build_remote(
    table: PolicyTable, *, base: Path, environ: Mapping[str, str], offline: bool = False
) -> RemotePolicy | LiteLLMPolicy:
    """Make the policy of a table; each of its calls is one request.

    base: where relative paths start from.  offline: no request will be sent, so that neither
    keys nor the client library are needed.  Raises SettingsError with every fault.
    """
    faults: list[str] = []
    by_litellm = isinstance(table, ModelTable) and table.api is Api.LITELLM
    library, extra = ("litellm", "litellm") if by_litellm else ("aiohttp", "http")
    if not offline and find_spec(library) is None:
        faults.append(f"needs the extra `{extra}`: pip install 'pytest-refusal[{extra}]'")
    system = table.system
    if table.system_file is not None:
        system = _read_system(base / table.system_file, faults)
    transport = table.transport
    key = None
    headers = {name: Secret(value) for name, value in transport.headers.items()}
    if not offline:
        if transport.api_key_env is not None:
            key = _variable(transport.api_key_env, environ, faults)
        for header, variable in transport.headers_env.items():
            headers[header] = _variable(variable, environ, faults)
    if faults:
        raise SettingsError([f"policy {table.name!r}: {fault}" for fault in faults])
    if isinstance(table, ModelTable) and table.api is Api.LITELLM:
        return LiteLLMPolicy(
            table.name,
            model=table.model,
            sampling=_sampling(table, system),
            base_url=table.base_url,
            key=key,
            concurrency=transport.concurrency,
            timeout_s=transport.timeout_s,
            request_timeout_s=transport.request_timeout_s,
            retries=transport.retries,
            hidden=(
                *_hidden(transport, headers, key, table.base_url, environ),
                # It finds keys by itself, under the names of its many providers.
                *(Secret(value) for name, value in environ.items() if _KEY_VARIABLE.search(name)),
            ),
        )
    wire = _wire(table, system)
    return RemotePolicy(
        table.name,
        wire,
        key=key,
        headers=headers,
        hidden=_hidden(transport, headers, key, wire.url, environ),
        concurrency=transport.concurrency,
        timeout_s=transport.timeout_s,
        request_timeout_s=transport.request_timeout_s,
        retries=transport.retries,
    )


def _wire(table: PolicyTable, system: str | None) -> Wire:
    if isinstance(table, EndpointTable):
        return JsonEndpoint(
            template_url=table.url,
            method=table.method,
            body=table.body,
            paths=table.paths,
            system=system,
        )
    return _model_wire(table, _sampling(table, system))


def _sampling(table: ModelTable, system: str | None) -> Sampling:
    if table.confidence is ConfidenceBy.TAG:
        system = f"{system}\n\n{TAG_INSTRUCTION}" if system else TAG_INSTRUCTION
    return Sampling(
        system=system,
        temperature=table.temperature,
        seed=table.seed,
        max_tokens=table.max_tokens,
        extra=table.extra,
    )


def _model_wire(table: ModelTable, sampling: Sampling) -> Wire:
    match table.api:
        case Api.ANTHROPIC:
            return AnthropicMessages(base_url=table.base_url, model=table.model, sampling=sampling)
        case Api.OPENAI_RESPONSES:
            return OpenAIResponses(base_url=table.base_url, model=table.model, sampling=sampling)
        case Api.GEMINI:
            return GeminiContent(base_url=table.base_url, model=table.model, sampling=sampling)
        case _:
            return OpenAIChat(
                base_url=table.base_url,
                model=table.model,
                sampling=sampling,
                key_header=table.api_key_header,
                max_tokens_field=table.max_tokens_field,
            )


def _read_system(path: Path, faults: list[str]) -> str | None:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        faults.append(f"system_file {path}: cannot be read: {error.strerror or error}")
    except UnicodeDecodeError:
        faults.append(f"system_file {path}: not UTF-8")
    return None


def _variable(name: str, environ: Mapping[str, str], faults: list[str]) -> Secret:
    value = environ.get(name, "").strip()
    if not value:
        faults.append(f"the environment variable {name} is not set; it must hold the key")
    elif not value.isascii() or not value.isprintable():
        faults.append(f"the environment variable {name} holds what no header can (not ASCII)")
    return Secret(value)


def _hidden(
    transport: Transport,
    headers: Mapping[str, Secret],
    key: Secret | None,
    url: str,
    environ: Mapping[str, str],
) -> tuple[Secret, ...]:
    """List all that must never be shown: keys, and what a URL or a header may hold of them."""
    parts = urlsplit(url)
    hidden = [Secret(value) for name, value in parse_qsl(parts.query) if _SECRET_NAME.search(name)]
    hidden += [*_plain_and_coded(parts.username), *_plain_and_coded(parts.password)]
    proxies = (value for name, value in environ.items() if name.lower() in _PROXIES)
    hidden += [one for proxy in proxies for one in _plain_and_coded(_password_of(proxy))]
    hidden += [
        secret
        for name, secret in headers.items()
        if name in transport.headers_env or _SECRET_NAME.search(name)
    ]
    return (*hidden, *([key] if key else []))


def _plain_and_coded(part: str | None) -> tuple[Secret, ...]:
    """Return a part of a URL as it stands there and as it is sent."""
    return (Secret(part), Secret(unquote(part))) if part else ()


def _password_of(proxy: str) -> str | None:
    try:
        return urlsplit(proxy if "://" in proxy else f"http://{proxy}").password
    except ValueError:  # it is no address, which is told where it is to be used
        return None
