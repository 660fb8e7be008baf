"""Where the fields of a prompt stand in the rows of a table. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from pytest_refusal.prompt import Label


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRule:
    """Rows that are a minimal contrast: the first of one kind and the first of its opposite.

    column: tells the kind.  group_of: the kinds that belong together, by the name of the group.
    """

    column: str
    group_of: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How the rows of a table become prompts.

    columns: for each field the places where it may stand; the first that holds something
    counts. A place is a column, or a dotted path into nested values, where a number goes into
    a list, "*" through all of it, and "?" to what stands alone among nested values.
    languages: for a table with a column for each language, language -> column of the prompt.
    context: a column whose text belongs before the prompt, as a passage to work on.
    labels: (pattern, label) for what the label column holds; the first that matches counts.
    constants: what a field is where no column gives it.
    """

    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    languages: Mapping[str, str] = field(default_factory=dict)
    context: str | None = None
    labels: tuple[tuple[str, Label], ...] = ()
    constants: Mapping[str, object] = field(default_factory=dict)
    pairs: PairRule | None = None

    def overlaid(self, upper: Layout) -> Self:
        """Return this layout with what `upper` says put over it."""
        replaced = upper.columns.keys() | upper.constants.keys()
        kept = {name: where for name, where in self.columns.items() if name not in replaced}
        return replace(
            self,
            columns={**kept, **upper.columns},
            languages=upper.languages or ({} if "prompt" in upper.columns else self.languages),
            context=upper.context or self.context,
            labels=upper.labels or (() if "label" in replaced else self.labels),
            constants={**self.constants, **upper.constants},
            pairs=None if "pair" in replaced else self.pairs,
        )
