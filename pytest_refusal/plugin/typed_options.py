"""Which of our options stand on the command line; imported in idle runs too, so kept light."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pytest

_PREFIX = "--refusal-"


def typed_options(config: pytest.Config) -> tuple[str, ...]:
    """Return our options as far as they were typed, and do not only stand in addopts."""
    words = (word.partition("=")[0] for word in _words(config))
    return tuple(dict.fromkeys(word for word in words if word.startswith(_PREFIX)))


def _words(config: pytest.Config) -> Iterator[str]:
    for word in map(str, config.invocation_params.args):
        yield word
        if word.startswith("@"):
            # A file of arguments, one a line.
            path = config.invocation_params.dir / word[1:]
            with suppress(OSError, UnicodeDecodeError):
                yield from path.read_text(encoding="utf-8").splitlines()
