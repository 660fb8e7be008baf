"""The quick way through plain TOML: never another result than that of `tomllib`."""

import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_refusal.corpus import read_toml
from pytest_refusal.corpus.plain_toml import plain_tables

PLAIN = '''\
# A comment.
[defaults] # of all [[prompt]]
label = "safe"

[[prompt]]
id = "a"
prompt = """
[[prompt]]
Two "quoted" lines, "\\""."""
severity = 3

\t[[ prompt ]]
id="b"#c
prompt = '[defaults] \\n'
empty = ""
'''


def test_a_plain_document() -> None:
    text = PLAIN.replace(', "\\""', "")
    tables = plain_tables(text)
    assert tables is not None
    assert tables.prompts == [
        {"id": "a", "prompt": '[[prompt]]\nTwo "quoted" lines.', "severity": 3},
        {"id": "b", "prompt": "[defaults] \\n", "empty": ""},
    ]
    assert (tables.lines, tables.defaults, tables.defaults_line) == ([5, 12], {"label": "safe"}, 2)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(PLAIN, id="escape"),
        pytest.param("[[prompt]]\ntags = ['a']\n", id="list"),
        pytest.param("[[prompt]]\na.b = 1\n", id="dotted-key"),
        pytest.param("[[prompt]]\n'a' = 1\n", id="quoted-key"),
        pytest.param("[[prompt]]\na = 01\n", id="no-number"),
        pytest.param("[[prompt]]\na = 1.5\n", id="float"),
        pytest.param("[[prompt]]\na = 1\na = 1\n", id="twice"),
        pytest.param("[[prompt]]\na = 1 b = 1\n", id="two-on-a-line"),
        pytest.param("[[prompt]] a = 1\n", id="after-a-header"),
        pytest.param("[defaults]\n[defaults]\n", id="defaults-twice"),
        pytest.param("a = 1\n", id="outside"),
        pytest.param("[other]\n", id="other-table"),
        pytest.param("[[prompt]]\na = 'x\n", id="unclosed"),
        pytest.param('[[prompt]]\na = """x\n', id="unclosed-long"),
        pytest.param('[[prompt]]\na = """x""""\n', id="quote-at-the-end"),
        pytest.param('[[prompt]]\na = "\0"\n', id="control"),
        pytest.param("[[prompt]] # \x7f\n", id="control-in-a-comment"),
    ],
)
def test_all_else_is_left_to_the_parser(text: str) -> None:
    assert plain_tables(text) is None


PIECES = st.sampled_from(
    [
        *(
            "[[prompt]]",
            "[[ prompt ]]",
            "[defaults]",
            "[",
            "]",
            "[x]",
            "prompt",
            "id",
            "a-1",
            "=",
            " ",
        ),
        *(
            "\n",
            "\n",
            "\n",
            "\t",
            "#",
            "'",
            '"',
            '"""',
            "'''",
            "\\",
            "\\n",
            ".",
            ",",
            "{",
            "}",
            "\0",
        ),
        *("0", "7", "-12", "+1", "1_0", "1234567890", "true", "\x7f", "\udc80", "\u2028", "\u00e9"),
        *('id = "x"\n', "a = 'x'\n", 'b = """x"""\n', 'c = """\n', '""" # c\n', "severity = 3\n"),
        *("[[prompt]]\n", "[defaults]\n", "d = 1\n", "e = ['x']\n"),
    ]
)


@settings(max_examples=500)
@given(st.lists(PIECES, max_size=12).map("".join))
def test_it_says_what_the_parser_says(text: str) -> None:
    tables = plain_tables(text)
    if tables is None:
        return
    document: dict[str, object] = {"prompt": tables.prompts} if tables.prompts else {}
    if tables.defaults is not None:
        document["defaults"] = tables.defaults
    assert tomllib.loads(text) == document
    lines = read_toml._header_lines(text)
    assert lines["prompt"] == tables.lines
    assert lines["defaults"] == ([] if tables.defaults is None else [tables.defaults_line])


TEXTS = st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="'"))


@given(st.lists(st.dictionaries(st.sampled_from(["id", "prompt", "note"]), TEXTS)))
def test_what_is_plain_is_read_here(rows: list[dict[str, str]]) -> None:
    text = ""
    for row in rows:
        text += "[[prompt]]\n" + "".join(f"{key} = '{value}'\n" for key, value in row.items())
    tables = plain_tables(text)
    assert tables is not None
    assert tables.prompts == rows


def test_quotes_without_end_take_no_time() -> None:
    text = '[[prompt]]\na = """' + '"" ' * 200_000
    assert plain_tables(text) is None
    assert plain_tables(text + '"""\n') is not None
