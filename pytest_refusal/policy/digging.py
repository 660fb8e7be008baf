"""Reading JSON of strangers: whatever is not there, or is of another type, is None."""

from __future__ import annotations

from collections.abc import Iterator


def dig(value: object, *path: str | int) -> object:
    """Follow keys of objects and positions of lists; None where the way ends."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(str(step))
        elif isinstance(value, list) and isinstance(step, int) and -len(value) <= step < len(value):
            value = value[step]
        else:
            return None
    return value


def text(value: object, *path: str | int) -> str | None:
    """Follow the path to a string; None if there is something else or nothing."""
    found = dig(value, *path)
    return found if isinstance(found, str) else None


def word(value: object, *path: str | int) -> str | None:
    """Follow the path to a string or a number, as a string: codes come as either."""
    found = dig(value, *path)
    if isinstance(found, str):
        return found
    return str(found) if isinstance(found, int | float) and not isinstance(found, bool) else None


def count(value: object, *path: str | int) -> int | None:
    """Follow the path to a whole number that is not negative."""
    found = dig(value, *path)
    return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else None


def items(value: object, *path: str | int) -> list[object]:
    """Follow the path to a list; an empty one if there is something else or nothing."""
    found = dig(value, *path)
    return found if isinstance(found, list) else []


def pairs(value: object, *path: str | int) -> Iterator[tuple[str, object]]:
    """Follow the path to an object and yield its members."""
    found = dig(value, *path)
    if isinstance(found, dict):
        yield from found.items()


def joined_texts(parts: object) -> str | None:
    """Join a text, or the texts of a list of parts that are not thoughts."""
    if isinstance(parts, str):
        return parts
    if not isinstance(parts, list):
        return None
    texts = []
    for part in parts:
        kind = text(part, "type")
        if isinstance(part, str):
            texts.append(part)
        elif kind in {None, "text", "output_text"} and dig(part, "thought") is not True:
            texts.append(text(part, "text") or "")
    return "".join(texts)
