"""Prompts as test cases: refusal rates and calibration of an assistant, gated by pytest.

The public names resolve on first use, so that an idle pytest run pays for none of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_refusal.classifier.phrases import classify_refusal as classify_refusal
    from pytest_refusal.confidence import parse_confidence as parse_confidence
    from pytest_refusal.corpus.loading import load_corpus as load_corpus
    from pytest_refusal.errors import ClassifierError as ClassifierError
    from pytest_refusal.errors import CorpusError as CorpusError
    from pytest_refusal.errors import PolicyError as PolicyError
    from pytest_refusal.errors import RefusalError as RefusalError
    from pytest_refusal.errors import SettingsError as SettingsError
    from pytest_refusal.evaluation import evaluate as evaluate
    from pytest_refusal.metrics.calibration import (
        expected_calibration_error as expected_calibration_error,
    )
    from pytest_refusal.prompt import Label as Label
    from pytest_refusal.prompt import Message as Message
    from pytest_refusal.prompt import Prompt as Prompt
    from pytest_refusal.prompt import Role as Role
    from pytest_refusal.report.report import Report as Report
    from pytest_refusal.response import Response as Response
    from pytest_refusal.verdict import Evidence as Evidence
    from pytest_refusal.verdict import Verdict as Verdict
    from pytest_refusal.verdict import VerdictKind as VerdictKind

__version__ = "0.1.0"

_HOME = {
    "classify_refusal": "classifier.phrases",
    "parse_confidence": "confidence",
    "load_corpus": "corpus.loading",
    "ClassifierError": "errors",
    "CorpusError": "errors",
    "PolicyError": "errors",
    "RefusalError": "errors",
    "SettingsError": "errors",
    "evaluate": "evaluation",
    "expected_calibration_error": "metrics.calibration",
    "Label": "prompt",
    "Message": "prompt",
    "Prompt": "prompt",
    "Role": "prompt",
    "Report": "report.report",
    "Response": "response",
    "Evidence": "verdict",
    "Verdict": "verdict",
    "VerdictKind": "verdict",
}

__all__ = ["__version__", *_HOME]  # noqa: PLE0604  # the keys are strings


def __getattr__(name: str) -> object:
    if name not in _HOME:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
