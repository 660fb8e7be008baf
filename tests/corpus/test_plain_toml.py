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
note = "A \\"tab\\":\\t\\\\"
tags = [ "one, two]", "\\n" ] # two
empty = ""
long = """\\
  One \\ \t

  line \\n"""
'''


def test_a_plain_document() -> None:
    tables = plain_tables(PLAIN)
    assert tables is not None
    assert tables.prompts == [
        {"id": "a", "prompt": '[[prompt]]\nTwo "quoted" lines, """.', "severity": 3},
        {
            "id": "b",
            "prompt": "[defaults] \\n",
            "note": 'A "tab":\t\\',
            "tags": ["one, two]", "\n"],
            "empty": "",
            "long": "One line \n",
        },
    ]
    assert (tables.lines, tables.defaults, tables.defaults_line) == ([5, 12], {"label": "safe"}, 2)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('[[prompt]]\na = "\\u00e9"\n', id="escape"),
        pytest.param('[[prompt]]\na = "x \\\n  y"\n', id="continued-line"),
        pytest.param("[[prompt]]\ntags = ['a']\n", id="list"),
        pytest.param('[[prompt]]\ntags = [\n"a"]\n', id="list-of-several-lines"),
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


SIGNS = ["\n", "\t", " ", "#", "'", '"', '"""', "\\", "\\\n", ".", ",", "=", "[", "]", "{", "}"]
WORDS = [
    "[[prompt]]",
    "[ defaults ]",
    "prompt",
    "a-1",
    "0",
    "-12",
    "+1",
    "1_0",
    "true",
    "\\n",
    "\0",
]
PIECES = st.sampled_from([*SIGNS, *WORDS, '\\"', "\udc80\u2028"])
TEXTS_OF_PIECES = st.lists(PIECES, max_size=5).map("".join)
VALUES = st.one_of(
    st.sampled_from(["0", "-12", "01", '["x", "y"]', "[ ]", "1.5"]),
    st.builds("{0}{1}{0}".format, st.sampled_from(['"', "'", '"""', "'''"]), TEXTS_OF_PIECES),
    st.lists(TEXTS_OF_PIECES.map('"{}"'.format), max_size=3).map(", ".join).map("[{}]".format),
    TEXTS_OF_PIECES,
)
LINES = st.one_of(
    st.builds("{} = {}\n".format, st.sampled_from(["id", "a-1", "note", "x"]), VALUES),
    st.sampled_from(["[[prompt]]\n", "[defaults]\n", "\n", "# [[prompt]]\n"]),
    TEXTS_OF_PIECES,
)
DOCUMENTS = st.lists(LINES, max_size=6).map(lambda lines: "".join(["[[prompt]]\n", *lines]))


@settings(max_examples=500)
@given(DOCUMENTS | TEXTS_OF_PIECES)
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
