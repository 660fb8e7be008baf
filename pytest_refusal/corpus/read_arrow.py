"""Read Parquet and Arrow; the line of a prompt is the number of its row."""

from __future__ import annotations

from collections.abc import Iterator
from io import BufferedReader, RawIOBase
from typing import Any

from pytest_refusal.corpus.decoding import LARGEST, Source
from pytest_refusal.corpus.faults import UnreadableError
from pytest_refusal.corpus.rows import Broken, Dialect, Row, Sheet

# Few, since a row may hold millions of characters of which the file has one copy for all.
_BATCH = 128

#: Bytes that the library may ask for at once; a damaged file claims to have very many.
MOST_AT_ONCE = 256 * 2**20


def read_parquet(source: Source, _dialect: Dialect) -> Sheet:
    """Read a Parquet file.  Needs the extra `parquet`."""
    pyarrow = _pyarrow()
    from pyarrow import parquet  # optional

    try:
        file = parquet.ParquetFile(_Bounded(source.binary))
        columns = tuple(file.schema_arrow.names)
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise UnreadableError(1, f"this is not Parquet: {error}") from error
    # Threads cost more time and memory here than they save: the columns are few and small.
    batches = file.iter_batches(batch_size=_BATCH, use_threads=False)
    return Sheet(rows=_rows(batches), ours=False, columns=columns)


def read_arrow(source: Source, _dialect: Dialect) -> Sheet:
    """Read an Arrow file, of either kind.  Needs the extra `parquet`."""
    pyarrow = _pyarrow()
    from pyarrow import ipc  # optional

    try:
        if source.binary.peek(6)[:6] == b"ARROW1":
            file = ipc.open_file(_Bounded(source.binary))
            batches = (file.get_batch(number) for number in range(file.num_record_batches))
            columns = tuple(file.schema.names)
        else:
            stream = ipc.open_stream(_Bounded(source.binary))
            batches, columns = iter(stream), tuple(stream.schema.names)
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise UnreadableError(1, f"this is not Arrow: {error}") from error
    return Sheet(rows=_rows(batches), ours=False, columns=columns)


def _rows(batches: Iterator[Any]) -> Iterator[Row | Broken]:
    number = total = 0
    while True:
        try:
            batch = next(batches, None)
            if batch is None:
                return
            batch.validate(full=True)  # else damaged offsets lead out of the buffers
            total += batch.nbytes
            rows = batch.to_pylist() if total <= LARGEST else []
        except Exception as error:  # foreign code over a file that may be damaged anywhere
            raise UnreadableError(number + 1, f"the rows cannot be read: {error}") from error
        if total > LARGEST:
            raise UnreadableError(number + 1, f"the file has more than {LARGEST} bytes of data")
        for fields in rows:
            number += 1
            yield Row(number, fields)


class _Bounded(RawIOBase):
    """A file of which nobody reads very much at once."""

    def __init__(self, stream: BufferedReader) -> None:
        self._stream = stream

    def read(self, size: int = -1) -> bytes:
        if size > MOST_AT_ONCE:
            msg = f"a part of it would have more than {MOST_AT_ONCE} bytes"
            raise ValueError(msg)
        return self._stream.read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._stream.seekable()


def _pyarrow() -> Any:
    try:
        import pyarrow  # optional
    except ImportError as error:
        what = 'Parquet and Arrow need another package: pip install "pytest-refusal[parquet]"'
        raise UnreadableError(1, what) from error
    return pyarrow
