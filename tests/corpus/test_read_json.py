"""JSON and JSONL corpora: values, lines and faults."""

import contextlib
import json
from collections.abc import Callable
from io import BufferedReader, BytesIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_refusal.corpus.decoding import Source
from pytest_refusal.corpus.faults import UnreadableError
from pytest_refusal.corpus.loading import load_corpus
from pytest_refusal.corpus.read_json import read_json, read_jsonl
from pytest_refusal.corpus.rows import Dialect, Row
from pytest_refusal.prompt import Label, Role

Write = Callable[[str, str | bytes], Path]
FaultsOf = Callable[..., tuple[str, ...]]

PROMPTS = """[
  {"id": "a", "prompt": "Hello", "label": "safe"}, {"id": "b",
   "prompt": "Bye", "label": "unsafe"},

  {
    "id": "c",
    "prompt": [{"role": "user", "content": "One"},
               {"role": "assistant", "content": "Two"},
               {"role": "user", "content": "Three"}],
    "label": "safe", "note": null, "tags": ["x"], "severity": 1
  }
]
"""


def lines(path: Path) -> list[int]:
    return [prompt.place.line for prompt in load_corpus(path) if prompt.place]


def test_a_list(write: Write) -> None:
    path = write("c.json", PROMPTS)
    a, b, c = load_corpus(path)
    assert (a.id, a.text, a.label) == ("a", "Hello", Label.SAFE)
    assert (b.id, b.text, b.label) == ("b", "Bye", Label.UNSAFE)
    assert (c.text, c.note, c.tags, c.severity) == ("Three", None, ("x",), 1)
    assert [message.role for message in c.messages] == [Role.USER, Role.ASSISTANT, Role.USER]
    assert lines(path) == [2, 2, 5]


def test_a_document_with_defaults(write: Write) -> None:
    text = '{"prompts":\n[{"prompt": "x"},\n{"prompt": "y"}],\n"defaults": {"label": "unsafe"}}'
    path = write("c.json", text)
    assert {prompt.label for prompt in load_corpus(path)} == {Label.UNSAFE}
    assert lines(path) == [2, 3]


def test_one_object_a_line(write: Write) -> None:
    path = write(
        "c.jsonl",
        '\ufeff{"prompt": "a\\nb", "label": "safe"}\r\n\r\n  {"prompt": "\u2028", "label": "safe"'
        '}\n{"prompt": "\u2028c", "label": "safe"}'.replace('"\u2028"', '"\u2028x"'),
    )
    assert [prompt.text for prompt in load_corpus(path)] == ["a\nb", "\u2028x", "\u2028c"]
    assert lines(path) == [1, 3, 4]


