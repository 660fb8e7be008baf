"""How likely a yes was, by the probabilities of the first token of a reply."""

from __future__ import annotations

import math
from collections.abc import Iterable

#: How many alternatives of a token to ask for: as many as any API gives.
ALTERNATIVES = 20

_YES = frozenset({"yes", "y", "true"})
_NO = frozenset({"no", "n", "false"})


def share_of_yes(alternatives: Iterable[tuple[object, object]]) -> float | None:
    """Return P(yes) / (P(yes) + P(no)); None if neither is among the alternatives.

    alternatives: tokens and the logarithms of their probabilities; what is neither is left out.
    Source: "P(True)" of Kadavath et al. (2022), arXiv 2207.05221.
    """
    yes = no = 0.0
    for token, logprob in alternatives:
        if not isinstance(token, str) or type(logprob) not in (int, float):
            continue
        probability = math.exp(min(float(logprob), 0.0))  # type: ignore[arg-type]  # a number
        word = token.strip(" \t\n.,!\"'*▁Ġ").lower()
        yes += probability if word in _YES else 0.0
        no += probability if word in _NO else 0.0
    return yes / (yes + no) if yes + no > 0 else None
