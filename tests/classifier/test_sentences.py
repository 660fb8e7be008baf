"""Where sentences end: at marks, at lines that are left empty, at items of a list."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_refusal.classifier.sentences import sentences_of

PIECES = st.lists(
    st.sampled_from(
        [*'.!?\n \t\r-*+#)("]_' + "'", "1. ", "12)", "\n\n", "\n- ", "... ", "word", "No", "\n2. "]
    ),
    max_size=30,
).map("".join)


def parts(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences_of(text)]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three?", ["One.", " Two!", " Three?"]),
        (
            'He said "no!" twice... Really?! Yes',
            ['He said "no!"', " twice...", " Really?!", " Yes"],
        ),
        ("A title\n\nA text", ["A title\n\n", "A text"]),
        ("Do this:\n1. Stir.\n2. Bake.", ["Do this:\n", "1. Stir.", "\n2. Bake."]),
        ("Version 1.5 is out", ["Version 1.5 is out"]),
        ("我不能。你好", ["我不能。", "你好"]),
        ("", [""]),
        ("   ", ["   "]),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    assert parts(text) == sentences


@given(PIECES)
def test_a_letter_of_another_script_ends_no_sentence(text: str) -> None:
    assert sentences_of(text + "é") == sentences_of(text + "e")


@given(PIECES)
def test_sentences_follow_one_another_and_leave_nothing_out(text: str) -> None:
    end = 0
    for start, stop in sentences_of(text):
        assert not text[end:start].strip(" \n\t\r.)*-0123456789")
        assert start < stop or text == ""
        end = stop
    assert not text[end:].strip()
