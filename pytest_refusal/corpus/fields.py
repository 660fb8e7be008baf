"""The fields of a prompt, as files name them. No I/O."""

from __future__ import annotations

#: In the order in which a table has them.
FIELDS = (
    "id",
    "prompt",
    "label",
    "category",
    "severity",
    "source",
    "tags",
    "note",
    "taxonomy",
    "pair",
    "language",
)

#: The fields that can be given once for a whole file.
DEFAULTABLE = tuple(name for name in FIELDS if name not in {"id", "prompt"})
