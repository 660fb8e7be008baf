"""Reading the keys of one table of settings: types, ranges, and every fault at once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from enum import StrEnum
from typing import TypeVar
from urllib.parse import urlsplit

_Kind = TypeVar("_Kind", bound=StrEnum)

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# What people write who are about to put a secret into a file.
_KEYS_OF_SECRETS = frozenset({"api_key", "key", "token", "password", "secret", "apikey"})


class TableReader:
    """Reads keys, gathers faults as `where.key: what`, and knows which keys were asked for."""

    def __init__(self, table: Mapping[str, object], where: str) -> None:
        self.faults: list[str] = []
        self._table = table
        self._where = where
        self._known: list[str] = []

    def fault(self, key: str, what: str) -> None:
        """Note what is wrong with a key."""
        self.faults.append(f"{self._where}.{key}: {what}")

    def text(self, key: str, *, needed: bool = False) -> str | None:
        """Read a text that is not empty."""
        value = self._take(key)
        if isinstance(value, str) and value.strip():
            return value
        if value is not None:
            self._wrong(key, "a text that is not empty", value)
        elif needed:
            self.fault(key, "is missing")
        return None

    def variable(self, key: str) -> str | None:
        """Read the name of an environment variable."""
        value = self.text(key)
        if value is None or _VARIABLE.fullmatch(value):
            return value
        # Not shown: it may well be the key itself.
        self.fault(key, "must be the name of an environment variable, never a key")
        return None

    def url(self, key: str, *, needed: bool = False) -> str:
        """Read the URL of a server."""
        value = self.text(key, needed=needed)
        if value is None:
            return ""
        try:
            parts = urlsplit(value)
            good = parts.scheme in {"http", "https"} and bool(parts.hostname)
            good = good and parts.port != 0
        except ValueError:
            good = False
        if good:
            return value
        self.fault(key, "must be a URL such as http://localhost:8000/v1")
        return ""

    def integer(self, key: str, default: int | None, *, low: int, high: int) -> int | None:
        """Read a whole number within bounds."""
        value = self._take(key)
        if value is None:
            return default
        if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
            return value
        self._wrong(key, f"a whole number from {low} to {high}", value)
        return default

    def number(self, key: str, default: float | None, *, low: float, high: float) -> float | None:
        """Read a number within bounds."""
        value = self._take(key)
        if value is None:
            return default
        if isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high:
            return float(value)
        self._wrong(key, f"a number from {low:g} to {high:g}", value)
        return default

    def choice(self, key: str, kinds: type[_Kind], default: _Kind) -> _Kind:
        """Read one of a closed set of words."""
        value = self._take(key)
        if value is None:
            return default
        known = [kind.value for kind in kinds]
        if isinstance(value, str) and value in known:
            return kinds(value)
        hint = _closest(value, known) if isinstance(value, str) else ""
        self.fault(key, f"must be one of {', '.join(known)}, not {_shown(value)}{hint}")
        return default

    def table(self, key: str) -> Mapping[str, object] | None:
        """Read a table of anything."""
        value = self._take(key)
        if value is None or isinstance(value, Mapping):
            return value
        self._wrong(key, "a table", value)
        return None

    def texts(self, key: str) -> Mapping[str, str]:
        """Read a table of texts."""
        found = {}
        for name, value in (self.table(key) or {}).items():
            if isinstance(value, str):
                found[name] = value
            else:
                self._wrong(f"{key}.{name}", "a text", value)
        return found

    def refuse_unknown(self) -> None:
        """Note every key that nobody asked for."""
        for key in self._table:
            if key in self._known:
                continue
            if key in _KEYS_OF_SECRETS:
                self.fault(key, "no keys in files: name an environment variable in api_key_env")
            else:
                known = ", ".join(self._known)
                self.fault(key, f"unknown key{_closest(key, self._known)} (known: {known})")

    def _take(self, key: str) -> object:
        self._known.append(key)
        return self._table.get(key)

    def _wrong(self, key: str, allowed: str, value: object) -> None:
        self.fault(key, f"must be {allowed}, not {_shown(value)}")


def _shown(value: object) -> str:
    return f"{value!r}" if isinstance(value, str | int | float) else type(value).__name__


def _closest(word: str, known: list[str]) -> str:
    match = get_close_matches(word, known, n=1)
    return f"; did you mean {match[0]!r}?" if match else ""
