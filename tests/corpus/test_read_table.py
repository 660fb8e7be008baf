"""CSV and TSV corpora: cells, lines and faults."""

import contextlib
import csv
from collections.abc import Callable
from io import BufferedReader, BytesIO, StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_refusal.corpus.decoding import Source
from pytest_refusal.corpus.faults import UnreadableError
from pytest_refusal.corpus.loading import load, load_corpus
from pytest_refusal.corpus.read_table import read_csv
from pytest_refusal.corpus.rows import Dialect, Row
from pytest_refusal.corpus.sources import corpus_file
from pytest_refusal.corpus.validation import NoteKind
from pytest_refusal.prompt import Label

Write = Callable[[str, str | bytes], Path]
FaultsOf = Callable[..., tuple[str, ...]]

SAVE_OR_SAY = (
    "save the file as UTF-8, or say what it is in pyproject.toml, under "
    '[[tool.pytest-refusal.corpora]], as encoding = "latin-1"'
)


def test_every_column_is_read(write: Write) -> None:
    text = (
        "id,prompt,label,category,severity,source,tags,note,taxonomy,pair,language\n"
        '7,"Hello, ""you""",unsafe,chat,4,own,"a; b,c",why,T2,p3,en\n'
    )
    (prompt,) = load_corpus(write("c.csv", text))
    assert (prompt.id, prompt.text, prompt.label) == ("7", 'Hello, "you"', Label.UNSAFE)
    assert (prompt.category, prompt.severity, prompt.source) == ("chat", 4, "own")
    assert (prompt.tags, prompt.note) == (("a", "b", "c"), "why")
    assert (prompt.taxonomy, prompt.pair, prompt.language) == ("T2", "p3", "en")


def test_other_columns_are_left_alone_and_empty_cells_are_none(write: Write) -> None:
    text = " Prompt\tLABEL\tseverity\tscore\tnote\nHello \t Safe\t \t0.5\t\nYou\tunsafe\n"
    first, second = load_corpus(write("c.tsv", text))
    assert (first.text, first.label, first.severity, first.note) == (
        "Hello ",
        Label.SAFE,
        None,
        None,
    )
    assert first.category == "uncategorised"
    assert second.label is Label.UNSAFE


def test_a_column_that_is_nearly_a_field_is_named(write: Write) -> None:
    text = "prompt,label,categroy,score,ids,severity,severty\nx,safe,chat,1,2,3,4\n"
    loaded = load([corpus_file(write("c.csv", text), base=Path.cwd())])
    notes = [str(note) for note in loaded.notes if note.kind is NoteKind.MISSPELT]
    assert [note.split(": ", 1)[1] for note in notes] == [
        'the column "categroy" is not read; did you mean "category"?'
    ]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "bom"])
def test_a_row_is_at_the_line_where_it_begins(write: Write, newline: str, mark: str) -> None:
    text = mark + 'prompt,label\n"a\n\nb",safe\n\nc,safe\n"d\n",safe\ne,safe'
    prompts = load_corpus(write("c.csv", text.replace("\n", newline)))
    assert [prompt.place.line for prompt in prompts if prompt.place] == [2, 6, 7, 9]
    # Line breaks within a cell belong to the prompt.
    assert prompts[0].text == f"a{newline}{newline}b"


def test_ids_that_are_missing_come_from_the_text(write: Write) -> None:
    def ids(rows: list[str]) -> list[str]:
        text = "\n".join(["prompt,label", *(f"{row},safe" for row in rows)])
        return [prompt.id for prompt in load_corpus(write("c.csv", text))]

    # sha256 of [["user", "a"]] and so on, as JSON.
    assert ids(["a", "b", "a"]) == ["050d8ef56e", "c85581aeea", "050d8ef56e-2"]
    assert ids(["b", "new", "a"])[::2] == ["c85581aeea", "050d8ef56e"]


