"""The human audit of a run: its file written for people, and their labels read back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from pytest_refusal.errors import SettingsError
from pytest_refusal.metrics.audit import HumanLabel, draw_audit
from pytest_refusal.report.atomic import write_atomically
from pytest_refusal.report.audit_file import is_untouched, read_audit_csv, to_audit_csv
from pytest_refusal.report.report import PolicyReport

# Without it Excel reads UTF-8 as the code page of the machine.
_BYTE_ORDER_MARK = "\ufeff"


def why_not_writable(path: Path, name: str) -> str | None:
    """Say why no audit can be written to `path`: the work of people is never overwritten.

    name: of the file, for the message.
    """
    if not path.exists():
        return None
    try:
        text = _read(path, name)
    except SettingsError as error:
        return "; ".join(error.faults)
    if is_untouched(text):
        return None
    return (
        f"{name}: is there and would be lost: it is no audit, or people have begun to fill it in;"
        " name another file, or give it back with --refusal-labels"
    )


def write_audit(policies: Iterable[PolicyReport], path: Path, size: int) -> int:
    """Draw `size` responses of each policy for people to read; return how many were written.

    Raises OSError where the file cannot be written, or holds what must not be lost.
    """
    drawn = {policy.policy: draw_audit(policy.outcomes, size, policy.seed) for policy in policies}
    # It may have changed since the run began.
    if (why := why_not_writable(path, path.name)) is not None:
        raise OSError(why)
    write_atomically(path, _BYTE_ORDER_MARK + to_audit_csv(drawn))
    return sum(map(len, drawn.values()))


def read_labels(
    spec: str, policies: Iterable[str], *, folder: Path
) -> Mapping[str, tuple[HumanLabel, ...]]:
    """Read the labels that people gave, by policy of this run.

    spec: `PATH`, for policies of the same name, or `PATH::POLICY`, for the labels of that one.
    Raises SettingsError with every fault of the file.
    """
    source, _, wanted = spec.partition("::")
    names = tuple(policies)
    text = _read(folder / source, source)
    found = read_audit_csv(text, source, (wanted,) if wanted else names)
    return {name: found[wanted or name] for name in names if (wanted or name) in found}


def _read(path: Path, name: str) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise SettingsError([f"{name}: {error.strerror or error}"]) from error
    except UnicodeDecodeError:
        raise SettingsError([f"{name}: is not UTF-8 text; save it as CSV in UTF-8"]) from None
