"""Node ids to trials: of items, and of people's own tests that ask."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from pytest_refusal.outcome import Trial
from pytest_refusal.plugin.node_ids import slug
from pytest_refusal.plugin.run import CorpusPart


class TrialIds:
    """Tells which trial a test asks, by its node id alone.

    The controller of xdist knows no more of a test.  A trial is known by the node id that it
    has as an item, whether or not it is one in this session.
    """

    def __init__(self, parts: Sequence[CorpusPart], trials: Mapping[str, Trial]) -> None:
        self._parts = parts
        self._trials = trials
        self._by_parameter: Mapping[str, str] | None = None

    @property
    def by_parameter(self) -> Mapping[str, str]:
        """Each trial by the id that it has as a parameter: `rp-01[strict]`."""
        if self._by_parameter is None:
            # For most sessions nobody asks for this, and a corpus may be large.
            self._by_parameter = _parameters(self._parts)
        return self._by_parameter

    def of_item(self, node_id: str) -> str | None:
        """Return the trial of an item; None for any other test."""
        if node_id in self._trials:
            return node_id
        # `--dist loadgroup` puts the group behind the id.
        plain = node_id.rpartition("@")[0]
        return plain if plain in self._trials else None

    def of_own_test(self, node_id: str) -> str | None:
        """Return the trial that one of people's own tests asks; None if it asks none."""
        _, _, parameters = node_id.partition("::")[2].partition("[")
        # Ours come first, and a slug has no brackets but those of the policy.
        name, bracket, _ = parameters.partition("]")
        return self.by_parameter.get(name + bracket) if "[" in name else None

    def of(self, node_id: str) -> str | None:
        """Return the trial of a test of either kind."""
        return self.of_item(node_id) or self.of_own_test(node_id)


def _parameters(parts: Sequence[CorpusPart]) -> dict[str, str]:
    names = [
        (part, node_id, node_id[len(part.node_id) + 2 :])
        for part in parts
        for node_id in part.trials
    ]
    # The same id may be in two corpora.
    counts = Counter(name for _, _, name in names)
    return {
        name if counts[name] == 1 else f"{slug(part.node_id)}-{name}": node_id
        for part, node_id, name in names
    }
