"""Asking ahead: while one response is judged, the next ones are under way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
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
    """One prompt to be asked of one policy, once.

    judged_at_once: how many responses may be judged at a time, in the background.
    arrived: told of the response as soon as it is there, on the thread of the loop.
    """

    policy: Policy
    prompt: Prompt
    sample: int = 1
    judged_at_once: int = 0
    arrived: Callable[[Response], None] | None = None

    @property
    def window(self) -> int:
        """How many questions to the policy may be asked and not yet fetched; 0 for none ahead."""
        return window_of(self.policy, judged_at_once=self.judged_at_once)

    @property
    def most_unanswered(self) -> int:
        """How many of them may be without a response."""
        return WINDOW * concurrency_of(self.policy) or self.window

    @property
    def key(self) -> _Key:
        """What tells it from every other question of a run."""
        return (self.policy.name, self.prompt.corpus, self.prompt.id, self.sample)


class Prefetch:
    """Asks policies that have a `concurrency`, ahead of the item that waits.

    Only what is named as coming next is asked; never more than twice `concurrency` prompts
    of a policy are asked and not yet answered, nor more than its window not yet fetched.
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
        if question.window > 0:
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
        under_way: Counter[str] = Counter()
        unanswered: Counter[str] = Counter()
        for (name, *_), asked in self._asked.items():
            under_way[name] += 1
            unanswered[name] += not asked.done()
        most = 1  # at least one look ahead, to learn how far to look
        for number, question in enumerate(ahead):
            window = question.window
            most = max(most, window * (len(self._names) or 1))
            if number >= most:
                break
            name = question.policy.name
            if window < 1 or question.key in self._asked:
                continue
            # One place is that of the question being fetched.
            if under_way[name] < window - 1 and unanswered[name] < question.most_unanswered - 1:
                self._asked[question.key] = self._start(question)
                under_way[name] += 1
                unanswered[name] += 1

    def _start(self, question: Question) -> _Asked:
        if question.policy.name not in self._names:
            self._names.add(question.policy.name)
            self._capacity += question.window - 1
        close_with(question.policy, self._loop)
        return self._loop.submit(_ask(question))


async def _ask(question: Question) -> Response:
    response = await ask_on_loop(question.policy, question.prompt, sample=question.sample)
    if question.arrived is not None:
        question.arrived(response)
    return response


def concurrency_of(policy: Policy) -> int:
    """How many prompts a policy may be asked at a time, ahead of the one that waits; 0 for none."""
    found: int = getattr(policy, "concurrency", 0)
    return found


def window_of(policy: Policy, *, judged_at_once: int) -> int:
    """How many questions to a policy may be asked and not yet fetched; 0 for none ahead."""
    asked_at_once = concurrency_of(policy)
    # What only looks its responses up is asked ahead for the sake of its judge.
    if asked_at_once == 0 and not getattr(policy, "answers_at_once", False):
        return 0
    # Where both take their time, the one works on what comes next while the other is at it.
    fewer, more = sorted((asked_at_once, judged_at_once))
    return WINDOW * more + fewer
