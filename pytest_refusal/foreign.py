"""Exceptions of other people's code, put in words. No I/O.

Neither a local value nor a line of source is ever shown: both may hold a secret.
"""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator
from pathlib import Path
from traceback import walk_tb
from types import TracebackType

_MESSAGE_LIMIT = 2000
_GROUP_LIMIT = 5
_PLACE_LIMIT = 3


def describe(error: BaseException) -> str:
    """Return type, message and place of an exception, as `Type: message (file:line in name)`.

    The places are the innermost ones in the user's own files, innermost first; if there is
    none, the innermost of all.  Long messages are cut.  Never raises an Exception.
    """
    what = _type_and_message(error)
    where = _places(error)
    return f"{what} ({', '.join(where)})" if where else what


def _type_and_message(error: BaseException) -> str:
    name = type(error).__name__
    try:
        message = str(error)
    except Exception:  # a foreign __str__ may raise anything
        return f"{name} (its message cannot be shown)"
    if len(message) > _MESSAGE_LIMIT:
        message = message[:_MESSAGE_LIMIT] + "..."
    text = f"{name}: {message}" if message else name
    if isinstance(error, BaseExceptionGroup):
        leaves = list(_leaves(error, _GROUP_LIMIT + 1))
        shown = [_type_and_message(leaf) for leaf in leaves[:_GROUP_LIMIT]]
        if len(leaves) > _GROUP_LIMIT:
            shown.append("...")
        text = f"{text}: {'; '.join(shown)}"
    return text


def _leaves(group: BaseExceptionGroup[BaseException], limit: int) -> Iterator[BaseException]:
    # A stack of its own, since groups may be nested deeper than Python can recurse.
    waiting: list[BaseException] = [group]
    while waiting and limit:
        error = waiting.pop()
        if isinstance(error, BaseExceptionGroup):
            waiting.extend(reversed(error.exceptions))
        else:
            limit -= 1
            yield error


def _places(error: BaseException) -> list[str]:
    if isinstance(error, SyntaxError) and error.filename:
        return [f"{_short(error.filename)}:{error.lineno}"]
    own: list[str] = []
    innermost = ""
    for file, line, function in reversed(list(_frames(error.__traceback__))):
        place = f"{_short(file)}:{line} in {function}"
        innermost = innermost or place
        if _is_the_users(file) and place not in own:
            own.append(place)
            if len(own) == _PLACE_LIMIT:
                break
    if own or not innermost:
        return own
    return [innermost]


def _frames(traceback: TracebackType | None) -> Iterator[tuple[str, int, str]]:
    for frame, line in walk_tb(traceback):
        yield frame.f_code.co_filename, line, frame.f_code.co_name


def _is_the_users(file: str) -> bool:
    if file.startswith("<") or "site-packages" in file or "dist-packages" in file:
        return False
    paths = sysconfig.get_paths()
    not_theirs = (str(Path(__file__).parent), paths["stdlib"], paths["platstdlib"])
    return not file.startswith(not_theirs)


def _short(file: str) -> str:
    """Return the path as seen from the working folder, if it lies in it."""
    try:
        return str(Path(file).relative_to(Path.cwd()))
    except (OSError, ValueError):
        return file
