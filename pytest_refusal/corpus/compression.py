"""Open a file, unpacked if it is compressed."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_refusal.corpus.faults import UnreadableError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

#: What a damaged compressed file raises while it is read, beside OSError.
DAMAGE = (EOFError, zlib.error)


def open_unpacked(path: Path) -> BufferedReader:
    """Open a file for reading bytes.

    Raises OSError, and UnreadableError where a package is missing.  How much may come out of a
    compressed file is for its reader to limit.
    """
    match path.suffix.casefold():
        case ".gz":
            packed = gzip.open(path, "rb")  # noqa: SIM115  # the caller closes it
            return BufferedReader(_Unpacked(packed.read, packed.close))
        case ".zst":
            return BufferedReader(_unpacked_zstd(path))
    return path.open("rb")


class _Unpacked(RawIOBase):
    """What comes out of a decompressor, as a stream with one kind of error."""

    def __init__(
        self,
        read: Callable[[int], bytes],
        close: Callable[[], None],
        damage: tuple[type[Exception], ...] = (),
    ) -> None:
        self._read = read
        self._close = close
        self._damage = damage

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        try:
            data = self._read(len(view))
        except self._damage as error:
            raise EOFError(str(error)) from error
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._close()
        super().close()


def _unpacked_zstd(path: Path) -> _Unpacked:
    try:
        import zstandard  # optional
    except ImportError as error:
        what = 'zstd files need another package: pip install "pytest-refusal[zstd]"'
        raise UnreadableError(1, what) from error
    packed = zstandard.open(path, "rb")
    return _Unpacked(packed.read, packed.close, (zstandard.ZstdError,))
