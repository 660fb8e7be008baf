"""A file of lines to which several processes append, while one may put another in its place."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl


class AppendedFile:
    """A file to whose end whole lines are written; made with its folders where it is not there."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def append(self, line: bytes) -> None:
        """Write a line in one piece, to what is at the path now."""
        while True:
            if self._file is None:
                self._file = _open_to_append(self._path)
            with _locked(self._file):
                if _is_at(self._path, self._file):
                    os.write(self._file, line)
                    return
            self.close()  # another run has put a file in its place

    def close(self) -> None:
        """Close the file; it is opened again for what is written after that."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


@contextmanager
def nobody_appends(path: Path) -> Iterator[None]:
    """Keep what is at a path from being appended to, for another file to be put in its place.

    Those who wait meanwhile write to that one.  Raises OSError where nothing is there.
    """
    if sys.platform == "win32":  # where no file is replaced while it is open
        yield
        return
    while True:
        file = os.open(path, os.O_RDONLY)
        try:
            with _locked(file):
                if _is_at(path, file):
                    yield
                    return
        finally:
            os.close(file)


@contextmanager
def _locked(file: int) -> Iterator[None]:
    if sys.platform == "win32":
        yield
    else:
        with suppress(OSError):  # some file systems of a network have no locks
            fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            with suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_UN)


def _is_at(path: Path, file: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file))
    except FileNotFoundError:
        return False


def _open_to_append(path: Path) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
    file = os.open(path, flags, 0o644)
    size = os.fstat(file).st_size
    if size:
        os.lseek(file, size - 1, os.SEEK_SET)
        if os.read(file, 1) != b"\n":
            os.write(file, b"\n")  # what was torn ends here, and is left out when read
    return file
