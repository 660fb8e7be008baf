"""From `module:attribute` to the object of that name."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path

from pytest_refusal.errors import PolicyError
from pytest_refusal.foreign import describe
from pytest_refusal.policy.likely_function import likely_function


class AbsentFunctionError(PolicyError):
    """There is nothing of this name."""


def load_function(spec: str, *, search: Sequence[Path]) -> object:
    """Import `module:attribute`, where the attribute may be dotted.

    search: folders that are put at the front of `sys.path` and stay there, as pytest does
    with the folders of tests.  Raises PolicyError; AbsentFunctionError where there is no such
    thing.
    """
    module_name, colon, attribute = spec.partition(":")
    names = [*module_name.split("."), *attribute.split(".")]
    is_file = module_name.endswith(".py")
    if not colon or is_file or not all(name.isidentifier() for name in names):
        msg = f"{spec!r} is not of the form module:attribute{_meant(spec, search)}"
        raise AbsentFunctionError(msg)
    for folder in reversed(search):
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
    target: object = _module(module_name, spec, search)
    path = module_name
    for name in attribute.split("."):
        holder = target
        target = _attribute(holder, name, path, spec)
        if inspect.isclass(holder) and _needs_instance(target):
            kind = holder.__name__
            msg = (
                f"{spec!r}: {name} is a method of the class {kind} and needs an instance:"
                f" write bot = {kind}(...) in the module and name {module_name}:bot.{name}"
            )
            raise PolicyError(msg)
        path = f"{path}.{name}"
    return target


def _module(name: str, spec: str, search: Sequence[Path]) -> object:
    importlib.invalidate_caches()  # the file may be younger than the last look at its folder
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if name == missing or name.startswith(f"{missing}."):
            raise AbsentFunctionError(_not_found(name, missing, spec, search)) from error
        raise PolicyError(_broken(name, spec, error)) from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # `pytest.skip` and `sys.exit` are no Exceptions
        raise PolicyError(_broken(name, spec, error)) from error


def _broken(name: str, spec: str, error: BaseException) -> str:
    return f"{spec!r}: importing {name} failed: {describe(error)}"


def _needs_instance(target: object) -> bool:
    return inspect.isfunction(target) and target.__code__.co_varnames[:1] == ("self",)


def _not_found(name: str, missing: str, spec: str, search: Sequence[Path]) -> str:
    folders = tuple(dict.fromkeys(folder.absolute() for folder in search))
    text = f"{spec!r}: there is no module {missing!r}"
    inner = _folder_with(missing.partition(".")[0], folders)
    if inner is not None:
        return (
            f'{text}, but there is one in {inner}; set pythonpath = ["{inner.name}"] under'
            " [tool.pytest.ini_options], or install the package"
        )
    there = {module: file for folder in folders for module, file in _modules_in(folder)}
    close = get_close_matches(name, there, n=1) or get_close_matches(missing, there, n=1)
    if close:
        return f"{text}; did you mean {close[0]!r} ({there[close[0]]})?"
    places = ", ".join(str(folder) for folder in folders)
    if not places:
        return text
    return (
        f"{text} in {places} or among the installed ones; if it lies in another folder, set that"
        ' under [tool.pytest.ini_options], such as pythonpath = ["src"], or install it'
    )


def _folder_with(module: str, folders: Sequence[Path]) -> Path | None:
    """Find a folder inside `folders` that would have to be on the path for `module`."""
    for folder in folders:
        for inner in sorted(path for path in folder.glob("*/") if path.is_dir()):
            if (inner / f"{module}.py").is_file() or (inner / module / "__init__.py").is_file():
                return inner
    return None


def _modules_in(folder: Path) -> Iterator[tuple[str, Path]]:
    """Name the modules of a folder, and those of its packages one level down."""
    for pattern in ("*.py", "*/*.py"):
        for file in sorted(folder.glob(pattern)):
            parts = file.relative_to(folder).with_suffix("").parts
            if all(part.isidentifier() for part in parts):
                yield ".".join(part for part in parts if part != "__init__"), file


def _attribute(target: object, name: str, path: str, spec: str) -> object:
    try:
        return getattr(target, name)
    except AttributeError as error:
        close = get_close_matches(name, [n for n in dir(target) if not n.startswith("__")], n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        msg = f"{spec!r}: {path} has no attribute {name!r}{hint}"
        raise AbsentFunctionError(msg) from error
    except Exception as error:
        msg = f"{spec!r}: reading {name!r} failed: {describe(error)}"
        raise PolicyError(msg) from error


def _meant(spec: str, search: Sequence[Path]) -> str:
    module, colon, attribute = spec.rpartition(":")
    if colon and module.endswith(".py"):
        dotted = ".".join(Path(module).with_suffix("").parts)
        return f"; did you mean {dotted}:{attribute}?"
    return likely_function(spec, search) or ", such as my_app:answer"
