"""What can go wrong on our side, as one tree.

RefusalError
+-- SettingsError     a table, an option or an environment that cannot be used
+-- CorpusError       prompts that cannot be used; carries every fault found
+-- ReportError       a report file that cannot be read back; carries every fault found
+-- PolicyError       a policy that cannot be built or gave what is no response
+-- ClassifierError   a response that could not be judged
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar


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

    reason: ClassVar[str] = "error"


class ClassifierError(RefusalError):
    """A response that could not be judged; never a verdict."""
