"""A folder of one's own, and the faults of a corpus in it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_refusal import errors
from pytest_refusal.corpus import loading, sources

Write = Callable[[str, str | bytes], Path]
FaultsOf = Callable[..., tuple[str, ...]]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file below the temporary folder, exactly as given."""

    def write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def faults_of(tmp_path: Path, write: Write) -> FaultsOf:
    """Return the faults of corpora that are given as name and content."""

    def faults_of(*contents: tuple[str, str | bytes]) -> tuple[str, ...]:
        for name, content in contents:
            write(name, content)
        files = sources.find_corpora([name for name, _ in contents], base=tmp_path)
        with pytest.raises(errors.CorpusError) as caught:
            loading.load_files(files)
        assert str(caught.value) == "\n".join(caught.value.faults)
        return caught.value.faults

    return faults_of
