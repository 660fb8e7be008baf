"""What was probably meant by a name that is not of the form `module:attribute`. Imports nothing."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path

_NAMED = 5


def likely_function(spec: str, search: Sequence[Path]) -> str:
    """Say which function of a file in `search` was probably meant: '; did you mean ...', or ''."""
    dotted = spec.removesuffix(".py").replace("/", ".")
    if ":" in spec or not all(part.isidentifier() for part in dotted.split(".")):
        return ""
    file = _file_of(dotted, search)
    if file is not None:
        return _one_of(dotted, _functions_in(file))
    module, _, attribute = dotted.rpartition(".")
    if module and _file_of(module, search) is not None:
        return f'; did you mean "{module}:{attribute}"?'
    return ""


def _file_of(dotted: str, search: Sequence[Path]) -> Path | None:
    parts = dotted.split(".")
    for folder in search:
        place = folder.joinpath(*parts)
        for file in (place.with_suffix(".py"), place / "__init__.py"):
            if file.is_file():
                return file
    return None


def _functions_in(file: Path) -> list[str]:
    try:
        body = ast.parse(file.read_bytes()).body
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    names = [one.name for one in body if isinstance(one, kinds)]
    return [name for name in names if not name.startswith("_")]


def _one_of(module: str, functions: Sequence[str]) -> str:
    if len(functions) == 1:
        return f'; did you mean "{module}:{functions[0]}"?'
    told = f'; a function of it is named as "{module}:FUNCTION"'
    if not functions:
        return told
    more = ", ..." if len(functions) > _NAMED else ""
    return f"{told} ({', '.join(functions[:_NAMED])}{more})"
