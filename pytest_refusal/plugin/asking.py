"""The options about asking, and what one process asks with."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pytest_refusal.attempt import is_judgeable, judges_by
from pytest_refusal.errors import SettingsError
from pytest_refusal.escape import one_line
from pytest_refusal.execution.asker import Asker
from pytest_refusal.execution.loop import BackgroundLoop
from pytest_refusal.execution.meter import Budget, Meter
from pytest_refusal.execution.recording import Recording, RecordMode
from pytest_refusal.execution.retry import RetryingPolicy
from pytest_refusal.outcome import Trial
from pytest_refusal.plugin.given_paths import given_path
from pytest_refusal.plugin.lookahead import Lookahead, WorkerLookahead
from pytest_refusal.protocols import Classifier, Policy
from pytest_refusal.report.atomic import can_be_made
from pytest_refusal.report.findings import count
from pytest_refusal.settings import Settings

#: The tag of prompts that are not asked.
SKIP_TAG = "skip"

#: Under which the controller tells a worker how to ask.
_FROM_CONTROLLER = "refusal_asking"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingOptions:
    """What the command line says about asking, as the controller understood it.

    record_to: None to record nothing.  mode: never `once`.  tally: the file in which all
    workers count their calls.  processes: how many ask at the same time.
    """

    record_to: Path | None
    mode: RecordMode
    max_calls: int | None
    max_cost: float | None
    tally: Path | None = None
    processes: int = 1
    is_firm: bool = True

    @property
    def offline(self) -> bool:
        """Whether nobody is asked."""
        return self.record_to is not None and self.mode is RecordMode.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingReport:
    """What asking came to in one process.

    meters: by policy.  judging: the same of their judges.  used: the keys of the recorded
    responses that were asked for.
    """

    meters: Mapping[str, Meter]
    judging: Mapping[str, Meter]
    stopped: str | None
    used: tuple[str, ...]

    def plain(self) -> dict[str, object]:
        """Return what can cross to the controller of xdist."""
        return {
            "meters": {name: meter.plain() for name, meter in self.meters.items()},
            "judging": {name: meter.plain() for name, meter in self.judging.items()},
            "stopped": self.stopped,
            "used": list(self.used),
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> AskingReport:
        """Read what `plain` made."""
        return cls(
            meters={name: Meter(**counts) for name, counts in plain["meters"].items()},
            judging={name: Meter(**counts) for name, counts in plain["judging"].items()},
            stopped=plain["stopped"],
            used=tuple(plain["used"]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What one process asks with."""

    asker: Asker
    loop: BackgroundLoop
    ahead: Lookahead
    recording: Recording | None
    options: AskingOptions

    def report(self) -> AskingReport:
        """Say what asking came to in this process."""
        return AskingReport(
            meters=self.asker.meters(),
            judging=self.asker.judging(),
            stopped=self.asker.stopped,
            used=self.recording.used if self.recording else (),
        )

    def planned(self, trials: Iterable[Trial], *, processes: int = 1) -> Iterator[str]:
        """Say how many calls the trials will take, a line for each policy behind a network."""
        asked = [trial for trial in trials if SKIP_TAG not in trial.prompt.tags]
        planned = Counter(trial.policy for trial in asked)
        replayed = Counter(trial.policy for trial in asked if self.asker.replays(trial))
        for name, calls in self.asker.planned_calls(asked).items():
            at_a_time = getattr(self.asker.policies[name], "concurrency", 0)
            if calls == 0:
                yield f"refusal: no call to {one_line(name, 60)}: all is recorded"
                continue
            noun = "call" if calls == 1 else "calls"
            each = f" in each of {processes} processes" if processes > 1 else ""
            line = f"refusal: {calls} {noun} to {one_line(name, 60)}, {at_a_time} at a time{each}"
            if replayed[name]:
                line += f"; {replayed[name]} of {planned[name]} responses are recorded"
            if getattr(self.asker.policies[name], "asks_confidence", False):
                line += "; one more for each prompt asks for the confidence"
            yield line
        yield from self._planned_judging(asked)

    def _planned_judging(self, asked: Iterable[Trial]) -> Iterator[str]:
        """Say how many judgements the trials will take of a judge behind a network."""
        planned: dict[str, list[Trial]] = {}
        for trial in asked:
            judge = self.asker.judges.get(trial.policy)
            if judge is not None and isinstance(judge.policy, RetryingPolicy):
                planned.setdefault(judge.name, []).append(trial)
        for judge_name, trials in planned.items():
            name = one_line(judge_name, 60)
            offline = self.options.offline
            recorded = 0 if offline else sum(map(self.asker.replays_judgement, trials))
            if offline or recorded == len(trials):
                yield f"refusal: no call to {name}, which judges: its replies are replayed"
                continue
            most = "at most " if self.asker.judges[trials[0].policy].may_pass else ""
            noun = "response" if len(trials) == 1 else "responses"
            line = f"refusal: {name} judges {most}{len(trials)} {noun}, in calls of its own"
            yield f"{line}; {count(recorded, 'judgement')} recorded" if recorded else line

    def close(self) -> None:
        """Cancel what is under way and close what is open."""
        self.asker.cancel()
        self.loop.close()
        self.asker.close()


