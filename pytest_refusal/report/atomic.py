"""A file replaced in one step, so that no reader sees half a report."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def can_be_made(path: Path) -> bool:
    """Whether a file can be made at `path`, its missing folders included."""
    folder = next((p for p in path.absolute().parents if p.exists()), None)
    return folder is not None and folder.is_dir() and os.access(folder, os.W_OK)


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replace `path` by `content`, whole or not at all; missing folders are made.

    Text is written in UTF-8 with line feeds.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    draft = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        # mkstemp makes it private; a report is for everybody whom the umask lets in.
        draft.chmod(0o666 & ~_umask())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
