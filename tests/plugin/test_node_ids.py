"""Node ids are plain, short, unique and stable, whatever the text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_refusal.plugin.node_ids import file_node_id, item_name, slug, unique_slugs

PLAIN = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)

# Lone surrogates too, which JSON can bring.
texts = st.text(st.characters(exclude_categories=()), max_size=80)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rp-01", "rp-01"),
        ("A.b_c-9", "A.b_c-9"),
        ("x" * 44, "x" * 44),
        # The first 8 digits of the SHA-256, as `printf %s 'a b' | sha256sum` prints it.
        ("a b", "a-b-c8687a08"),
        ("", "e3b0c442"),
        ("x" * 49, f"{'x' * 35}-55bb9823"),
        ("bot:good", "bot-good-14b898db"),
    ],
)
def test_slugs(text: str, expected: str) -> None:
    assert slug(text) == expected


@given(texts)
def test_a_slug_is_plain_and_short(text: str) -> None:
    assert PLAIN.fullmatch(slug(text))


@given(st.lists(texts))
def test_slugs_are_unique_and_plain_texts_keep_theirs(given_texts: list[str]) -> None:
    slugs = unique_slugs(given_texts)
    assert set(slugs) == set(given_texts)
    assert len(set(slugs.values())) == len(slugs)
    for text, found in slugs.items():
        assert PLAIN.fullmatch(found)
        if PLAIN.fullmatch(text) and len(text) <= 44:
            assert found == text


@given(texts)
def test_an_id_that_looks_like_the_slug_of_another_is_told_apart(text: str) -> None:
    impostor = slug(text)
    slugs = unique_slugs([impostor, text])
    assert slugs[impostor] == impostor
    assert len(set(slugs.values())) == len({impostor, text})


@given(texts, st.lists(texts))
def test_a_slug_does_not_depend_on_the_order(text: str, others: list[str]) -> None:
    forwards, backwards = unique_slugs([text, *others]), unique_slugs([*reversed(others), text])
    assert sorted(forwards.values()) == sorted(backwards.values())
    assert forwards[text] == backwards[text]


@given(texts, texts, st.integers(1, 1000), st.integers(1, 1000))
def test_names_of_items_are_short_and_can_be_taken_apart(prompt, policy, sample, samples) -> None:
    name = item_name(slug(prompt), slug(policy), sample=sample, samples=samples)
    assert len(name) <= 100
    taken = re.fullmatch(r"([\w.-]+)\[([\w.-]+?)(?:#(\d+))?\]", name, re.ASCII)
    assert taken is not None
    assert taken.groups() == (slug(prompt), slug(policy), str(sample) if samples > 1 else None)


@given(texts)
def test_the_node_id_of_a_file_is_one_safe_part(name: str) -> None:
    node_id = file_node_id(name)
    assert "::" not in node_id
    node_id.encode()
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", node_id)


@given(st.lists(texts, unique=True))
def test_files_keep_apart(names: list[str]) -> None:
    assert len({file_node_id(name) for name in names}) == len(names)
