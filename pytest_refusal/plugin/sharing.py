"""One question a trial and process, whoever needs the outcome: an item or people's own tests."""

from __future__ import annotations

from collections.abc import Callable

from pytest_refusal.outcome import Outcome


class SharedOutcomes:
    """Keeps outcomes for the other tests of the same trial.

    A test that needs an outcome a second time is being run again, and asks anew.
    is_needed: whether there is anybody to share with; else nothing is kept.
    """

    def __init__(self) -> None:
        self.is_needed = False
        self._kept: dict[str, tuple[Outcome, set[str]]] = {}

    def outcome(self, key: str, *, by: str, attempt: Callable[[], Outcome]) -> Outcome:
        """Return the outcome of a trial, made by `attempt` if it is not there.

        key: of the trial.  by: the node id of the test that needs it.
        """
        if not self.is_needed:
            return attempt()
        if key in self._kept:
            outcome, seen_by = self._kept[key]
            if by not in seen_by:
                seen_by.add(by)
                return outcome
        outcome = attempt()
        self._kept[key] = outcome, {by}
        return outcome

    def has(self, key: str) -> bool:
        """Whether there is an outcome of this trial."""
        return key in self._kept
