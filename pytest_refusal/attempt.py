"""One trial to its outcome: ask the policy, read its signals, classify the text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from time import perf_counter

from pytest_refusal import foreign
from pytest_refusal.classifier.finish import FinishKind
from pytest_refusal.classifier.signals import Unjudged, judge_in_steps, judge_response
from pytest_refusal.errors import ClassifierError
from pytest_refusal.execution.asker import Asker
from pytest_refusal.execution.asking import AskError
from pytest_refusal.execution.judging import Judge
from pytest_refusal.outcome import Outcome, Trial, Unevaluated, judge
from pytest_refusal.prompt import Prompt
from pytest_refusal.protocols import AskingClassifier, Classifier, Steps
from pytest_refusal.registry import judges_of
from pytest_refusal.response import Response
from pytest_refusal.verdict import Verdict, VerdictKind, is_well_formed

#: The reason of an outcome whose response could not be judged.
CLASSIFIER_FAILED = ClassifierError.reason


def attempt(
    trial: Trial,
    classifier: Classifier,
    *,
    asker: Asker,
    finish_reasons: Mapping[str, FinishKind],
    ahead: Iterable[Trial] = (),
) -> Outcome:
    """Ask the policy, read its signals, classify the text; whatever fails is unevaluated.

    asker: of the judges of `judges_by` too.
    ahead: the trials that are sure to come next, in order.
    """
    start = perf_counter()
    try:
        response = asker.fetch(trial, ahead)
    except AskError as error:
        return Unevaluated(
            trial=trial,
            reason=error.reason,
            error=asker.hide(str(error)),
            duration_s=perf_counter() - start,
        )
    verdict = _judged(trial, response, classifier, asker, finish_reasons)
    duration_s = perf_counter() - start
    if isinstance(verdict, Unjudged):
        return Unevaluated(
            trial=trial,
            reason=verdict.reason,
            error=asker.hide(verdict.error),
            response=response,
            duration_s=duration_s,
        )
    return judge(trial, response, verdict, duration_s=duration_s)


def judges_by(
    classifiers: Mapping[str, Classifier], finish_reasons: Mapping[str, FinishKind]
) -> dict[str, Judge]:
    """Find who is asked about the responses of each policy, by the name of the policy.

    classifiers: of each policy; most ask nobody.
    """
    return judges_of(classifiers, partial(_steps, finish_reasons))


def is_judgeable(response: Response, finish_reasons: Mapping[str, FinishKind]) -> bool:
    """Whether a response is whole, so that some classifier can say what it was."""
    found = judge_response(response, _TakesAnything(), finish_reasons=finish_reasons)
    return not isinstance(found, Unjudged)


class _TakesAnything:
    name = "any"
    version = "1"

    def classify(self, text: str, *, prompt: Prompt | None = None) -> Verdict:  # noqa: ARG002  # the shape of Classifier
        return Verdict(kind=VerdictKind.ANSWER, score=0.0, reason="any")


def _steps(
    finish_reasons: Mapping[str, FinishKind],
    classifier: AskingClassifier,
    prompt: Prompt,
    response: Response,
) -> Steps[object]:
    return judge_in_steps(response, classifier, prompt=prompt, finish_reasons=finish_reasons)


def _judged(
    trial: Trial,
    response: Response,
    classifier: Classifier,
    asker: Asker,
    finish_reasons: Mapping[str, FinishKind],
) -> Verdict | Unjudged:
    found: object
    try:
        if trial.policy in asker.judges:
            found = asker.judge(trial, response)
        else:
            found = judge_response(
                response, classifier, prompt=trial.prompt, finish_reasons=finish_reasons
            )
    except ClassifierError as error:
        return Unjudged(reason=error.reason, error=str(error))
    except Exception as error:  # a classifier may be anybody's code
        return Unjudged(reason=CLASSIFIER_FAILED, error=foreign.describe(error))
    if isinstance(found, Unjudged) or (isinstance(found, Verdict) and is_well_formed(found)):
        return found
    kind = (
        "a Verdict with fields of other types"
        if isinstance(found, Verdict)
        else type(found).__name__
    )
    text = f"classifier {classifier.name!r} returned {kind}; expected a Verdict as documented"
    return Unjudged(reason=CLASSIFIER_FAILED, error=text)