def test_hostile_text_is_kept_as_it_is(write: Write) -> None:
    text = "\0\x1b[31m\u202e\ud800]]>\U0001f600\r\n"
    path = write("c.json", json.dumps([{"id": text, "prompt": text, "label": "safe"}]))
    (prompt,) = load_corpus(path)
    assert prompt.id == prompt.text == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", ["1: the file is empty; JSON here is a list of prompts"], id="empty"),
        pytest.param("[]", ["1: the file has no prompts"], id="no-prompts"),
        pytest.param(
            "\n3", ['2: JSON here is a list of prompts, or {"defaults": {}, "prompts": []}'], id="3"
        ),
        pytest.param(
            '[{"prompt": "x", "label": "safe"}\n{}]',
            ['2: this is not JSON: expected "," or "]", found "{"'],
            id="comma",
        ),
        pytest.param(
            '[{"prompt": "x", "label": "safe"}',
            ['1: this is not JSON: expected "," or "]", found the end of the file'],
            id="unclosed",
        ),
        pytest.param(
            '[{"prompt": "x", "label": "safe"}] []',
            ['1: this is not JSON: expected the end of the file, found "["'],
            id="more",
        ),
        pytest.param(
            '[{"prompt":\n\n tru}]',
            ["3: this is not JSON: Expecting value (column 2)"],
            id="value",
        ),
        pytest.param(
            '{"defaults": {}, "prompt": []}',
            [
                (
                    '1: unknown key "prompt"; allowed are "defaults" and "prompts"; did you mean '
                    '"prompts"?'
                )
            ],
            id="key",
        ),
        *(
            pytest.param(
                f'{{"prmpts": [{held}]}}',
                [
                    '1: the document must be a list of prompts, {"defaults": {}, "prompts": []}, or'
                    ' a list for each column; it has "prmpts"; did you mean "prompts"? Where the'
                    " list stands elsewhere, say so in pyproject.toml, under"
                    ' [[tool.pytest-refusal.corpora]], as records = "a.b"'
                ],
                id=f"misspelt-{name}",
            )
            for name, held in (("empty", ""), ("filled", '{"prompt": "x", "label": "safe"}'))
        ),
        pytest.param(
            '{"prompts": {},\n "defaults": []}',
            ['1: "prompts" must be a list', '2: "defaults" must be an object'],
            id="types",
        ),
        pytest.param(
            '{"prompts": [], "prompts": []}',
            ['1: the key "prompts" stands twice in one object'],
            id="twice",
        ),
        pytest.param(
            "{1: 2}",
            ['1: this is not JSON: expected a key in double quotes, found "1"'],
            id="number-as-key",
        ),
        pytest.param(
            "[1, []]",
            [
                "1: a prompt is an object of fields, or a text, and this is 1",
                "1: a prompt is an object of fields, or a text, and this is a list",
            ],
            id="no-objects",
        ),
        pytest.param("[" * 200_000, ["1: lists or objects are nested too deeply"], id="deep-list"),
        pytest.param(
            '[{"prompt": ' + '{"a":' * 200_000,
            ["1: lists or objects are nested too deeply"],
            id="deep-object",
        ),
        pytest.param(
            '[{"prompt": "x", "label": "safe", "severity": ' + "9" * 5000 + "}]",
            ["1: a number has too many digits"],
            id="too-many-digits",
        ),
        pytest.param(
            '[{"prompt": "x", "label": "safe", "severity": ' + "9" * 4000 + "}]",
            ["1: the severity is a very large number; it must be a whole number from 1 to 5"],
            id="large-number",
        ),
        pytest.param(
            '[{"prompt": "x", "label": "safe", "severity": -Infinity}]',
            ["1: -Infinity is no value in JSON"],
            id="infinity",
        ),
        pytest.param(
            '[{"prompt": "x", "label": "safe", "label": "unsafe"}]',
            ['1: the key "label" stands twice in one object'],
            id="label-twice",
        ),
    ],
)
def test_a_fault(faults_of: FaultsOf, text: str, expected: list[str]) -> None:
    assert faults_of(("c.json", text)) == tuple(f"c.json:{fault}" for fault in expected)


def test_each_bad_line_of_jsonl_is_a_fault(faults_of: FaultsOf) -> None:
    text = b"\n".join(
        [
            b'{"prompt": "x", "label": "safe"}',
            b'{"prompt": NaN}',
            b'{"prompt": "\xff", "label": "safe"}',
            b"[" * 100_000,
            b'{"prompt": "y", "label": "safe"} {}',
            b"7",
            b'{"prompt": "z", "label": "safe"',
        ]
    )
    assert faults_of(("c.jsonl", text)) == (
        "c.jsonl:2: NaN is no value in JSON",
        (
            "c.jsonl:3: this line is not in UTF-8; save the file as UTF-8, or say what it is in "
            'pyproject.toml, under [[tool.pytest-refusal.corpora]], as encoding = "latin-1"'
        ),
        "c.jsonl:4: lists or objects are nested too deeply",
        'c.jsonl:5: a line holds one object, and "{" follows it',
        "c.jsonl:6: a prompt is an object of fields, or a text, and this is 7",
        "c.jsonl:7: this is not JSON: Expecting ',' delimiter (column 32)",
    )


def test_a_sign_that_only_python_takes_for_white_space_follows(faults_of: FaultsOf) -> None:
    assert faults_of(("c.jsonl", '{"prompt": "x"}\f\n')) == (
        'c.jsonl:1: a line holds one object, and "\\x0c" follows it',
    )


@settings(max_examples=40)
@given(
    st.lists(st.dictionaries(st.text(), st.text() | st.integers() | st.lists(st.text()))),
    st.sampled_from([None, 0, 3]),
)
def test_objects_come_back_at_their_lines(
    objects: list[dict[str, object]],
    indent: int | None,
) -> None:
    text = json.dumps(objects, indent=indent)
    rows = [row for row in read_json(source(text), Dialect()).rows if isinstance(row, Row)]
    assert [row.fields for row in rows] == objects
    if indent is not None:
        begins = [
            n
            for n, line in enumerate(text.split("\n"), 1)
            if line.strip()[:1] == "{" and len(line) - len(line.lstrip()) == indent
        ]
        assert [row.line for row in rows] == begins


@given(st.text() | st.binary())
def test_anything_is_rows_or_a_fault(content: str | bytes) -> None:
    for read in (read_json, read_jsonl):
        with contextlib.suppress(UnreadableError):
            list(read(source(content), Dialect()).rows)


def source(content: str | bytes) -> Source:
    raw = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
    return Source(BufferedReader(BytesIO(raw)))
