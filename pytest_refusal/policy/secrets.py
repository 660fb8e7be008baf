"""Secrets, and taking them out of text that they may have got into."""

from __future__ import annotations

import base64
import json
import logging
import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

HIDDEN = "[hidden]"

# Shorter values are placeholders such as "none"; hiding them would garble ordinary words.
_SHORTEST = 6
_TELLING_PREFIX = 12


class Secret:
    """A value that shows itself to nobody who does not ask for it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the value."""
        return self._value

    def __repr__(self) -> str:
        return HIDDEN


class Redaction:
    """Hides known secrets in text: as they are, escaped, in base64, or cut to a prefix."""

    def __init__(self, secrets: Iterable[Secret]) -> None:
        forms: set[str] = set()
        for secret in secrets:
            value = secret.reveal()
            if len(value) >= _SHORTEST:
                forms |= _forms(value)
        self._pattern = (
            re.compile("|".join(sorted(forms, key=lambda form: (-len(form), form))))
            if forms
            else None
        )

    def hide(self, text: str) -> str:
        """Return `text` with every known secret replaced."""
        return text if self._pattern is None else self._pattern.sub(HIDDEN, text)

    def hide_in_json(self, value: object) -> object:
        """Return what was read from JSON with every known secret replaced in its texts.

        Escapes may have kept a secret out of sight before it was read.
        """
        if self._pattern is None:
            return value
        if isinstance(value, str):
            return self.hide(value)
        if isinstance(value, list):
            return [self.hide_in_json(one) for one in value]
        if isinstance(value, dict):
            return {self.hide(name): self.hide_in_json(one) for name, one in value.items()}
        return value

    def hide_in_logs(self, loggers: Iterable[str]) -> None:
        """Have secrets replaced in what these loggers write, whoever listens to them."""
        if self._pattern is not None:
            for name in loggers:
                logging.getLogger(name).addFilter(self._edit)

    def _edit(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = self.hide(record.getMessage()), ()
        return True

    def __repr__(self) -> str:
        return "Redaction()"


def _forms(value: str) -> set[str]:
    """List patterns for all that a secret may have been made into."""
    plain = {value, quote(value, safe=""), quote_plus(value), json.dumps(value)[1:-1]}
    forms = {re.escape(form) for form in plain}
    raw = value.encode()
    for offset in range(3):  # base64 looks different at each place in a group of three bytes
        coded = base64.b64encode(b"\0" * offset + raw).decode("ascii")
        inner = coded[(offset * 8 + 5) // 6 : len(coded) - 3].rstrip("=")
        forms |= {re.escape(inner), re.escape(inner.replace("+", "-").replace("/", "_"))}
    if len(value) > _TELLING_PREFIX:
        # Servers echo keys cut short or starred out.
        forms.add(re.escape(value[:_TELLING_PREFIX]) + r"[\w*.\-]*")
    return forms
