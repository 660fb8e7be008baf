"""A part of a corpus that is the same on every machine. No I/O."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from fractions import Fraction

from pytest_refusal.prompt import Prompt


def sampled(prompts: Sequence[Prompt], size: int, *, seed: int) -> list[Prompt]:
    """Take `size` prompts, as many of each label and category as is their share, in order.

    Which of them depends on the seed and on what the prompts say, not on their order, so that
    a file that gains some prompts keeps most of its sample.  All of them if there are fewer.
    """
    if size >= len(prompts):
        return list(prompts)
    strata: dict[tuple[str, str], list[int]] = {}
    for index, prompt in enumerate(prompts):
        strata.setdefault((prompt.label.value, prompt.category), []).append(index)
    chosen: list[int] = []
    for stratum, share in zip(strata.values(), _shares(strata, size, len(prompts)), strict=True):
        ranked = sorted(stratum, key=lambda index: (_rank(prompts[index], seed), index))
        chosen.extend(ranked[:share])
    return [prompts[index] for index in sorted(chosen)]


def _shares(strata: dict[tuple[str, str], list[int]], size: int, total: int) -> list[int]:
    # Largest remainder: the shares add up to the size, and none is off by one or more.
    exact = [Fraction(size * len(stratum), total) for stratum in strata.values()]
    shares = [int(share) for share in exact]
    names = list(strata)
    by_remainder = sorted(
        range(len(exact)), key=lambda number: (shares[number] - exact[number], names[number])
    )
    for number in by_remainder[: size - sum(shares)]:
        shares[number] += 1
    return shares


def _rank(prompt: Prompt, seed: int) -> str:
    return hashlib.sha256(
        f"{seed}:{prompt.sha256}:{prompt.id}".encode(errors="replace")
    ).hexdigest()
