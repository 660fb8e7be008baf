"""What an HTTP status means: try again, give up on the prompt, or give up on the policy."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from pytest_refusal.errors import PolicyError, TransientPolicyError, UnusablePolicyError
from pytest_refusal.escape import one_line
from pytest_refusal.policy.digging import dig, text, word

_TRY_AGAIN = frozenset({408, 409, 424, 425, 429, 500, 502, 503, 504, 529})
_UNUSABLE = frozenset({401, 402, 403, 404})
_UNUSABLE_CODES = frozenset(
    {"insufficient_quota", "invalid_api_key", "model_not_found", "billing_error"}
)
# What failed with status 200 says by its code which status it would have had.
_STATUS_OF: Mapping[str, int] = {"server_error": 500, "rate_limit_exceeded": 429}
_ASKS_FOR_LESS = frozenset({429, 503, 529})
_SHOWN = 300

# What to do about it, where the status alone says.
_ADVICE: Mapping[int, str] = {
    401: "the key is missing or wrong; see `api_key_env`",
    402: "the account has no money left",
    403: "no access; see `api_key_env`",
    404: "no such model, or a wrong `base_url`",
}


def status_error(status: int, headers: Mapping[str, str], body: object) -> PolicyError:
    """Make the error that a reply outside 2xx is, or one that holds an `error`.

    headers: with names in lower case.
    """
    error = dig(body, "error")
    code = word(error, "code") or ""
    if status < 300 and code.isascii() and code.isdigit() and 400 <= int(code[:4]) < 600:
        status = int(code)  # OpenRouter reports what fails in the middle with status 200
    elif status < 300:
        status = _STATUS_OF.get(code, status)
    kind = code if code and not code.isdigit() else text(error, "type") or ""
    said = _message(body)
    told = f"HTTP {status}" + (f" {kind}" if kind else "") + (f": {said}" if said else "")
    reason = f"http_{status}"
    if kind in _UNUSABLE_CODES:
        return UnusablePolicyError(f"{told} (waiting does not help)", reason=reason)
    again = headers.get("x-should-retry", "").lower()
    if again == "true" or (status in _TRY_AGAIN and again != "false"):
        return TransientPolicyError(
            told, reason=reason, wait_s=wait_s(headers), slow_down=status in _ASKS_FOR_LESS
        )
    if status in _UNUSABLE:
        return UnusablePolicyError(f"{told} ({_ADVICE[status]})", reason=reason)
    if 300 <= status < 400:
        return PolicyError(
            f"{told}: the server redirects; redirects are not followed, since they would carry"
            " the key to another place",
            reason=reason,
        )
    return PolicyError(told, reason=reason)


def wait_s(headers: Mapping[str, str]) -> float | None:
    """Read how long the server wants us to wait, in seconds; None if it does not say.

    `retry-after-ms`, else `Retry-After` in seconds or as a date (RFC 9110, 10.2.3).
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or not value:
        return seconds
    until = _date(value)
    # By the server's own clock where it tells: ours may differ.
    now = _date(headers.get("date", "")) or datetime.now(UTC)
    return None if until is None else max((until - now).total_seconds(), 0.0)


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if 0 <= number < 1e9 else None


def _date(value: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def _message(body: object) -> str:
    if isinstance(body, str):  # not JSON: an error page of something in between
        return f"no JSON: {one_line(body.strip(), _SHOWN)!r}" if body.strip() else ""
    found = (
        text(body, "error", "message")
        or text(body, "error")
        or text(body, "message")
        or text(body, "detail")
    )
    return one_line(found, _SHOWN) if found else ""
