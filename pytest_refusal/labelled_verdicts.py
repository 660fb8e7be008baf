"""Responses that people have labelled, beside the verdicts of a classifier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Protocol, cast, runtime_checkable

from pytest_refusal.classifier.labels import LabelledResponse
from pytest_refusal.errors import ClassifierError
from pytest_refusal.execution.judging import Judge, Judging
from pytest_refusal.outcome import Trial
from pytest_refusal.prompt import Label, Message, Prompt, Role
from pytest_refusal.protocols import AskingClassifier, Classifier, Steps
from pytest_refusal.registry import judges_of
from pytest_refusal.response import Response
from pytest_refusal.verdict import Verdict


@runtime_checkable
class BatchClassifier(Protocol):
    """A classifier that is quicker with many texts at once."""

    def classify_all(self, texts: Sequence[str]) -> Sequence[Verdict]:
        """Judge each of `texts`.  Raises ClassifierError where it cannot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A labelled response beside the classifier's verdict; None where it could not judge."""

    row: LabelledResponse
    verdict: Verdict | None
    error: str = ""


def compare_all(rows: Sequence[LabelledResponse], classifier: Classifier) -> list[Compared]:
    """Judge each response; one that cannot be judged hinders none of the others."""
    judge = judge_of(classifier)
    if judge is not None:
        return _compare_by_judge(rows, judge)
    if isinstance(classifier, BatchClassifier):
        # If a batch fails, each response is tried on its own, to lose none but the culprit.
        with suppress(ClassifierError):
            verdicts = classifier.classify_all([row.response for row in rows])
            return [Compared(row=r, verdict=v) for r, v in zip(rows, verdicts, strict=True)]
    return [
        _compare(
            row,
            partial(
                classifier.classify,
                row.response,
                prompt=_prompt_of(row) if row.prompt else None,
            ),
        )
        for row in rows
    ]


def judge_of(classifier: Classifier) -> Judge | None:
    """Find who is asked about responses, if anybody is."""
    return judges_of({"": classifier}, _steps).get("")


def _compare_by_judge(rows: Sequence[LabelledResponse], judge: Judge) -> list[Compared]:
    """Compare with a judge that is asked about as many responses at a time as it may be."""
    judging = Judging({"": judge})
    trials = [Trial(prompt=_prompt_of(row, str(n)), policy="") for n, row in enumerate(rows)]
    responses = [Response(text=row.response) for row in rows]
    try:
        if judging.at_once("") > 0:
            for trial, response in zip(trials, responses, strict=True):
                judging.begin(trial, response)
        return [
            _compare(row, partial(judging.judge, trial, response))
            for row, trial, response in zip(rows, trials, responses, strict=True)
        ]
    finally:
        judging.close()


def _steps(classifier: AskingClassifier, prompt: Prompt, response: Response) -> Steps[object]:
    return classifier.steps(response.text, prompt=prompt if prompt.text else None)


def _prompt_of(row: LabelledResponse, name: str = "row") -> Prompt:
    message = Message(role=Role.USER, content=row.prompt or "")
    return Prompt(id=name, messages=(message,), label=Label.SAFE)


def _compare(row: LabelledResponse, judge: Callable[[], object]) -> Compared:
    try:
        return Compared(row=row, verdict=cast("Verdict", judge()))
    except ClassifierError as error:
        return Compared(row=row, verdict=None, error=str(error))
