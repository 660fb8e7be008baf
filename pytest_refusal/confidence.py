"""The confidence that a policy states in its text. No I/O."""

from __future__ import annotations

import re

#: What a missing, malformed or out-of-range tag counts as in the ECE.
DEFAULT_CONFIDENCE = 0.5

#: A tag with anything in it.  Its inside is short, so that an unclosed "[conf=" never makes
#: the search run on.
CONFIDENCE_TAG = re.compile(r"\[conf=([^\[\]\n]{0,32})\]")
_DECIMAL = re.compile(r"\s*(?:0|1|0?\.[0-9]+|[01]\.[0-9]*)\s*", re.ASCII)


def stated_confidence(text: str) -> float | None:
    """Read the last `[conf=X]` tag, X a decimal in [0, 1]; None if missing or malformed."""
    inside = None
    for match in CONFIDENCE_TAG.finditer(text):
        inside = match[1]
    if inside is None or not _DECIMAL.fullmatch(inside):
        return None
    value = float(inside)
    return value if value <= 1.0 else None


def parse_confidence(text: str) -> float:
    """Read the last `[conf=X]` tag; 0.5 if it is missing, malformed or out of range."""
    value = stated_confidence(text)
    return DEFAULT_CONFIDENCE if value is None else value
