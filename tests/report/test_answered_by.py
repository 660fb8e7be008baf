from __future__ import annotations

import pytest

from pytest_refusal.report.answered_by import is_same_model


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("gpt-4o", "gpt-4o-2024-08-06"),
        ("gpt-4o", "openai/gpt-4o"),
        ("claude-sonnet-4-5", "claude-sonnet-4-5-20250929"),
        ("claude-3-5-sonnet-latest", "claude-3-5-sonnet-20241022"),
        ("mistral-small-latest", "mistral-small-2503"),
        ("gemini-2.5-flash", "models/gemini-2.5-flash-preview-05-20"),
        ("llama3.2", "llama3.2:latest"),
        ("meta-llama/Llama-3-8B", "llama-3-8b"),
        ("vendor/model:free", "vendor/model"),
        ("m", "m"),
    ],
)
def test_a_version_of_a_model_is_the_same_model(asked: str, answered: str) -> None:
    assert is_same_model(asked, answered)


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("gpt-4o", "gpt-4o-mini"),
        ("gpt-4o-mini", "gpt-4o"),
        ("llama3", "llama3.2"),
        ("llama3.2:1b", "llama3.2:3b"),
        ("claude-opus-4", "claude-sonnet-4"),
        ("gpt-4", "gpt-4-32k"),
        ("model", ""),
    ],
)
def test_another_model_is_another_model(asked: str, answered: str) -> None:
    assert not is_same_model(asked, answered)


def test_it_takes_linear_time() -> None:
    assert not is_same_model("m", "m" + "-1" * 100_000 + "x")
