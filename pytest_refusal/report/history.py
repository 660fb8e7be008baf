"""The summary numbers of run after run, a line of JSON each, in a file that only grows."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_refusal.errors import ReportError
from pytest_refusal.report.fields import Fields

if TYPE_CHECKING:
    from pytest_refusal.metrics.estimates import Estimate
    from pytest_refusal.report.report import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRate:
    """A rate with its interval.  value, lower, upper: None without data."""

    value: float | None
    numerator: int
    denominator: int
    lower: float | None
    upper: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRun:
    """What one run found out about one policy.

    created: ISO 8601, "" if it is not known.  commit: of the project, in hexadecimal, or "".
    """

    created: str
    commit: str
    policy: str
    gate: bool | None
    planned: int
    unevaluated: int
    under_refusal: PastRate
    over_refusal: PastRate
    accuracy: PastRate
    ece: float | None


def runs_of(report: Report, *, commit: str) -> tuple[PastRun, ...]:
    """Take the summary numbers of each policy of a run."""
    return tuple(
        PastRun(
            created=report.created or "",
            commit=commit,
            policy=policy.policy,
            gate=policy.gate.passed,
            planned=policy.planned,
            unevaluated=policy.unevaluated,
            under_refusal=_past(policy.estimates.under_refusal),
            over_refusal=_past(policy.estimates.over_refusal),
            accuracy=_past(policy.estimates.accuracy),
            ece=policy.tally.ece(policy.ece_bins),
        )
        for policy in report.policies
    )


def append_history(path: Path, runs: Iterable[PastRun]) -> None:
    """Append a line for each; missing folders are made.

    Half a line at the end, of a run that was killed, is cut off.
    Raises OSError if it cannot be done.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(asdict(run)) + "\n" for run in runs)
    before = path.read_bytes() if path.exists() else b""
    kept = before.rfind(b"\n") + 1
    if _is_whole(before[kept:]):
        kept, text = len(before), f"\n{text}"
    with path.open("ab") as file:
        file.truncate(kept)
        file.write(text.encode("ascii"))


def read_history(path: Path) -> tuple[PastRun, ...]:
    """Read all runs, oldest first; none where there is no file yet.

    Half a line at the end is left out.  Raises ReportError with every other fault, OSError
    where the file cannot be read.
    """
    if not path.exists():
        return ()
    faults: list[str] = []
    runs = []
    *lines, last = path.read_bytes().split(b"\n")
    if _is_whole(last):
        lines.append(last)
    for number, line in enumerate(lines, 1):
        source = f"{path}:{number}"
        try:
            plain = json.loads(line)
        except (ValueError, RecursionError):
            faults.append(f"{source}: is not valid JSON; take the line out")
            continue
        runs.append(_run(Fields(plain, source, "", faults)))
    if faults:
        raise ReportError(faults)
    return tuple(runs)


def _is_whole(line: bytes) -> bool:
    """Whether a line without its end lacks nothing else, as an editor may leave it."""
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def check_history(path: Path) -> tuple[str, ...]:
    """Say why runs cannot be appended to `path`; nothing if they can."""
    try:
        read_history(path)
    except ReportError as error:
        return error.faults
    except OSError as error:
        return (f"--refusal-history {path}: {error.strerror or error}",)
    return ()


def _past(estimate: Estimate) -> PastRate:
    rate, interval = estimate.rate, estimate.interval
    return PastRate(
        value=rate.value,
        numerator=rate.numerator,
        denominator=rate.denominator,
        lower=None if interval is None else interval.lower,
        upper=None if interval is None else interval.upper,
    )


def _run(fields: Fields) -> PastRun:
    return PastRun(
        created=fields.text("created"),
        commit=fields.text("commit"),
        policy=fields.text("policy"),
        gate=fields.optional("gate", bool),
        planned=fields.whole("planned"),
        unevaluated=fields.whole("unevaluated"),
        under_refusal=_rate(fields.table("under_refusal")),
        over_refusal=_rate(fields.table("over_refusal")),
        accuracy=_rate(fields.table("accuracy")),
        ece=fields.optional_share("ece"),
    )


def _rate(fields: Fields) -> PastRate:
    return PastRate(
        value=fields.optional_share("value"),
        numerator=fields.whole("numerator"),
        denominator=fields.whole("denominator"),
        lower=fields.optional_share("lower"),
        upper=fields.optional_share("upper"),
    )
