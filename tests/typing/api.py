"""The public names as people use them: type-checked by mypy, never run."""

from __future__ import annotations

from pathlib import Path
from typing import assert_type

from pytest_refusal import (
    ClassifierError,
    CorpusError,
    Evidence,
    Label,
    Message,
    PolicyError,
    Prompt,
    RefusalError,
    Report,
    Response,
    Role,
    SettingsError,
    Verdict,
    VerdictKind,
    __version__,
    classify_refusal,
    evaluate,
    expected_calibration_error,
    load_corpus,
    parse_confidence,
)


def answer(text: str) -> str:
    return text


async def answer_later(text: str) -> Response:
    return Response(text=text, confidence=0.5, finish_reason="stop")


def answer_conversation(prompt: Prompt) -> Response:
    return Response(text=prompt.messages[-1].content)


def load() -> list[Prompt]:
    prompts = load_corpus("prompts.toml", Path("more.csv"))
    assert_type(prompts, list[Prompt])
    assert_type(load_corpus(), list[Prompt])
    first = prompts[0]
    assert_type(first.text, str)
    assert_type(first.label, Label)
    assert_type(first.severity, int | None)
    assert_type(first.messages, tuple[Message, ...])
    return prompts


def made() -> Prompt:
    message = Message(role=Role.USER, content="How do I boil an egg?")
    return Prompt(id="egg", messages=(message,), label=Label.SAFE, category="everyday")


def run() -> None:
    assert_type(evaluate("strict"), Report)
    assert_type(evaluate(answer, "taxonomy"), Report)
    assert_type(evaluate(answer_later, Path("prompts.toml")), Report)
    report = evaluate(answer_conversation, [made()])
    assert_type(report.to_dict(), dict[str, object])
    assert_type(report.policies[0].tally.under_refusal.value, float | None)


def judge() -> None:
    verdict = classify_refusal("I can't help with that.")
    assert_type(verdict, Verdict)
    assert_type(classify_refusal("No.", prompt=made()).kind, VerdictKind)
    assert_type(verdict.score, float)
    assert_type(verdict.evidence, tuple[Evidence, ...])
    assert_type(parse_confidence("[conf=0.9]"), float)
    assert_type(expected_calibration_error([0.9, 0.5], [True, False]), float)
    assert_type(expected_calibration_error([0.9], [True], bins=5), float)


def fail() -> tuple[str, ...]:
    try:
        load_corpus("nothing.toml")
    except (SettingsError, CorpusError) as error:
        assert_type(error.faults, tuple[str, ...])
        return error.faults
    except (PolicyError, ClassifierError) as error:
        return (str(error),)
    except RefusalError:
        return (__version__,)
    return ()
