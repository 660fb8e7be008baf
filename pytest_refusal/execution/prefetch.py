"""Asking ahead: while one response is judged, the next ones are under way."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass

from pytest_refusal.execution.asking import AskError, ask, ask_on_loop, close_with
from pytest_refusal.execution.loop import BackgroundLoop
from pytest_refusal.prompt import Prompt
from pytest_refusal.protocols import Policy
from pytest_refusal.response import Response

# How far ahead of the running item, in multiples of what may be under way.  Requests that
# end early make room for one more; a stop pays for no more than these.
WINDOW = 2

# The share of what may be asked ahead at which more is asked.
_LOOK_BELOW = 0.75

_Asked = Future[tuple[Response | None, BaseException | None]]
_Key = tuple[str, str, str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One prompt to be asked of one policy, once."""

    policy: Policy
    prompt: Prompt
    sample: int = 1

    @property
    def key(self) -> _Key:
        """What tells it from every other question of a run."""
        return (self.policy.name, self.prompt.corpus, self.prompt.id, self.sample)


class Prefetch:
    """Asks policies that have a `concurrency`, ahead of the item that waits.

    Only what is named as coming next is asked; never more than twice `concurrency` prompts
    of a policy are asked and not yet fetched.
    """

    def __init__(self, loop: BackgroundLoop) -> None:
        self._loop = loop
        self._asked: dict[_Key, _Asked] = {}
        self._names: set[str] = set()
        self._capacity = 0

    def fetch(self, question: Question, ahead: Iterable[Question] = ()) -> Response:
        """Return the response, and see that those that come next are under way.

        ahead: what is sure to be fetched after this, in order.  A question that is fetched a
        second time is asked again.  Raises AskError.
        """
        asked = None
        if concurrency_of(question.policy) > 0:
            asked = self._asked.pop(question.key, None) or self._start(question)
        self._look(ahead)
        if asked is None:
            policy = question.policy
            return ask(policy, question.prompt, sample=question.sample, loop=self._loop)
        try:
            response, error = self._loop.wait_for(asked)
        except CancelledError:
            raise AskError("cancelled before it ended", reason="cancelled") from None
        except BaseException:
            asked.cancel()
            raise
        if error is not None:
            try:
                raise error
            finally:
                del error
        if response is None:
            raise AskError("no response", reason="error")
        return response

    def cancel(self) -> None:
        """Cancel what is under way and was not fetched."""
        for asked in self._asked.values():
            asked.cancel()
        self._asked.clear()

    def _look(self, ahead: Iterable[Question]) -> None:
        # A look goes over all that is asked already, so it is worth its time for several.
        if len(self._asked) > self._capacity * _LOOK_BELOW:
            return
        under_way: dict[str, int] = {}
        for name, *_ in self._asked:
            under_way[name] = under_way.get(name, 0) + 1
        most = 1  # at least one look ahead, to learn how far to look
        for number, question in enumerate(ahead):
            concurrency = concurrency_of(question.policy)
            most = max(most, WINDOW * concurrency * (len(self._names) or 1))
            if number >= most:
                break
            name = question.policy.name
            if concurrency < 1 or question.key in self._asked:
                continue
            # One place is that of the question being fetched.
            if under_way.get(name, 0) < WINDOW * concurrency - 1:
                self._asked[question.key] = self._start(question)
                under_way[name] = under_way.get(name, 0) + 1

    def _start(self, question: Question) -> _Asked:
        if question.policy.name not in self._names:
            self._names.add(question.policy.name)
            self._capacity += WINDOW * concurrency_of(question.policy) - 1
        close_with(question.policy, self._loop)
        return self._loop.submit(
            ask_on_loop(question.policy, question.prompt, sample=question.sample)
        )


def concurrency_of(policy: Policy) -> int:
    """How many prompts a policy may be asked at a time, ahead of the one that waits; 0 for none."""
    found: int = getattr(policy, "concurrency", 0)
    return found