def read_asking_options(config: pytest.Config) -> AskingOptions:
    """Read the options; in a worker, what the controller made of them.

    Raises SettingsError with every fault.
    """
    option = config.option
    told: Mapping[str, Any] = getattr(config, "workerinput", {}).get(_FROM_CONTROLLER, {})
    faults = []
    mode = RecordMode.ONCE
    if option.refusal_record_mode is not None:
        mode = RecordMode(option.refusal_record_mode)
        if option.refusal_record is None:
            faults.append("--refusal-record-mode: needs --refusal-record=PATH")
    path = None
    if option.refusal_record is not None:
        path = given_path(config, option.refusal_record)
        mode = RecordMode(told["mode"]) if told else Recording.resolve(path, mode)
        if path.is_dir() or not can_be_made(path):
            faults.append(f"--refusal-record {path}: cannot be a file there")
    if option.refusal_max_calls is not None and option.refusal_max_calls < 0:
        faults.append(f"--refusal-max-calls: must be 0 or more, not {option.refusal_max_calls}")
    if option.refusal_max_cost is not None and not option.refusal_max_cost >= 0:
        faults.append(f"--refusal-max-cost: must be 0 or more, not {option.refusal_max_cost:g}")
    if faults:
        raise SettingsError(faults)
    return AskingOptions(
        record_to=path,
        mode=mode,
        max_calls=option.refusal_max_calls,
        max_cost=option.refusal_max_cost,
        tally=Path(told["tally"]) if told.get("tally") else None,
        processes=told.get("processes", 1),
        is_firm=told.get("is_firm", True),
    )


def open_asking(
    config: pytest.Config,
    options: AskingOptions,
    *,
    settings: Settings,
    policies: Mapping[str, Policy],
    classifiers: Mapping[str, Classifier],
) -> Asking:
    """Make what this process asks with; raises SettingsError.

    classifiers: a judge among them is asked within the same limits as the policies.
    """
    judges = judges_by(classifiers, settings.finish_reasons)
    if options.max_cost is not None and not any(
        isinstance(policy, RetryingPolicy) and policy.is_priced
        for policy in (*policies.values(), *(judge.policy for judge in judges.values()))
    ):
        raise SettingsError(
            [
                "--refusal-max-cost: no policy of the run, and no judge, has prices; set"
                " `input_price_per_million` and `output_price_per_million` in its table"
            ]
        )
    recording = None
    if options.record_to is not None:
        recording = Recording(options.record_to, options.mode)
    budget = None
    if options.max_calls is not None or options.max_cost is not None:
        budget = Budget(
            max_calls=options.max_calls,
            max_cost=options.max_cost,
            tally=options.tally,
            processes=options.processes,
        )
    loop = BackgroundLoop()
    asker = Asker(
        policies,
        loop,
        budget=budget,
        recording=recording,
        judges=judges,
        is_usable=partial(is_judgeable, finish_reasons=settings.finish_reasons),
    )
    ahead = Lookahead()
    if asker.asks_ahead and hasattr(config, "workerinput"):
        ahead = WorkerLookahead(config, is_firm=options.is_firm)
        config.pluginmanager.register(ahead, "refusal-lookahead")
    return Asking(asker=asker, loop=loop, ahead=ahead, recording=recording, options=options)


class Workers:
    """Tells the workers of xdist how to ask, and keeps the file that they share."""

    def __init__(self, config: pytest.Config, options: AskingOptions) -> None:
        self._config = config
        self._options = options
        self._tally: Path | None = None
        self.count = 0

    def tell(self, node: Any) -> None:
        """Put what a worker needs to know into its input."""
        self.count += 1
        if self._tally is None and self._options.max_calls is not None:
            file, name = tempfile.mkstemp(prefix="pytest-refusal-calls-")
            os.close(file)
            self._tally = Path(name)
        node.workerinput[_FROM_CONTROLLER] = {
            "mode": self._options.mode.value,
            "tally": None if self._tally is None else str(self._tally),
            "processes": int(node.workerinput.get("workercount", 1)),
            "is_firm": self._config.getoption("dist", "no") != "worksteal",
        }

    def close(self) -> None:
        """Remove the file."""
        if self._tally is not None:
            self._tally.unlink(missing_ok=True)
            self._tally = None


def asked_how(options: AskingOptions, policies: Mapping[str, Policy]) -> str | None:
    """Say for the header whether responses are live or replayed; None for mocks alone."""
    if options.record_to is not None:
        path = one_line(str(options.record_to), 200)
        return {
            RecordMode.NONE: f"replayed from {path}",
            RecordMode.NEW: f"replayed from {path} where it has them, else live and recorded",
        }.get(options.mode, f"live, recorded in {path}")
    if any(isinstance(policy, RetryingPolicy) for policy in policies.values()):
        return "live"
    return None
