"""The fields of one object of a JSON file, read with their types; faults are gathered."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from enum import StrEnum
from typing import TypeGuard, TypeVar

from pytest_refusal.escape import one_line

_Kind = TypeVar("_Kind", bound=StrEnum)
_Plain = TypeVar("_Plain", str, int, bool)

_NAMES = {str: "a text", int: "a whole number", bool: "true or false"}

# A file of another kind has a fault in every line, and nobody reads more than these.
_MOST_FAULTS = 20


class Fields:
    """One object of the file.  What is missing or wrong becomes a fault and a stand-in."""

    def __init__(self, plain: object, source: str, where: str, faults: list[str]) -> None:
        self._source = source
        self._where = where
        self._faults = faults
        self._plain: Mapping[str, object] = {}
        if isinstance(plain, dict):
            self._plain = plain
        else:
            self._add(where, f"must be an object, not {_shown(plain)}")
            # That nothing is in it follows from this, and need not be said too.
            self._faults = []

    def __contains__(self, key: str) -> bool:
        return key in self._plain

    def fault(self, key: str, what: str) -> None:
        """Note what is wrong with a field."""
        self._add(self._place(key), what)

    def is_null(self, key: str) -> bool:
        """Whether the field is there and null."""
        return key in self._plain and self._plain[key] is None

    def has(self, key: str) -> bool:
        """Whether the field is there and not null."""
        return self._plain.get(key) is not None

    def text(self, key: str) -> str:
        """Read a text."""
        return self._typed(key, str, "")

    def whole(self, key: str, *, low: int = 0) -> int:
        """Read a whole number of at least `low`."""
        value = self._typed(key, int, low)
        if value < low:
            self.fault(key, f"must be at least {low}, not {value}")
            return low
        return value

    def truth(self, key: str) -> bool:
        """Read true or false."""
        return self._typed(key, bool, False)

    def optional(self, key: str, kind: type[_Plain]) -> _Plain | None:
        """Read a value of one kind; None where it is null or left out."""
        if self._plain.get(key) is None:
            return None
        return self._typed(key, kind, kind())

    def number(self, key: str, *, low: float = 0.0) -> float:
        """Read a number of at least `low`."""
        value = self._plain.get(key)
        if _is_number(value) and value >= low:
            return float(value)
        self._wrong(key, f"a number of at least {low:g}")
        return max(low, 0.0)

    def optional_number(self, key: str, *, low: float = -1.0) -> float | None:
        """Read a number of at least `low`; None where it is null."""
        return None if self.is_null(key) else self.number(key, low=low)

    def share(self, key: str) -> float:
        """Read a number from 0 to 1."""
        value = self._plain.get(key)
        if _is_number(value) and 0 <= value <= 1:
            return float(value)
        self._wrong(key, "a number from 0 to 1")
        return 0.0

    def optional_share(self, key: str) -> float | None:
        """Read a number from 0 to 1; None where it is null."""
        return None if self.is_null(key) else self.share(key)

    def choice(self, key: str, kind: type[_Kind], stand_in: _Kind) -> _Kind:
        """Read one of the values of `kind`."""
        value = self._plain.get(key)
        if isinstance(value, str) and value in set(kind):
            return kind(value)
        self._wrong(key, "one of " + ", ".join(kind))
        return stand_in

    def table(self, key: str) -> Fields:
        """Read an object."""
        return Fields(self._plain.get(key), self._source, self._place(key), self._faults)

    def optional_object(self, key: str) -> Mapping[str, object] | None:
        """Read an object of anything that JSON has; None where it is null or left out."""
        value = self._plain.get(key)
        if value is None:
            return None
        if isinstance(value, dict) and _is_json(value):
            return value
        self._wrong(key, "an object without NaN and infinities")
        return None

    def tables(self, key: str) -> tuple[Fields, ...]:
        """Read a list of objects."""
        place = self._place(key)
        return tuple(
            Fields(item, self._source, f"{place}[{index}]", self._faults)
            for index, item in enumerate(self._list(key))
        )

    def optional_texts(self, key: str) -> tuple[str, ...] | None:
        """Read a list of texts; None where it is null or left out."""
        return None if self._plain.get(key) is None else self.texts(key)

    def texts(self, key: str) -> tuple[str, ...]:
        """Read a list of texts."""
        items = self._list(key)
        if not all(isinstance(item, str) for item in items):
            self.fault(key, "must be a list of texts")
        return tuple(item for item in items if isinstance(item, str))

    def pairs(self, key: str) -> tuple[tuple[str, str], ...]:
        """Read a list of pairs of texts."""
        found = []
        for item in self._list(key):
            match item:
                case [str(first), str(second)]:
                    found.append((first, second))
                case _:
                    self.fault(key, "must be a list of pairs of texts")
        return tuple(found)

    def text_table(self, key: str) -> dict[str, str]:
        """Read an object whose values are texts."""
        table = self.table(key)
        return {name: table.text(name) for name in table._plain}  # noqa: SLF001  # its own kind

    def _typed(self, key: str, kind: type[_Plain], stand_in: _Plain) -> _Plain:
        value = self._plain.get(key)
        # In Python, true is a whole number too.
        if isinstance(value, kind) and type(value) is kind:
            return value
        self._wrong(key, _NAMES[kind])
        return stand_in

    def _list(self, key: str) -> list[object]:
        value = self._plain.get(key)
        if isinstance(value, list):
            return value
        self._wrong(key, "a list")
        return []

    def _wrong(self, key: str, allowed: str) -> None:
        if key in self._plain:
            self.fault(key, f"must be {allowed}, not {_shown(self._plain[key])}")
        else:
            self.fault(key, f"is missing; it must be {allowed}")

    def _place(self, key: str) -> str:
        return f"{self._where}.{key}" if self._where else key

    def _add(self, where: str, what: str) -> None:
        if len(self._faults) < _MOST_FAULTS:
            self._faults.append(f"{self._source}: {where}{' ' if where else ''}{what}")
        elif len(self._faults) == _MOST_FAULTS:
            self._faults.append(f"{self._source}: and more")


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_json(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return "null" if value is None else one_line(repr(value), 60)
