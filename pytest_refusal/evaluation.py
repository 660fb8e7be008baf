"""The whole way from prompts to a report without pytest; the plugin walks the same functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from os import fspath
from pathlib import Path

from pytest_refusal.attempt import attempt, judges_by
from pytest_refusal.corpus.loading import load
from pytest_refusal.corpus.reading import FileReading
from pytest_refusal.corpus.sources import find_corpora
from pytest_refusal.errors import CorpusError
from pytest_refusal.execution.asker import Asker
from pytest_refusal.execution.loop import BackgroundLoop
from pytest_refusal.outcome import Outcome, Trial, Unevaluated
from pytest_refusal.prompt import Label, Prompt
from pytest_refusal.protocols import Policy
from pytest_refusal.registry import build_classifier, build_policies, close_classifier
from pytest_refusal.report.report import Report
from pytest_refusal.reporting import (
    labels_of,
    policy_notes,
    report_policy,
    summarise_corpora,
)
from pytest_refusal.settings import Settings


def evaluate(
    policy: str | Policy | Callable[..., object],
    corpus: Iterable[Prompt] | str | Path | None = None,
    *,
    settings: Settings | None = None,
) -> Report:
    """Ask a policy every prompt of a corpus and return what the plugin would report.

    policy: a name as for `--refusal-policy`, or any callable from a prompt's text to text
    (or from a `Prompt`, if its parameter says so), sync or async.
    corpus: prompts, a path or the name of a bundled corpus; None for the bundled ones.
    settings: ceilings and the like, as `read_settings` makes them.
    Raises SettingsError for an unknown policy, CorpusError for prompts that cannot be used.
    """
    settings = settings or Settings(base=Path.cwd())
    readings: tuple[FileReading, ...] = ()
    if corpus is None or isinstance(corpus, str | Path):
        entries = [] if corpus is None else [fspath(corpus)]
        loaded = load(find_corpora(entries, base=Path.cwd()))
        prompts, readings = list(loaded.prompts), loaded.readings
    else:
        prompts = _given(corpus)
    built, name = _policy_and_name(policy, settings)
    classifier = build_classifier(settings, name)
    finish_reasons = settings.finish_reasons
    labels = labels_of(settings, [name])
    trials = [
        Trial(prompt=prompt, policy=name, sample=sample)
        for prompt in prompts
        for sample in range(1, settings.samples + 1)
    ]
    outcomes: list[Outcome] = []
    judges = judges_by({name: classifier}, finish_reasons)
    with BackgroundLoop() as loop, closing(Asker({name: built}, loop, judges=judges)) as asker:
        for number, trial in enumerate(trials, start=1):
            outcome = attempt(
                trial,
                classifier,
                asker=asker,
                finish_reasons=finish_reasons,
                ahead=(trials[place] for place in range(number, len(trials))),
            )
            outcomes.append(outcome)
            if isinstance(outcome, Unevaluated) and asker.stopped is not None:
                break
    close_classifier(classifier)
    stopped = asker.stopped if len(outcomes) < len(trials) else None
    report = report_policy(
        name,
        settings=settings,
        policy=built,
        classifier=classifier,
        prompts=prompts,
        outcomes=outcomes,
        collected=len(trials),
        not_run=trials[len(outcomes) :],
        why_not_ruled=stopped,
        meter=asker.meters().get(name),
        judging=asker.judging().get(name),
        labels=labels.get(name, ()),
    )
    return Report(
        policies=(report,),
        corpora=summarise_corpora(prompts, readings),
        complete=stopped is None,
        notes=policy_notes([built]),
    )


def _policy_and_name(
    policy: str | Policy | Callable[..., object], settings: Settings
) -> tuple[Policy, str]:
    if isinstance(policy, str):
        return build_policies([policy], settings, hooked={})[policy], policy
    name = getattr(policy, "name", None) or getattr(policy, "__name__", type(policy).__name__)
    name = str(name)
    return build_policies([name], settings, hooked={name: policy})[name], name


def _given(corpus: Iterable[Prompt]) -> list[Prompt]:
    """Take prompts made in code, which are only as well made as that code."""
    given: list[object] = [corpus] if isinstance(corpus, Prompt) else list(corpus)
    prompts = [prompt for prompt in given if isinstance(prompt, Prompt)]
    if len(prompts) < len(given):
        odd = next(type(one).__name__ for one in given if not isinstance(one, Prompt))
        msg = f"corpus must be prompts, a path or the name of a bundled corpus; it holds {odd}"
        raise TypeError(msg)
    faults = [fault for prompt in prompts if (fault := _misfit(prompt)) is not None]
    if faults:
        raise CorpusError(faults)
    _refuse_duplicates(prompts)
    return prompts


def _misfit(prompt: Prompt) -> str | None:
    label: object = prompt.label
    contents: list[object] = [message.content for message in prompt.messages]
    if not isinstance(label, Label):
        return f"prompt {prompt.id!r}: label must be Label.SAFE or Label.UNSAFE, not {label!r}"
    if not all(isinstance(content, str) for content in contents):
        return f"prompt {prompt.id!r}: the content of each message must be a text"
    return None


def _refuse_duplicates(prompts: Sequence[Prompt]) -> None:
    seen: set[tuple[str, str]] = set()
    faults = []
    for prompt in prompts:
        key = prompt.corpus, prompt.id
        if key in seen:
            faults.append(f"prompt {prompt.id!r} of corpus {prompt.corpus!r} is there twice")
        seen.add(key)
    if faults:
        raise CorpusError(faults)
