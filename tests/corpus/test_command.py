"""`python -m pytest_refusal.corpus`, as people type it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_refusal.corpus.__main__ import main
from pytest_refusal.corpus.loading import load_corpus

Write = Callable[[str, str | bytes], Path]


@pytest.fixture(autouse=True)
def _in_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_check_counts(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write(
        "c.csv",
        "prompt,label,category,language\n"
        + "".join(f"Do harm {n},unsafe,a,en\n" for n in range(40))
        + "Hi,safe,b,\nYou,safe,a,en\n",
    )
    assert main(["check", "--strict", "c.csv"]) == 0
    assert capsys.readouterr().out == (
        "c.csv: 42 prompts\n\n"
        # Wilson's interval of 0.2 of 2 and of 4 of 40, by hand from the formula.
        "safe: 2. A rate of 10 % among so many lies between 0.5% and 72.1%.\n"
        "unsafe: 40. A rate of 10 % among so many lies between 4.0% and 23.1%.\n"
        "languages: not said 1, en 41\n"
        "categories:\n  a: 1 safe, 40 unsafe\n  b: 1 safe\n"
    )


def test_check_shows_what_to_look_at(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write(
        "c.csv",
        "prompt,label,category,pair\n"
        "How do I kill a process?,safe,Hate speech,p\n"  # line 2
        "how do I kill a process,safe,hate-speech,\n"
        "A process: how do I kill?,safe,violence,\n"
        "Kill a process - how do I?,unsafe,violenc,\n"
        "Caf\u00c3\u00a9 au lait,safe,class-1,\n"
        "Zero\u200bwidth,safe,class-2,\n"
        f"{'long ' * 5000},safe,x,\n",
    )
    assert main(["check", "c.csv"]) == 0
    assert main(["check", "--strict", "c.csv"]) == 1
    out = capsys.readouterr().out
    for expected in [
        "repeated (1):\n  c.csv:3 says the same as c.csv:2\n",
        "near duplicate (1):\n  c.csv:4 is much like c.csv:2\n",
        "near contradiction (1):\n"
        "  c.csv:5 is much like c.csv:2, and is unsafe where that is safe\n",
        'suspicious encoding (1):\n  c.csv:6 has "\u00c3\u00a9"',
        'invisible characters (1):\n  c.csv:7 has the character "\\u200b"\n',
        "very long (1):\n  c.csv:8 has 25000 characters\n",
        'similar categories (2):\n  "hate-speech" is nearly "Hate speech"; one category',
        '  "violence" is nearly "violenc"; one category',
        'incomplete pair (1):\n  c.csv:2 pair "p" has 1 safe and 0 unsafe',
    ]:
        assert expected in out
    assert 'class-1" is nearly' not in out  # numbered on purpose
    assert 'class-2" is nearly' not in out


def test_check_names_a_misspelt_column(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("c.csv", "prompt,label,categroy\nHi,safe,chat\n")
    assert main(["check", "--strict", "c.csv"]) == 1
    assert (
        'misspelt column (1):\n  c.csv the column "categroy" is not read; did you mean "category"?'
        in capsys.readouterr().out
    )


def test_check_lists_faults(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("c.csv", "prompt,label\nHi,safe\nhi!,unsafe\n,safe\n")
    assert main(["check", "c.csv"]) == 1
    assert capsys.readouterr().out.endswith(
        "\n2 faults:\n"
        "c.csv:3: the same text is unsafe here and safe at c.csv:2; keep one of the two\n"
        "c.csv:4: the prompt is empty\n"
    )


def test_one_label_is_said(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("c.csv", "prompt,label\nHi,safe\n")
    main(["check", "c.csv"])
    assert "All prompts are safe: under-refusal cannot be measured.\n" in capsys.readouterr().out


def test_options_say_how_to_read(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("t.dat", "frage;urteil\nCaf\u00e9?;gut\nGift?;b\u00f6se\n".encode("latin-1"))
    arguments = [
        *("convert", "t.dat", "-o", "out.toml"),
        *("--format", "csv", "--encoding", "latin-1", "--delimiter", ";"),
        *("--column", "prompt=frage", "--column", "label=urteil"),
        *("--map-label", "gut=safe", "--map-label", "*=unsafe"),
    ]
    assert main(arguments) == 0
    assert capsys.readouterr().out == "2 prompts in out.toml\n"
    assert [(p.text, p.label) for p in load_corpus("out.toml")] == [
        ("Caf\u00e9?", "safe"),
        ("Gift?", "unsafe"),
    ]


def test_the_configuration_says_how_to_read(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("t.txt", "One\nTwo\nThree\n")
    write(
        "pyproject.toml",
        '[[tool.pytest-refusal.corpora]]\npath = "t.txt"\nlabel = "unsafe"\nsample = 2\n',
    )
    assert main(["convert", "t.txt", "-o", "out.jsonl"]) == 0
    assert capsys.readouterr().out == (
        "2 prompts in out.jsonl\nnote: all prompts are unsafe: over-refusal cannot be measured\n"
    )


@pytest.mark.parametrize(
    ("arguments", "status", "expected"),
    [
        (["check", "none.csv"], 2, 'corpus "none.csv": no such file or folder'),
        (
            ["check", "c.csv", "--label", "bad"],
            2,
            "--label: must be one of safe, unsafe, not 'bad'",
        ),
        (["convert", "c.csv", "-o", "out.xml"], 2, '"out.xml": the result ends in .toml or .jsonl'),
        (["convert", "c.csv", "-o", "no/where.toml"], 2, "cannot be written: No such file"),
        (["convert", "bad.csv", "-o", "out.toml"], 1, "bad.csv:2: the prompt is empty"),
    ],
)
def test_what_cannot_be_done(
    write: Write,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    status: int,
    expected: str,
) -> None:
    write("c.csv", "prompt,label\nHi,safe\n")
    write("bad.csv", "prompt,label\n,safe\n")
    assert main(arguments) == status
    captured = capsys.readouterr()
    assert expected in captured.err
    assert captured.out == ""


def test_convert_replaces_a_corpus_and_nothing_else(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("c.csv", "prompt,label\nHi,safe\n")
    project = write("own.toml", "[project]\nname = 'mine'\n")
    assert main(["convert", "c.csv", "-o", "own.toml"]) == 2
    assert capsys.readouterr().err == (
        '"own.toml" is there already, and is no corpus; name another file\n'
    )
    assert project.read_text() == "[project]\nname = 'mine'\n"
    assert [main(["convert", "c.csv", "-o", "new.toml"]) for _ in range(2)] == [0, 0]
