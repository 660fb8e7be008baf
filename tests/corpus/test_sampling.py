"""Samples: as many of each kind as is their share, and always the same ones."""

import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from pytest_refusal.corpus.sampling import sampled
from pytest_refusal.prompt import Label, Message, Prompt, Role


def prompts(counts: dict[tuple[str, str], int]) -> list[Prompt]:
    return [
        Prompt(
            id=f"{label}-{category}-{n}",
            messages=(Message(role=Role.USER, content=f"{label} {category} {n}"),),
            label=Label(label),
            category=category,
        )
        for (label, category), count in counts.items()
        for n in range(count)
    ]


ALL = prompts({("safe", "a"): 60, ("safe", "b"): 25, ("unsafe", "a"): 10, ("unsafe", "c"): 5})


def test_shares_are_kept() -> None:
    sample = sampled(ALL, 20, seed=0)
    assert Counter((p.label.value, p.category) for p in sample) == {
        ("safe", "a"): 12,
        ("safe", "b"): 5,
        ("unsafe", "a"): 2,
        ("unsafe", "c"): 1,
    }


def test_the_order_of_the_file_changes_nothing_but_the_order() -> None:
    shuffled = ALL.copy()
    random.Random(1).shuffle(shuffled)
    sample = sampled(ALL, 30, seed=7)
    assert {p.id for p in sampled(shuffled, 30, seed=7)} == {p.id for p in sample}
    assert [p for p in ALL if p in sample] == sample


def test_the_seed_chooses() -> None:
    assert sampled(ALL, 30, seed=1) != sampled(ALL, 30, seed=2)


def test_a_file_that_gains_a_prompt_keeps_nearly_all_of_its_sample() -> None:
    more = [*ALL, *prompts({("safe", "d"): 1})]
    kept = {p.id for p in sampled(ALL, 30, seed=0)} & {p.id for p in sampled(more, 30, seed=0)}
    assert len(kept) >= 28


def test_too_few_are_all() -> None:
    assert sampled(ALL, 1000, seed=0) == ALL


@given(
    st.dictionaries(
        st.tuples(st.sampled_from(["safe", "unsafe"]), st.sampled_from("abcd")),
        st.integers(0, 30),
    ),
    st.integers(1, 60),
)
def test_the_size_is_exact_and_every_share_off_by_less_than_one(
    counts: dict[tuple[str, str], int], size: int
) -> None:
    everything = prompts(counts)
    sample = sampled(everything, size, seed=0)
    assert len(sample) == min(size, len(everything))
    if len(sample) < len(everything):
        taken = Counter((p.label.value, p.category) for p in sample)
        for kind, count in counts.items():
            assert abs(taken[kind] - size * count / len(everything)) < 1
