"""What is checked of every prompt, whatever the format."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_refusal.corpus.loading import load_files
from pytest_refusal.corpus.sources import find_corpora
from pytest_refusal.corpus.tables import parse_corpus_tables
from pytest_refusal.prompt import Message, Role, conversation_sha256

Write = Callable[[str, str | bytes], Path]
FaultsOf = Callable[..., tuple[str, ...]]

LABELS = 'allowed are "safe" and "unsafe"'
FIELDS = (
    '"id", "prompt", "label", "category", "severity", "source", "tags", "note", "taxonomy", '
    '"pair" and "language"'
)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({"prompt": None}, "the prompt is missing; `prompt` is a text, or", id="none"),
        pytest.param({"prompt": ""}, "the prompt is empty", id="empty"),
        pytest.param({"prompt": " \n"}, "the prompt is empty", id="white"),
        pytest.param({"prompt": []}, "the prompt is an empty list", id="no-messages"),
        pytest.param({"prompt": 3}, "the prompt is 3; it must be a text, or a list", id="number"),
        pytest.param({"prompt": {}}, "the prompt is a table; it must be a text, or", id="object"),
        pytest.param({"prompt": ["x"]}, 'message 1 is "x"; it must have a role and', id="text"),
        pytest.param(
            {"prompt": [{"role": "user"}]}, "the content of message 1 is missing", id="no-content"
        ),
        pytest.param(
            {"prompt": [{"role": "user", "content": [1]}]},
            "the content of message 1 is a list; it must be text",
            id="content-type",
        ),
        pytest.param(
            {"prompt": [{"role": "user", "content": " "}]},
            "the content of message 1 is empty",
            id="empty-content",
        ),
        pytest.param(
            {"prompt": [{"role": "User", "content": "x"}]},
            'the role of message 1 is "User"; allowed are "system", "user" and "assistant"; '
            'did you mean "user"?',
            id="role",
        ),
        pytest.param(
            {"prompt": [{"content": "x"}]},
            'the role of message 1 is missing; allowed are "system", "user" and "assistant"',
            id="no-role",
        ),
        pytest.param(
            {"prompt": [{"role": ["user"], "content": "x"}]},
            "the role of message 1 is a list; allowed are",
            id="role-type",
        ),
        pytest.param(
            {"prompt": [{"role": "user", "content": "x", "name": "Ann"}]},
            'unknown field "name"; allowed are "role" and "content"',
            id="message-field",
        ),
        pytest.param(
            {"prompt": [{"role": "system", "content": "x"}]},
            'the conversation has no message with role "user"',
            id="no-user",
        ),
        pytest.param(
            {"label": "Unsafe"},
            f'the label is "Unsafe"; {LABELS}; did you mean "unsafe"?',
            id="label-case",
        ),
        pytest.param({"label": "harmful"}, f'the label is "harmful"; {LABELS}', id="label"),
        pytest.param({"label": ""}, f'the label is ""; {LABELS}', id="label-empty"),
        pytest.param({"label": True}, f"the label is true; {LABELS}", id="label-type"),
        pytest.param({"label": []}, f"the label is a list; {LABELS}", id="label-list"),
        pytest.param({"category": ""}, "the category is empty; leave it out", id="category"),
        pytest.param({"category": 3}, "the category is 3; it must be text", id="category-type"),
        pytest.param({"id": 1}, "the id is 1; it must be text", id="id-type"),
        pytest.param({"id": ""}, "the id is empty; leave it out", id="id-empty"),
        *(
            pytest.param(
                {"severity": value},
                f"the severity is {shown}; it must be a whole number from 1 to 5",
                id=f"severity-{shown}",
            )
            for value, shown in [
                (0, "0"),
                (6, "6"),
                (-1, "-1"),
                (2.0, "2.0"),
                (True, "true"),
                ("3", '"3"'),
                (10**30, "a very large number"),
            ]
        ),
        pytest.param({"tags": "a"}, 'the tags are "a"; they must be a list of texts', id="tags"),
        pytest.param(
            {"tags": ["a", 1]},
            "the tags are a list with other values; they must be a list of texts",
            id="tag-types",
        ),
        pytest.param({"language": ["en"]}, "the language is a list; it must be", id="language"),
        pytest.param({"pair": 1.5}, "the pair is 1.5; it must be text", id="pair"),
        pytest.param(
            {"catgory": "x"},
            f'unknown field "catgory"; allowed are {FIELDS}; did you mean "category"?',
            id="unknown",
        ),
        pytest.param(
            {"\x1b[2J\u202e": "x"},
            f'unknown field "\\x1b[2J\\u202e"; allowed are {FIELDS}',
            id="hostile-name",
        ),
        pytest.param(
            {"label": "x" * 1_000_000}, f'the label is "{"x" * 57}..."; {LABELS}', id="long-value"
        ),
    ],
)
def test_a_fault(faults_of: FaultsOf, fields: dict[str, object], expected: str) -> None:
    prompt: dict[str, object] = {"id": "a", "prompt": "Hello", "label": "safe"} | fields
    lines = [json.dumps({"prompt": "Fine", "label": "safe"}), json.dumps(prompt)]
    (fault,) = faults_of(("c.jsonl", "\n".join(lines)))
    assert fault.startswith(f"c.jsonl:2: {expected}")


def test_all_faults_of_all_files_come_at_once(faults_of: FaultsOf) -> None:
    faults = faults_of(
        ("b.jsonl", '{"label": "maybe"}\n{"prompt": "x", "label": "safe", "severity": 9}\n'),
        ("a.csv", "prompt,label\nx,unsafe\n,safe\n"),
        ("c.toml", "=\n"),
    )
    assert [fault.split(" ")[0] for fault in faults] == [
        "a.csv:3:",
        "b.jsonl:1:",
        "b.jsonl:1:",
        "b.jsonl:2:",
        "c.toml:1:",
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param(
            "c.jsonl",
            '{"id": "a", "prompt": "x", "label": "safe"}\n'
            '{"id": "a", "prompt": "y", "label": "safe"}\n',
            id="two-lines",
        ),
        pytest.param(
            "c.json",
            '\n[{"id": "a", "prompt": "x", "label": "safe"},'
            '{"id": "a", "prompt": "y", "label": "safe"}]',
            id="one-line",
        ),
    ],
)
def test_an_id_stands_once_in_a_file(faults_of: FaultsOf, name: str, text: str) -> None:
    (fault,) = faults_of((name, text))
    first = 1 if name == "c.jsonl" else 2
    assert fault == f'{name}:2: the id "a" is already used at line {first}'


def test_two_files_may_use_the_same_id(tmp_path: Path, write: Write) -> None:
    for name in ("a", "b"):
        write(f"{name}.jsonl", json.dumps({"id": "1", "prompt": name, "label": "safe"}))
    prompts = load_files(find_corpora(["."], base=tmp_path))
    assert [(prompt.corpus, prompt.id) for prompt in prompts] == [
        ("a.jsonl", "1"),
        ("b.jsonl", "1"),
    ]


def test_a_file_without_labels_is_one_fault_with_advice(faults_of: FaultsOf) -> None:
    line = '{"prompt": "%d"}\n'
    (fault,) = faults_of(("c.jsonl", "".join(line % n for n in range(100))))
    assert fault == (
        'c.jsonl:1: no prompt of this file has a label, "safe" or "unsafe"; if it is the same for '
        'all, give it once, {"defaults": {"label": "unsafe"}, "prompts": [...]}, as JSON'
    )
    (fault,) = faults_of(("c.toml", '\n[[prompt]]\nprompt = "x"\n'))
    assert fault.endswith('give it once, label = "unsafe" under [defaults]')


ANY_TEXT = st.text(st.characters(exclude_categories=[]))  # lone surrogates and all


@given(st.lists(st.tuples(st.sampled_from(Role), ANY_TEXT)))
def test_the_hash_of_a_conversation_is_that_of_its_json(said: list[tuple[Role, str]]) -> None:
    messages = [Message(role=role, content=content) for role, content in said]
    written = json.dumps([[role.value, content] for role, content in said])
    assert conversation_sha256(messages) == hashlib.sha256(written.encode()).hexdigest()


def test_many_prompts_may_say_the_same(write: Write) -> None:
    path = write("c.csv", "prompt,label\n" + "Hi,safe\n" * 30_000)
    (file,) = find_corpora([path.name], base=path.parent)
    started = process_time()
    prompts = load_files([file])
    # In time of the square of their number this takes minutes.
    assert process_time() - started < 20
    base = prompts[0].id
    assert [prompt.id for prompt in prompts[1:]] == [f"{base}-{n}" for n in range(2, 30_001)]


@pytest.mark.parametrize(
    ("name", "text", "named", "likely"),
    [
        pytest.param(
            "c.jsonl",
            '{"id": 1, "messages": [{"role": "user", "content": "Hi"}], "label": "safe"}\n' * 9,
            '"id", "messages" and "label"',
            "messages",
            id="messages",
        ),
        pytest.param(
            "c.json",
            '[{"is_harmful": true, "user_prompt_text": "Hi"}]',
            '"is_harmful" and "user_prompt_text"',
            "user_prompt_text",
            id="nearly",
        ),
        pytest.param("c.yaml", "- {a: Hi, b: x}\n", '"a" and "b"', "a", id="no-idea"),
    ],
)
def test_other_fields_than_ours_are_one_fault_that_says_how_to_map(
    faults_of: FaultsOf, name: str, text: str, named: str, likely: str
) -> None:
    if name.endswith("yaml"):
        pytest.importorskip("yaml", reason="YAML is an extra, and PyYAML is not installed")
    assert faults_of((name, text)) == (
        f'{name}:1: no prompt of this file has the field "prompt"; the fields are {named}. Say'
        " which is which in pyproject.toml, under [[tool.pytest-refusal.corpora]], as"
        f' columns = {{ prompt = "{likely}" }}',
    )


def test_a_text_has_no_column_for_a_label(faults_of: FaultsOf) -> None:
    assert faults_of(("c.txt", "Hi\n")) == (
        'c.txt:1: no prompt of this file has a label, "safe" or "unsafe"; give it in'
        " pyproject.toml, under [[tool.pytest-refusal.corpora]] with path ="
        ' "c.txt" and label = "unsafe"',
    )


@pytest.mark.parametrize(
    ("row", "hint"),
    [
        pytest.param(
            '"label": "harmful"', 'mapped as labels = { "harmful" = "unsafe" }', id="label"
        ),
        pytest.param('"label": 1', 'mapped as labels = { "1" = "unsafe" }', id="number"),
        pytest.param(
            '"label": "safe", "toxicity": 1',
            'as columns = { prompt = "prompt", label = ',
            id="field",
        ),
    ],
)
def test_what_other_programs_write_is_said_to_be_mapped(
    faults_of: FaultsOf, row: str, hint: str
) -> None:
    (fault,) = faults_of(("c.jsonl", f'{{"prompt": "Hi", {row}}}\n'))
    assert hint in fault


def test_the_mapping_that_is_advised_works(write: Write, tmp_path: Path) -> None:
    write("c.jsonl", '{"id": 7, "prompt": "Hi", "label": 1, "category": "x", "score": 0.5}\n')
    columns = {"prompt": "prompt", "label": "label"}
    tables, faults = parse_corpus_tables(
        [{"path": "c.jsonl", "columns": columns, "labels": {"1": "unsafe"}}]
    )
    assert faults == []
    (prompt,) = load_files(find_corpora(["c.jsonl"], base=tmp_path, tables=tables))
    assert (prompt.id, prompt.label, prompt.category) == ("7", "unsafe", "x")
