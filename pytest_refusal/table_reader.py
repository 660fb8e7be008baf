"""Reading the keys of one table of settings: types, ranges, and every fault at once. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from enum import StrEnum
from typing import TypeVar, overload
from urllib.parse import urlsplit

_Kind = TypeVar("_Kind", bound=StrEnum)

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# What people write who are about to put a secret into a file.
_KEYS_OF_SECRETS = frozenset({"api_key", "key", "token", "password", "secret", "apikey"})


class TableReader:
    """Reads keys, gathers faults as `where.key: what`, and knows which keys were asked for."""

    def __init__(self, table: object, where: str, faults: list[str] | None = None) -> None:
        """Read `table`, called `where`; add to `faults` where several tables are read together."""
        self.faults: list[str] = [] if faults is None else faults
        self._where = where
        self._known: list[str] = []
        self._table: Mapping[str, object] = {}
        if isinstance(table, Mapping):
            self._table = table
        else:
            self.faults.append(f"{where}: must be a table, not {shown(table)}")

    def __contains__(self, key: str) -> bool:
        """Whether the table has the key; it is known from then on."""
        self._known.append(key)
        return key in self._table

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

    def value(self, key: str) -> object:
        """Take a value that somebody else checks; None where the key is absent."""
        return self._take(key)

    def text_or_list(self, key: str) -> tuple[str, ...]:
        """Read a text or a list of texts, none of them empty."""
        value = self._take(key)
        if value is None:
            return ()
        values = [value] if isinstance(value, str) else value
        if isinstance(values, list) and values and all(isinstance(v, str) and v for v in values):
            return tuple(values)
        self._wrong(key, "a text or a list of texts, none of them empty", value)
        return ()

    def phrases(self, key: str) -> tuple[str, ...]:
        """Read a list of texts that are long enough to be looked for."""
        value = self._take(key)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            self._wrong(key, "a list of texts", value)
            return ()
        for phrase in value:
            if len(phrase.strip()) < 2:
                self.fault(
                    key,
                    f"the phrase {phrase!r} is too short: it would match nearly everything;"
                    " write at least two characters",
                )
        return tuple(value)

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

    @overload
    def integer(self, key: str, default: int, *, low: int, high: int) -> int: ...

    @overload
    def integer(self, key: str, default: None, *, low: int, high: int) -> int | None: ...

    def integer(self, key: str, default: int | None, *, low: int, high: int) -> int | None:
        """Read a whole number within bounds."""
        value = self._take(key)
        if value is None:
            return default
        if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
            return value
        self._wrong(key, f"a whole number from {low} to {high}", value)
        return default

    @overload
    def number(self, key: str, default: float, *, low: float, high: float) -> float: ...

    @overload
    def number(self, key: str, default: None, *, low: float, high: float) -> float | None: ...

    def number(self, key: str, default: float | None, *, low: float, high: float) -> float | None:
        """Read a number within bounds."""
        value = self._take(key)
        if value is None:
            return default
        if isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high:
            return float(value)
        self._wrong(key, f"a number from {low:g} to {high:g}", value)
        return default

    def choice(
        self, key: str, kinds: type[_Kind], default: _Kind, allowed: Iterable[_Kind] | None = None
    ) -> _Kind:
        """Read one of a closed set of words, or of those that are allowed here."""
        value = self._take(key)
        if value is None:
            return default
        known = {kind.value: kind for kind in allowed or kinds}
        if isinstance(value, str) and value in known:
            return known[value]
        hint = closest(value, known) if isinstance(value, str) else ""
        self.fault(key, f"must be one of {', '.join(known)}, not {shown(value)}{hint}")
        return default

    def truth(self, key: str, *, default: bool) -> bool:
        """Read true or false."""
        value = self._take(key)
        if value is None:
            return default
        if isinstance(value, bool):
            return value
        self._wrong(key, "true or false", value)
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

    def rest(self) -> Mapping[str, object]:
        """Return the keys that nobody asked for."""
        return {key: value for key, value in self._table.items() if key not in self._known}

    def refuse_unknown(self) -> None:
        """Note every key that nobody asked for."""
        for key in self.rest():
            if key in _KEYS_OF_SECRETS:
                self.fault(key, "no keys in files: name an environment variable in api_key_env")
            else:
                known = ", ".join(dict.fromkeys(self._known))
                self.fault(key, f"unknown key{closest(key, self._known)} (known: {known})")

    def _take(self, key: str) -> object:
        self._known.append(key)
        return self._table.get(key)

    def _wrong(self, key: str, allowed: str, value: object) -> None:
        self.fault(key, f"must be {allowed}, not {shown(value)}")


def checked_share(value: object, where: str, faults: list[str]) -> float:
    """Return a number from 0 to 1; 0 and a fault for what is none."""
    # bool is a kind of int, and NaN compares false with everything.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        faults.append(f"{where}: must be a number from 0 to 1, not {shown(value)}")
        return 0.0
    return float(value)


def shown(value: object) -> str:
    """Show a value of a table in a few words."""
    if isinstance(value, Mapping):
        return "a table"
    text = repr(value)
    if isinstance(value, str | int | float) or len(text) < 60:
        return text if len(text) < 80 else f"{text[:77]}..."
    return "a list" if isinstance(value, list) else type(value).__name__


def closest(word: str, known: Iterable[str]) -> str:
    """Say which known word was probably meant: '; did you mean "x"?', or nothing."""
    match = get_close_matches(word, list(known), n=1)
    return f'; did you mean "{match[0]}"?' if match else ""
