"""When to stop asking a policy altogether."""

from __future__ import annotations

from pytest_refusal.errors import PolicyError, UnusablePolicyError
from pytest_refusal.execution.conversation import AskError


class StoppedError(PolicyError):
    """The policy is asked no more."""

    reason = "stopped"


class Breaker:
    """Trips when a policy cannot be used, or when the first prompts all fail alike.

    limit: how many first failures of one kind are enough.  Never trips after a success but
    for as many failures of one kind in a row.  counted: what it hears of.
    """

    def __init__(self, policy: str, *, limit: int = 5, counted: str = "requests") -> None:
        self._policy = policy
        self._limit = limit
        self._counted = counted
        self._kind: tuple[str, type | None] = ("", None)
        self._alike = 0
        self._any_success = False
        self._message: str | None = None

    @property
    def message(self) -> str | None:
        """Why the policy is asked no more; None while it is."""
        return self._message

    def check(self) -> None:
        """Raise StoppedError if the policy is to be asked no more."""
        if self._message is not None:
            raise StoppedError(self._message)

    def succeeded(self) -> None:
        """Note a response."""
        self._any_success = True
        self._alike = 0

    def failed(self, error: PolicyError | AskError) -> None:
        """Note that a request or a prompt was given up."""
        cause = error.__cause__
        kind = (error.reason, type(cause) if isinstance(error, AskError) and cause else None)
        self._alike = self._alike + 1 if kind == self._kind else 1
        self._kind = kind
        if self._message is not None:
            return
        if isinstance(error, UnusablePolicyError) and not self._any_success:
            self._message = f"policy {self._policy!r} cannot be used: {error}"
        elif self._alike >= self._limit and self._stops_for(error):
            which = "in a row" if self._any_success else "at the start"
            self._message = (
                f"policy {self._policy!r} stopped after {self._alike} {self._counted} {which} that"
                f" failed alike: {error}"
            )

    def _stops_for(self, error: PolicyError | AskError) -> bool:
        return not self._any_success or isinstance(error, UnusablePolicyError)
