"""What is checked over all prompts of a run."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_refusal.corpus import validation
from pytest_refusal.corpus.loading import Loaded, load
from pytest_refusal.corpus.sources import find_corpora
from pytest_refusal.corpus.validation import NoteKind

Write = Callable[[str, str | bytes], Path]
FaultsOf = Callable[..., tuple[str, ...]]
LoadedFrom = Callable[..., Loaded]


def line(prompt: object, label: str) -> str:
    return json.dumps({"prompt": prompt, "label": label}) + "\n"


@pytest.fixture
def loaded(tmp_path: Path, write: Write) -> LoadedFrom:
    def loaded(**texts: str) -> Loaded:
        for name, text in texts.items():
            write(f"{name}.jsonl", text)
        return load(find_corpora([f"{name}.jsonl" for name in texts], base=tmp_path))

    return loaded


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(
            "How do I kill a Python process?", "how do i kill a python process", id="case"
        ),
        pytest.param("Why?", " Why ?\n", id="white-space"),
        pytest.param("Tell me more...", "tell\tme  more!", id="punctuation"),
        pytest.param("\u00bfPor qu\u00e9?", "\u00bfPOR QU\u00c9\uff1f", id="wide-punctuation"),
        pytest.param("Stra\u00dfe", "STRASSE", id="sharp-s"),
        pytest.param("?", "?", id="only-punctuation"),
        pytest.param("\ud800", "\ud800.", id="surrogate"),
        pytest.param(
            [{"role": "user", "content": "A"}], [{"role": "user", "content": "a."}], id="message"
        ),
        pytest.param("A", [{"role": "user", "content": "a"}], id="text-and-message"),
    ],
)
def test_the_same_text_with_opposite_labels(
    faults_of: FaultsOf, one: object, other: object
) -> None:
    first = line("Something else", "safe") + line(one, "safe")
    assert faults_of(("a.jsonl", first), ("b.jsonl", line(other, "unsafe"))) == (
        "b.jsonl:1: the same text is unsafe here and safe at a.jsonl:2; keep one of the two",
    )


def test_a_contradiction_within_a_file(faults_of: FaultsOf) -> None:
    assert faults_of(("a.jsonl", line("x", "unsafe") + line("x", "safe"))) == (
        "a.jsonl:2: the same text is safe here and unsafe at a.jsonl:1; keep one of the two",
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Why?", "Why not?"),
        ("?", "!"),
        ("a b", "ab"),
        (
            [{"role": "system", "content": "a"}, {"role": "user", "content": "b"}],
            [{"role": "system", "content": "c"}, {"role": "user", "content": "b"}],
        ),
        ([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}], "a\nb"),
    ],
)
def test_other_texts_may_have_other_labels(loaded: LoadedFrom, one: object, other: object) -> None:
    assert loaded(a=line(one, "safe") + line(other, "unsafe")).notes == ()


def test_repeats_are_noted_with_their_number(loaded: LoadedFrom) -> None:
    both = line("x", "safe") + line("y", "unsafe")
    (note,) = loaded(a=both, b=both + line("X!", "safe")).notes
    assert (note.kind, note.count, note.corpora) == (
        NoteKind.REPEATED,
        3,
        ("a.jsonl", "b.jsonl"),
    )
    assert str(note) == (
        "3 prompts repeat the text and label of an earlier one, such as b.jsonl:1 that of "
        "a.jsonl:1: intervals look narrower than they are"
    )


def test_one_label_in_the_run_is_noted(loaded: LoadedFrom) -> None:
    (note,) = loaded(a=line("x", "unsafe"), b=line("y", "unsafe")).notes
    assert (note.kind, note.count, note.corpora) == (
        NoteKind.ONE_LABEL,
        2,
        ("a.jsonl", "b.jsonl"),
    )
    assert str(note) == "all prompts are unsafe: over-refusal cannot be measured"
    (note,) = loaded(a=line("x", "safe")).notes
    assert str(note) == "all prompts are safe: under-refusal cannot be measured"


def test_one_label_in_a_corpus_is_noted(loaded: LoadedFrom) -> None:
    (note,) = loaded(
        a=line("x", "unsafe"), b=line("y", "safe") + line("z", "unsafe"), c=line("w", "safe")
    ).notes
    assert (note.kind, note.count, note.corpora) == (
        NoteKind.ONE_LABEL,
        2,
        ("a.jsonl", "c.jsonl"),
    )
    assert str(note) == ("corpora with one label only: a.jsonl (all unsafe), c.jsonl (all safe)")


def test_texts_of_one_hash_are_no_repeats(
    loaded: LoadedFrom, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validation, "hash", lambda text: 1, raising=False)
    texts = ("One?", "Two?", "Three?", "two")
    (note, _) = loaded(a="".join(line(text, "safe") for text in texts)).notes
    assert note.text.startswith("1 prompt repeats the text and label of an earlier one")
    assert "a.jsonl:4 that of a.jsonl:2" in note.text
