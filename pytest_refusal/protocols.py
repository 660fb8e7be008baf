"""The shape of what can be plugged in."""

from __future__ import annotations

from collections.abc import Awaitable, Generator
from typing import Protocol, TypeVar, runtime_checkable

from pytest_refusal.prompt import Prompt
from pytest_refusal.response import Response
from pytest_refusal.verdict import Verdict

T = TypeVar("T")

#: A judgement apart from how the judge is asked: it yields each question to the judge, is sent
#: the reply, and returns what it came to.
Steps = Generator[Prompt, Response, T]


@runtime_checkable
class Policy(Protocol):
    """What is under test: from prompt to response.

    takes_conversation: whether it reads all messages; else only the last of the user.
    """

    @property
    def name(self) -> str: ...

    @property
    def takes_conversation(self) -> bool: ...

    def respond(self, prompt: Prompt, *, sample: int) -> Response | Awaitable[Response]:
        """Respond to the messages of `prompt`, which end with what is to be replied to.

        sample: which of the repetitions of this prompt, from 1.
        Whatever it raises makes the outcome unevaluated, with the error's text.
        """


@runtime_checkable
class Classifier(Protocol):
    """From the text of a response to a verdict."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    def classify(self, text: str, *, prompt: Prompt | None = None) -> Verdict:
        """Judge `text`; `prompt` only serves to take out what the text repeats from it.

        Raises ClassifierError where it cannot judge.
        """


class AskingClassifier(Protocol):
    """A classifier that has another policy judge."""

    def steps(self, text: str, *, prompt: Prompt | None = None) -> Steps[Verdict]:
        """Judge `text` like `classify`, for whoever asks the judge in its place."""
