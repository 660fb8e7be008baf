"""What can go wrong on our side, as one tree.

RefusalError
+-- SettingsError     a table, an option or an environment that cannot be used
+-- CorpusError       prompts that cannot be used; carries every fault found
+-- ReportError       a report file that cannot be read back; carries every fault found
+-- PolicyError       a policy that cannot be built or gave what is no response
|   +-- TransientPolicyError  asking again may help
|   +-- UnusablePolicyError   asking will never help, not for any prompt
+-- ClassifierError   a response that could not be judged
"""

from __future__ import annotations

from collections.abc import Sequence


class RefusalError(Exception):
    """Base of all errors raised by this package; the text is meant for people."""


class _FaultsError(RefusalError):
    """An error that lists every fault found, not only the first."""

    def __init__(self, faults: Sequence[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))


class SettingsError(_FaultsError):
    """Settings that cannot be used; `faults` has one line for each."""


class CorpusError(_FaultsError):
    """Prompts that cannot be used; `faults` has one `path:line: what` for each."""


class ReportError(_FaultsError):
    """A report that cannot be read back; `faults` has one `path: where: what` for each."""


class PolicyError(RefusalError):
    """A policy that cannot be built, or that returned what is no response.

    reason: the word for machines that an unevaluated outcome carries.
    """

    reason: str = "error"

    def __init__(self, text: str, *, reason: str | None = None) -> None:
        super().__init__(text)
        if reason is not None:
            self.reason = reason


class TransientPolicyError(PolicyError):
    """No response this time; asking again may help.

    wait_s: how long to wait before, as the server said; None if it did not.
    slow_down: whether the server asked for fewer requests.
    """

    def __init__(
        self,
        text: str,
        *,
        reason: str | None = None,
        wait_s: float | None = None,
        slow_down: bool = False,
    ) -> None:
        super().__init__(text, reason=reason)
        self.wait_s = wait_s
        self.slow_down = slow_down


class UnusablePolicyError(PolicyError):
    """A policy that cannot be used for any prompt: a wrong key, no such model, no money."""


class ClassifierError(RefusalError):
    """A response that could not be judged; never a verdict.

    reason: the word for machines that an unevaluated outcome carries.
    """

    reason: str = "classifier"

    def __init__(self, text: str, *, reason: str | None = None) -> None:
        super().__init__(text)
        if reason is not None:
            self.reason = reason
