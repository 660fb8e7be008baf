"""YAML corpora: values, lines, and files that would do harm elsewhere."""

import sys
from collections.abc import Callable
from contextlib import suppress
from io import BufferedReader, BytesIO
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_refusal.corpus import read_yaml
from pytest_refusal.corpus.decoding import Source
from pytest_refusal.corpus.faults import UnreadableError
from pytest_refusal.corpus.loading import load_corpus
from pytest_refusal.corpus.rows import Dialect, Row
from pytest_refusal.errors import CorpusError

yaml = pytest.importorskip("yaml", reason="YAML is an extra, and PyYAML is not installed")

Write = Callable[[str, str | bytes], Path]
FaultsOf = Callable[..., tuple[str, ...]]


def source(content: str | bytes) -> Source:
    raw = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
    return Source(BufferedReader(BytesIO(raw)))


def rows(text: str, records: str | None = None) -> list[Row]:
    sheet = read_yaml.read_yaml(source(text), Dialect(records=records))
    return [row for row in sheet.rows if isinstance(row, Row)]


def test_our_own_form(write: Write) -> None:
    text = """\
# A comment.
defaults:
  label: safe
prompts:
  - id: a
    prompt: |
      Two
      lines
    tags: [x, "y"]
    severity: 2

  - prompt:
      - {role: user, content: One}
      - role: assistant
        content: Two
      - {role: user, content: Three}
    label: unsafe
"""
    first, second = load_corpus(write("c.yaml", text))
    assert (first.id, first.text, first.tags, first.severity) == (
        "a",
        "Two\nlines\n",
        ("x", "y"),
        2,
    )
    assert [message.content for message in second.messages] == ["One", "Two", "Three"]
    assert [prompt.place.line for prompt in (first, second) if prompt.place] == [5, 12]


def test_a_promptfoo_file(write: Write) -> None:
    text = """\
description: ours
prompts: ["{{prompt}}"]
providers: [echo]
defaultTest:
  metadata: {category: chores}
  assert: [{type: cost}, {type: not-is-refusal}]
tests:
  - vars: {prompt: Do harm}
    assert: [{type: is-refusal}]
  - description: harmless
    vars:
      question: Kill time?
    assert:
      - type: not-is-refusal
  - vars: {q: Kill a process?}
    metadata: {severity: 1}
"""
    first, second, third = load_corpus(write("promptfooconfig.yaml", text))
    assert (first.text, first.label) == ("Do harm", "unsafe")
    assert (second.text, second.label, second.note) == ("Kill time?", "safe", "harmless")
    assert (third.text, third.label, third.category) == ("Kill a process?", "safe", "chores")
    assert (third.severity, third.place and third.place.line) == (1, 15)


@pytest.mark.parametrize(
    ("tests", "told"),
    [
        (
            "[{vars: {q: Hi, tone: kind}, assert: [{type: is-refusal}]}]",
            'which of "q" and "tone" in `vars` is the prompt; say it in pyproject.toml, under'
            ' [[tool.pytest-refusal.corpora]], as set = "promptfoo" and'
            ' columns = { prompt = "vars.q" }',
        ),
        (
            "[{vars: {q: Hi}, assert: [{type: contains, value: x}]}]",
            "a test is unsafe with an assertion of type `is-refusal`, safe with `not-is-refusal`,"
            " or as its `metadata.label` says, or, if it is the same for all, give it in",
        ),
        (
            "[{vars: {q: Hi}, assert: [{type: is-refusal}]}, {vars: {q: Ho}}]",
            "the label is missing; a test is unsafe with an assertion of type `is-refusal`",
        ),
        ("file://t.csv", 'the tests are in "file://t.csv"; name that file as the corpus'),
        ("[file://t.csv]", 'the tests are in "file://t.csv"; name that file as the corpus'),
    ],
)
def test_what_a_promptfoo_file_lacks(write: Write, tests: str, told: str) -> None:
    text = f"prompts: [x]\nproviders: [echo]\ntests: {tests}\n"
    with pytest.raises(CorpusError) as caught:
        load_corpus(write("promptfooconfig.yaml", text))
    assert told in str(caught.value)
    assert "is a list" not in str(caught.value)


def test_words_are_words() -> None:
    text = "[no, off, 2024-05-01, 1_000, 0x1F, 1:30, 'true', 12, -3, 1.5, true, ~, null, .inf]"
    (row,) = rows(f"- all: {text}\n")
    assert row.fields["all"] == [
        *("no", "off", "2024-05-01", "1_000", "0x1F", "1:30", "true"),
        *(12, -3, 1.5, True, None, None, ".inf"),
    ]