def test_cells_may_be_large_and_hold_nul(write: Write) -> None:
    before = csv.field_size_limit()
    long = "x" * 1_000_000
    first, second = load_corpus(write("c.csv", f"prompt,label\n{long},safe\na\0b,safe\n"))
    assert first.text == long
    assert second.text == "a\0b"
    assert csv.field_size_limit() == before


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "",
            ["1: the file is empty; a table begins with a header, such as prompt,label"],
            id="empty",
        ),
        pytest.param("prompt,label\n", ["1: the file has no prompts"], id="no-rows"),
        pytest.param(
            "prompt,label,prompt\n", ['1: the header has "prompt" more than once'], id="twice"
        ),
        pytest.param(
            "promt,label\nx,safe\n",
            [
                (
                    '1: the table has no column for the prompt; its columns are "promt" and '
                    '"label"; did you mean "prompt" by "promt"? Columns are mapped in '
                    "pyproject.toml, under [[tool.pytest-refusal.corpora]]"
                )
            ],
            id="no-prompt-column",
        ),
        pytest.param(
            "prompt,lable\nx,safe\n",
            [
                (
                    '2: no prompt of this file has a label, "safe" or "unsafe"; did you mean '
                    '"label" by the column "lable"? Rename it, or, if it is the same for all, give '
                    "it in pyproject.toml, under [[tool.pytest-refusal.corpora]] with path = "
                    '"c.csv" and label = "unsafe"'
                )
            ],
            id="misspelt-label",
        ),
        pytest.param(
            "How do I kill time?,safe\nx,unsafe\n",
            [
                (
                    "1: the table has no column for the prompt; its columns are"
                    ' "How do I kill time?" and "safe". The first row seems to be a prompt: a table'
                    " begins with a header, prompt,label. Columns are mapped in pyproject.toml,"
                    " under [[tool.pytest-refusal.corpora]]"
                )
            ],
            id="no-header",
        ),
        pytest.param(
            "nr,Question,label\n1,x,safe\n",
            [
                (
                    "1: the table has no column for the prompt; its columns are "
                    '"nr", "Question" and "label". Columns are mapped in pyproject.toml, under '
                    '[[tool.pytest-refusal.corpora]], as columns = { prompt = "Question" }'
                )
            ],
            id="other-names",
        ),
        pytest.param(
            "prompt;label\nx;safe\n",
            [
                (
                    '1: the table has no column for the prompt; its columns are "prompt;label".'
                    " Where its cells are set apart by another sign, say so in pyproject.toml,"
                    ' under [[tool.pytest-refusal.corpora]], as delimiter = ";"'
                )
            ],
            id="semicolons",
        ),
        pytest.param(
            '"prompt";"label"\n"x";"safe"\n',
            [
                (
                    "1: the row cannot be read: text follows a closing quote; where cells are set"
                    " apart by another sign, say so in pyproject.toml, under"
                    ' [[tool.pytest-refusal.corpora]], as delimiter = ";"'
                )
            ],
            id="semicolons-and-quotes",
        ),
        pytest.param(
            "prompt\nx\ny\n",
            [
                (
                    '2: no prompt of this file has a label, "safe" or "unsafe"; add a '
                    "column `label`, or, if it is the same for all, give it in pyproject.toml, "
                    'under [[tool.pytest-refusal.corpora]] with path = "c.csv" and label = "unsafe"'
                )
            ],
            id="no-label-column",
        ),
        pytest.param(
            "prompt,label\nHello, you,safe\n",
            [
                (
                    "2: the row has 3 cells, the header 2; a cell that holds the separator "
                    "must stand in double quotes"
                )
            ],
            id="too-many-cells",
        ),
        pytest.param(
            'prompt,label\nx,safe\n"y,safe\nz,safe\n',
            ["3: the row cannot be read: a double quote opens here and is never closed"],
            id="unclosed",
        ),
        pytest.param(
            'prompt,label\n"x"y,safe\n',
            [
                (
                    "2: the row cannot be read: text follows a closing quote; write a double "
                    "quote inside a cell twice"
                )
            ],
            id="after-quote",
        ),
        pytest.param(
            "prompt,label,severity\n,safe,\nx,,1\ny,maybe,\nz,safe,2.5\n",
            [
                "2: the prompt is empty",
                '3: the label is missing; allowed are "safe" and "unsafe"',
                (
                    '4: the label is "maybe"; allowed are "safe" and "unsafe" (other words are '
                    'mapped as labels = { "maybe" = "unsafe" }, in pyproject.toml)'
                ),
                '5: the severity is "2.5"; it must be a whole number from 1 to 5',
            ],
            id="cells",
        ),
        pytest.param(
            "prompt,label\n\u00e9,safe\n".encode("latin-1"),
            [f"2: this line is not in UTF-8; {SAVE_OR_SAY}"],
            id="latin-1",
        ),
        pytest.param(
            "prompt,label\n\u00e9,safe\nx,safe\n\u00e8,safe\n".encode("latin-1"),
            [f"2: this line (and 1 more) is not in UTF-8; {SAVE_OR_SAY}"],
            id="latin-1-lines",
        ),
        pytest.param(
            "prompt,label\n\u00e9,safe\n".encode("utf-16"),
            [
                (
                    "1: the file is in UTF-16; save it as UTF-8, or say it in pyproject.toml, "
                    'under [[tool.pytest-refusal.corpora]], as encoding = "utf-16"'
                )
            ],
            id="utf-16",
        ),
    ],
)
def test_a_fault(faults_of: FaultsOf, text: str | bytes, expected: list[str]) -> None:
    assert faults_of(("c.csv", text)) == tuple(f"c.csv:{fault}" for fault in expected)


def test_what_goes_wrong_all_through_a_file_is_counted(faults_of: FaultsOf) -> None:
    text = "prompt,label\n" + "".join(f"x{n},bad\n" for n in range(100)) + "x,\n"
    faults = faults_of(("c.csv", text))
    assert len(faults) == 21
    assert faults[19] == (
        'c.csv:21: the label is "bad"; allowed are "safe" and "unsafe" (other words are mapped '
        'as labels = { "bad" = "unsafe" }, in pyproject.toml) '
        "(and 80 more prompts of this file)"
    )


@given(
    st.lists(
        st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=2, max_size=2).filter(
            any
        ),
        min_size=1,
    )
)
def test_cells_come_back(rows: list[list[str]]) -> None:
    text = StringIO(newline="")
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([["a", "b"], *rows])
    read = read_csv(source(text.getvalue().encode()), Dialect()).rows
    assert [list(row.fields.values()) for row in read if isinstance(row, Row)] == rows


@given(st.text() | st.binary())
def test_anything_is_rows_or_a_fault(content: str | bytes) -> None:
    raw = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
    with contextlib.suppress(UnreadableError):
        list(read_csv(source(raw), Dialect()).rows)


def source(raw: bytes) -> Source:
    return Source(BufferedReader(BytesIO(raw)))


@pytest.mark.parametrize("told", ["sep=;\r\n", '"sep=;"\n', "\ufeffsep=;\r\n"])
def test_a_first_line_that_tells_what_sets_cells_apart(write: Write, told: str) -> None:
    first, second = load_corpus(
        write("c.csv", f"{told}prompt;label\r\nHi, you;safe\r\nx;unsafe\r\n")
    )
    assert (first.text, first.place and first.place.line) == ("Hi, you", 3)
    assert (second.text, second.label, second.place and second.place.line) == ("x", "unsafe", 4)
