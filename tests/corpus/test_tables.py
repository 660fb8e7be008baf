"""`[[tool.pytest-refusal.corpora]]`: reading files that are not in our form."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_refusal.corpus import tables as tables_module
from pytest_refusal.corpus.loading import load
from pytest_refusal.corpus.sources import find_corpora
from pytest_refusal.corpus.tables import parse_corpus_tables
from pytest_refusal.errors import CorpusError
from pytest_refusal.prompt import Prompt, Role

Write = Callable[[str, str | bytes], Path]
Load = Callable[[str], tuple[Prompt, ...]]


def parsed(text: str) -> tuple[object, list[str]]:
    return parse_corpus_tables(tomllib.loads(text)["corpora"])


@pytest.fixture
def load_as(tmp_path: Path) -> Load:
    """Load what the tables of a configuration name."""

    def load_as(text: str) -> tuple[Prompt, ...]:
        tables, faults = parse_corpus_tables(tomllib.loads(text)["corpora"])
        assert faults == []
        entries = [path for table in tables for path in table.paths]
        return load(find_corpora(entries, base=tmp_path, tables=tables)).prompts

    return load_as


def seen(prompts: tuple[Prompt, ...]) -> list[tuple[str, str, str]]:
    return [(prompt.text, prompt.label.value, prompt.category) for prompt in prompts]


def test_columns_labels_and_constants(write: Write, load_as: Load) -> None:
    write("t.csv", "nr,question,verdict,area,sev,lang\n7,Hi?,OK,chat,2,en\n8,Do harm,Bad-1,,,\n")
    first, second = load_as("""
        [[corpora]]
        path = "t.csv"
        category = "other"
        source = "tickets"
        tags = ["x", "y"]
        labels = { "ok" = "safe", "bad*" = "unsafe" }

        [corpora.columns]
        id = "nr"
        prompt = "question"
        label = "verdict"
        category = "area"
        severity = "sev"
        language = "lang"
    """)
    assert (first.id, first.text, first.label, first.category) == ("7", "Hi?", "safe", "chat")
    assert (first.severity, first.language) == (2, "en")
    assert (second.id, second.label, second.category) == ("8", "unsafe", "other")
    assert (second.severity, second.source, second.tags) == (None, "tickets", ("x", "y"))


def test_one_line_gives_a_label_to_a_file_without(write: Write, load_as: Load) -> None:
    write("t.txt", "One\n\nTwo\n")
    assert seen(load_as('[[corpora]]\npath = "t.txt"\nlabel = "unsafe"\n')) == [
        ("One", "unsafe", "uncategorised"),
        ("Two", "unsafe", "uncategorised"),
    ]


def test_constants_hold_for_our_own_form_too(write: Write, load_as: Load) -> None:
    write("t.jsonl", '{"prompt": "One"}\n{"prompt": "Two", "label": "safe"}\n')
    assert seen(load_as('[[corpora]]\npath = "t.jsonl"\nlabel = "unsafe"\n')) == [
        ("One", "unsafe", "uncategorised"),
        ("Two", "safe", "uncategorised"),
    ]


def test_what_is_said_goes_over_what_a_set_is_known_for(write: Write, load_as: Load) -> None:
    write("behaviors.csv", "goal,target,kind\nDo harm,Sure,a\n")
    (prompt,) = load_as("""
        [[corpora]]
        path = "behaviors.csv"
        category = "advice"
        language = "de"
    """)
    assert (prompt.label, prompt.category, prompt.language) == ("unsafe", "advice", "de")


def test_a_set_can_be_named(write: Write, load_as: Load) -> None:
    write("mine.csv", "prompt,category\nDo harm,x\n")
    assert seen(
        load_as('[[corpora]]\npath = "mine.csv"\nset = "or-bench"\nlabel = "unsafe"\n')
    ) == [("Do harm", "unsafe", "x")]


def test_nested_values(write: Write, load_as: Load) -> None:
    rows = [
        {"meta": {"labels": ["x", "harmful"], "n": 3}, "turns": [{"text": "Do harm"}]},
        {"meta": {"labels": ["benign"], "n": None}, "turns": [{"text": "Hi"}], "a.b": 1},
    ]
    write("t.json", json.dumps({"version": [1], "data": {"rows": rows}}))
    first, second = load_as("""
        [[corpora]]
        path = "t.json"
        records = "data.rows"
        columns = { prompt = "turns.0.text", label = "meta.labels", severity = "meta.n" }
        labels = { harmful = "unsafe", benign = "safe" }
    """)
    assert (first.text, first.label, first.severity) == ("Do harm", "unsafe", 3)
    assert (second.text, second.label, second.severity) == ("Hi", "safe", None)


def test_the_first_column_that_holds_something_counts(write: Write, load_as: Load) -> None:
    write("t.csv", "a,b\n,Two\nOne,Three\n")
    assert seen(
        load_as('[[corpora]]\npath = "t.csv"\nlabel = "safe"\ncolumns = { prompt = ["a", "b"] }\n')
    ) == [("Two", "safe", "uncategorised"), ("One", "safe", "uncategorised")]


def test_a_column_for_each_language(write: Write, load_as: Load) -> None:
    write("t.csv", "id,en,de\n1,Hi,Hallo\n")
    prompts = load_as("""
        [[corpora]]
        path = "t.csv"
        label = "safe"
        columns = { id = "id", prompt = { en = "en", de = "de" } }
    """)
    assert [(p.id, p.text, p.language) for p in prompts] == [
        ("1-en", "Hi", "en"),
        ("1-de", "Hallo", "de"),
    ]


def test_a_passage_before_the_prompt(write: Write, load_as: Load) -> None:
    write("t.csv", "q,text\nSum it up,A passage\nHi,\n")
    prompts = load_as("""
        [[corpora]]
        path = "t.csv"
        label = "safe"
        columns = { prompt = "q", context = "text" }
    """)
    assert [p.text for p in prompts] == ["A passage\n\n---\n\nSum it up", "Hi"]


def test_other_forms_of_a_conversation(write: Write, load_as: Load) -> None:
    chat = [
        {"from": "human", "value": "One"},
        {"from": "gpt", "value": "Two"},
        {"role": "user", "content": [{"type": "text", "text": "Three"}], "name": "Ann"},
    ]
    write("t.jsonl", json.dumps({"messages": chat, "is_harmful": False}))
    (prompt,) = load_as("""
        [[corpora]]
        path = "t.jsonl"
        columns = { prompt = "messages", label = "is_harmful" }
        labels = { true = "unsafe", false = "safe" }
    """)
    assert [(m.role, m.content) for m in prompt.messages] == [
        (Role.USER, "One"),
        (Role.ASSISTANT, "Two"),
        (Role.USER, "Three"),
    ]
    assert prompt.label == "safe"


def test_a_filter(write: Write, load_as: Load) -> None:
    write("t.csv", "prompt,kind,n\nOne,standard,1\nTwo,copyright,1\nThree,stand-in,2\n")
    prompts = load_as("""
        [[corpora]]
        path = "t.csv"
        label = "safe"
        filter = { kind = ["stand*", "other"], n = 1 }
    """)
    assert [p.text for p in prompts] == ["One"]


def test_a_filter_goes_by_a_path_too(write: Write, load_as: Load) -> None:
    rows = [{"q": "One", "m": {"split": "test"}}, {"q": "Two", "m": {"split": "train"}}]
    write("t.json", json.dumps(rows))
    prompts = load_as("""
        [[corpora]]
        path = "t.json"
        label = "safe"
        columns = { prompt = "q" }
        filter = { "m.split" = "test" }
    """)
    assert [p.text for p in prompts] == ["One"]


def test_a_filter_that_nothing_passes_is_named(write: Write, load_as: Load) -> None:
    write("t.csv", "prompt,kind\nOne,standard\n")
    with pytest.raises(CorpusError) as caught:
        load_as('[[corpora]]\npath = "t.csv"\nlabel = "safe"\nfilter = { knd = "standard" }\n')
    assert caught.value.faults == (
        't.csv:1: no row passes the filter on "knd"; the columns are "prompt" and "kind"',
    )


def test_a_filter_leaves_pairs_as_they_are(write: Write, load_as: Load) -> None:
    rows = [
        f"{kind}{n},{kind} {n}?,{kind},{label},x,"
        for kind, label in [("homonyms", "safe"), ("contrast_homonyms", "unsafe")]
        for n in "123"
    ]
    write("x.csv", "\n".join(["id,prompt,type,label,focus,note", *rows]))
    prompts = load_as('[[corpora]]\npath = "x.csv"\nfilter = { id = "*[23]" }\n')
    assert [prompt.pair for prompt in prompts] == ["homonyms-2", "homonyms-3"] * 2


@pytest.mark.parametrize(
    ("encoding", "delimiter"), [("latin-1", ";"), ("utf-16", "\t"), ("cp1252", "|")]
)
def test_encodings_and_delimiters_are_told(
    write: Write, load_as: Load, encoding: str, delimiter: str
) -> None:
    text = f"prompt{delimiter}label\r\nCaf\u00e9?{delimiter}safe\r\n"
    write("t.dat", text.encode(encoding))
    prompts = load_as(
        f"""
        [[corpora]]
        path = "*.dat"
        format = "csv"
        encoding = "{encoding}"
        delimiter = {json.dumps(delimiter)}
        """
    )
    assert [p.text for p in prompts] == ["Caf\u00e9?"]


def test_a_table_holds_for_a_file_however_it_is_named(tmp_path: Path, write: Write) -> None:
    write("data/t.csv", "q\nHi\n")
    tables, _ = parse_corpus_tables([{"path": "data", "label": "safe", "columns": {"prompt": "q"}}])
    (file,) = find_corpora(["./data/../data/t.csv"], base=tmp_path, tables=tables)
    assert file.table == tables[0]
    assert seen(load([file]).prompts) == [("Hi", "safe", "uncategorised")]


def test_a_missing_column_is_one_fault(write: Write, load_as: Load) -> None:
    write("t.csv", "question,verdict\nHi,ok\nYou,ok\n")
    with pytest.raises(CorpusError) as caught:
        load_as("""
            [[corpora]]
            path = "t.csv"
            columns = { prompt = "qestion", label = "verdict" }
            labels = { ok = "safe" }
        """)
    (fault,) = caught.value.faults
    assert fault.startswith(
        't.csv:1: the table has no column for the prompt: "qestion" is none of them; its columns '
        'are "question" and "verdict"; did you mean "question"?'
    )


def test_a_label_that_no_pattern_covers_is_named(write: Write, load_as: Load) -> None:
    write("t.csv", "prompt,label\nHi,ok\nYou,hmm\n")
    with pytest.raises(CorpusError) as caught:
        load_as('[[corpora]]\npath = "t.csv"\nlabels = { ok = "safe" }\n')
    (fault,) = caught.value.faults
    assert fault == (
        't.csv:3: the label is "hmm"; allowed are "safe" and "unsafe" (other words are mapped as '
        'labels = { "hmm" = "unsafe" }, in pyproject.toml)'
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            'corpora = "x"',
            [": must be a list of tables, [[...corpora]], not 'x'"],
            id="no-tables",
        ),
        pytest.param("corpora = [1]", ["[1]: must be a table, not 1"], id="number"),
        pytest.param(
            "[[corpora]]\n",
            ["[1].path: is missing: a file, a folder, a glob, or a list of them"],
            id="no-path",
        ),
        pytest.param(
            '[[corpora]]\npath = "a"\n[[corpora]]\npath = 3\ncolum = {}\nformat = "xls"\n',
            [
                '[2].colum: unknown key; did you mean "columns"? (known: path, format,',
                "[2].path: must be a text or a list of texts, none of them empty, not 3",
                "[2].format: must be one of toml, jsonl, json, csv, tsv, yaml, parquet, arrow, ",
            ],
            id="keys",
        ),
        pytest.param(
            '[[corpora]]\npath = "a"\nencoding = "utf8-x"\ndelimiter = "::"\nset = "xtest"\n',
            [
                "[1].encoding: must be a known encoding, such as utf-16 or latin-1, not 'utf8-x'",
                "[1].delimiter: must be one sign, such as \";\", not '::'",
                "[1].set: must be one of xstest, ",
            ],
            id="words",
        ),
        pytest.param(
            '[[corpora]]\npath = "a"\nencoding = "base64"\n',
            ["[1].encoding: must be a known encoding, such as utf-16 or latin-1, not 'base64'"],
            id="no-text-encoding",
        ),
        pytest.param(
            '[[corpora]]\npath = "a"\ncolumns = { promt = "x", label = 3, prompt = {} }\n',
            [
                '[1].columns.promt: unknown field; did you mean "prompt"? (known: id, prompt,',
                "[1].columns.label: must be a column or a list of columns, not 3",
                "[1].columns.prompt: must be a column, or a table of language = column",
            ],
            id="columns",
        ),
        pytest.param(
            '[[corpora]]\npath = "a"\nlabels = { x = "bad" }\nlabel = "sfe"\nseverity = 6\n',
            [
                "[1].labels.x: must be one of safe, unsafe, not 'bad'",
                "[1].label: must be one of safe, unsafe, not 'sfe'; did you mean \"safe\"?",
                "[1].severity: must be a whole number from 1 to 5, not 6",
            ],
            id="labels",
        ),
        pytest.param(
            '[[corpora]]\npath = "a"\nsample = 0\nseed = -1\nfilter = { a = [] }\ntags = [1]\n',
            [
                "[1].filter.a: must be a value, or a list of values",
                "[1].sample: must be a whole number from 1 to 2147483648, not 0",
                "[1].seed: must be a whole number from 0 to 2147483648, not -1",
                "[1].tags: must be a text or a list of texts, none of them empty, not [1]",
            ],
            id="numbers",
        ),
    ],
)
def test_every_fault_of_the_tables_is_told(text: str, expected: list[str]) -> None:
    faults = sorted(parsed(text)[1])
    assert len(faults) == len(expected)
    for fault, start in zip(faults, sorted(expected), strict=True):
        assert fault.startswith(f"corpora{start}")


def test_the_page_about_corpora_has_every_key() -> None:
    page = (Path(__file__).parents[2] / "docs/corpus.md").read_text("utf-8")
    section = page.split("## Any other file")[1].split("## ")[0]
    for key in tables_module.KEYS:
        assert f"`{key}`" in section