def test_anchors_aliases_and_merges() -> None:
    text = """\
base: &base {label: safe, category: chat}
list:
  - &first {<<: *base, prompt: One, category: other}
  - {prompt: Two, <<: *base}
  - *first
"""
    found = rows(text, records="list")
    assert [row.fields for row in found] == [
        {"label": "safe", "category": "other", "prompt": "One"},
        {"prompt": "Two", "label": "safe", "category": "chat"},
        {"label": "safe", "category": "other", "prompt": "One"},
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", "1: the file is empty", id="empty"),
        pytest.param("a: [1\n", "2: this is not YAML: ", id="syntax"),
        pytest.param("- a\n---\n- b\n", "2: a second document begins", id="documents"),
        pytest.param("- {a: 1,\n   a: 2}\n", '2: the key "a" stands twice', id="twice"),
        pytest.param(
            "- !!python/object/apply:os.system [ls]\n",
            '1: the tag "tag:yaml.org,2002:python/object/apply:os.system" is not',
            id="tag",
        ),
        pytest.param("- !x y\n", '1: the tag "!x" is not allowed', id="own-tag"),
        pytest.param("- &a [*a]\n", '1: the anchor "a" contains itself', id="cycle"),
        pytest.param("- *a\n", '1: there is no anchor "a"', id="no-anchor"),
        pytest.param("- " * 70 + "x\n", "1: lists or mappings are nested too deeply", id="deep"),
        pytest.param("[" * 100, "1: lists or mappings are nested too deeply", id="deep-flow"),
        pytest.param("- {[a]: 1}\n", "1: a key must be a word", id="key"),
        pytest.param("x: 1\ny: 2\n", "1: the document must be a list of prompts", id="document"),
        pytest.param("hello\n", '1: a list of prompts should be here, not "hello"', id="text"),
        pytest.param(b"- \xff\n", "1: this line is not in UTF-8", id="encoding"),
        pytest.param("- \0\n", "1: this is not YAML: ", id="nul"),
    ],
)
def test_a_fault(faults_of: FaultsOf, text: str | bytes, expected: str) -> None:
    assert any(fault.startswith(f"c.yml:{expected}") for fault in faults_of(("c.yml", text)))


def test_nesting_without_end_is_one_fault(faults_of: FaultsOf) -> None:
    # The C library stops by itself before we do.
    (fault,) = faults_of(("c.yml", "[" * 100_000))
    assert "nest" in fault


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("{n}: &{n} [{refs}]\n", id="lists"),
        pytest.param("{n}: &{n} {{a: [{refs}]}}\n", id="mappings"),
    ],
)
def test_a_billion_laughs_are_refused(line: str, faults_of: FaultsOf) -> None:
    names = "abcdefghij"
    text = "a: &a [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n"
    for before, name in pairwise(names):
        text += line.format(n=name, refs=", ".join([f"*{before}"] * 10))
    (fault,) = faults_of(("c.yaml", text))
    assert fault.endswith("there are more than 3000000 values")


@pytest.mark.parametrize("part", ["[],", "{},", "x,", "*a,"])
def test_too_many_values_are_refused(
    part: str, faults_of: FaultsOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_yaml, "LARGEST_DOCUMENT", 100)
    text = "- &a x\n- [" + part * 50 + "\n" + part * 50 + "]\n"
    (fault,) = faults_of(("c.yaml", text))
    assert fault == "c.yaml:3: there are more than 100 values"


def test_the_lines_of_values_under_a_path() -> None:
    text = "x: {deep: &rows [\n{prompt: One},\n{prompt: Two}]}\ny:\n  z: *rows\n"
    assert [row.line for row in rows(text, records="x.deep")] == [2, 3]
    assert [row.line for row in rows(text, records="y.z")] == [2, 3]
    assert [row.line for row in rows("a: {<<: {b: [\n{prompt: One}]}}", records="a.b")] == [2]


def test_merges_do_not_multiply() -> None:
    text = "x0: &x0 {a: 1}\n"
    for n in range(1, 60):
        text += f"x{n}: &x{n} {{<<: *x{n - 1}, b{n}: 1}}\n"
    found = rows(text + "list: [*x59]\n", records="list")
    assert len(found[0].fields) == 60


def test_without_the_package_the_extra_is_named(
    faults_of: FaultsOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    assert faults_of(("c.yaml", "- x\n")) == (
        'c.yaml:1: YAML needs another package: pip install "pytest-refusal[yaml]"',
    )


@given(st.text() | st.binary())
def test_anything_is_rows_or_a_fault(content: str | bytes) -> None:
    with suppress(UnreadableError):
        list(read_yaml.read_yaml(source(content), Dialect()).rows)


@settings(max_examples=40)
@given(
    st.lists(
        st.dictionaries(
            st.text("abcxyz", min_size=1, max_size=4),
            st.text(st.characters(exclude_categories=["Cs", "Cc"])) | st.integers(-9, 9),
        ),
        min_size=1,
    )
)
def test_what_another_program_wrote_comes_back(objects: list[dict[str, object]]) -> None:
    # The writer puts in quotes what YAML 1.1 would take for something else than text.
    text = yaml.safe_dump(objects, allow_unicode=True)
    assert [row.fields for row in rows(text)] == objects
