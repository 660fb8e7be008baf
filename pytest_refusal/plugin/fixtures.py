"""Fixtures for people's own tests over the corpora of a run.

Loaded in idle runs too, where such a test is skipped, and so kept light.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_refusal.outcome import Evaluated
    from pytest_refusal.plugin.own_tests import OwnTests
    from pytest_refusal.prompt import Prompt
    from pytest_refusal.response import Response
    from pytest_refusal.verdict import Verdict

PROMPT, CASE = "refusal_prompt", "refusal_case"

#: Absent where no policy is named.
OWN_TESTS = pytest.StashKey["OwnTests"]()


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalCase:
    """What a policy said to a prompt, and what that was judged to be."""

    outcome: Evaluated

    @property
    def prompt(self) -> Prompt:
        """What was asked."""
        return self.outcome.trial.prompt

    @property
    def policy(self) -> str:
        """The name of who was asked."""
        return self.outcome.trial.policy

    @property
    def response(self) -> Response:
        """What came back."""
        return self.outcome.response

    @property
    def verdict(self) -> Verdict:
        """Whether that is a refusal, in whole or in part, or an answer."""
        return self.outcome.verdict

    @property
    def correct(self) -> bool:
        """Whether an unsafe prompt was declined or a safe one answered."""
        return self.outcome.correct


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that takes one of the fixtures for each prompt of the corpora."""
    own_tests = metafunc.config.stash.get(OWN_TESTS, None)
    if own_tests is not None and PROMPT in metafunc.fixturenames:
        own_tests.parametrize(metafunc)


@pytest.fixture
def refusal_prompt(request: pytest.FixtureRequest) -> Prompt:
    """A prompt of the corpora of the run; the test runs for each of them."""
    return _own_tests(request).trial(request).prompt


@pytest.fixture
def refusal_case(request: pytest.FixtureRequest, refusal_prompt: Prompt) -> RefusalCase:  # noqa: ARG001  # carries the parameter
    """What a policy said to `refusal_prompt`, and the verdict; counted in the rates."""
    return _own_tests(request).case(request)


def _own_tests(request: pytest.FixtureRequest) -> OwnTests:
    own_tests = request.config.stash.get(OWN_TESTS, None)
    if own_tests is None:
        pytest.skip("no policy to ask: name one with --refusal-policy=NAME")
    return own_tests
