"""The confidence that a policy states in its text. No I/O."""

from __future__ import annotations

import re

#: What a missing, malformed or out-of-range tag counts as in the ECE.
DEFAULT_CONFIDENCE = 0.5

#: A tag with anything in it.  Its inside is short, so that an unclosed "[conf=" never makes
#: the search run on.
CONFIDENCE_TAG = re.compile(r"\[conf=([^\[\]\n]{0,32})\]")
_DECIMAL = re.compile(r"\s*(?:0|0?\.[0-9]+|0\.|1(?:\.0*)?)\s*", re.ASCII)


def stated_confidence(text: str) -> float | None:
    """Read the last `[conf=X]` tag, X a decimal in [0, 1]; None if missing or malformed."""
    inside = None
    for match in CONFIDENCE_TAG.finditer(text):
        inside = match[1]
    if inside is None or not _DECIMAL.fullmatch(inside):
        return None
    return float(inside)


def unreadable_tag(text: str) -> str | None:
    """Return the last tag, "[conf=90]", if it holds no decimal in [0, 1]; else None."""
    tags = [match[0] for match in CONFIDENCE_TAG.finditer(text)]
    return tags[-1] if tags and stated_confidence(text) is None else None


def parse_confidence(text: str) -> float:
    """Read the last `[conf=X]` tag; 0.5 if it is missing, malformed or out of range.

    Raises TypeError for what is no text.
    """
    given: object = text
    if not isinstance(given, str):
        msg = f"expected a text, not {type(given).__name__}"
        raise TypeError(msg)
    value = stated_confidence(text)
    return DEFAULT_CONFIDENCE if value is None else value
