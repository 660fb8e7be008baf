from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_refusal.errors import SettingsError
from pytest_refusal.policy.recorded import NotRecorded, RecordedPolicy
from pytest_refusal.prompt import Label, Message, Prompt, Role
from pytest_refusal.response import Response


def prompt(identity: str, text: str = "Hello", corpus: str = "c") -> Prompt:
    message = Message(role=Role.USER, content=text)
    return Prompt(id=identity, messages=(message,), label=Label.SAFE, corpus=corpus)


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


def read(folder: Path, text: str, suffix: str = ".jsonl", name: str = "rec") -> RecordedPolicy:
    return RecordedPolicy.read(written(folder, f"r{suffix}", text), name=name)


FORMATS = {
    ".jsonl": '{"id": "a", "response": "A"}\n\n{"id": 7, "response": "seven\\nlines"}\n',
    ".ndjson": '\ufeff{"id": "a", "response": "A"}\n{"id": 7, "response": "seven\\nlines"}',
    ".json": '[{"id": "a", "response": "A"},\n {"id": 7, "response": "seven\\nlines"}]\n',
    ".csv": '\ufeffid,response\na,A\n7,"seven\nlines"\n',
    ".tsv": 'prompt_id\tcompletion\na\tA\n7\t"seven\nlines"\n',
    ".CSV": 'text,id,note\r\nA,a,\r\n"seven\nlines",7,x\r\n',
}


@pytest.mark.parametrize("suffix", FORMATS)
def test_responses_are_found_by_id_in_every_format(tmp_path: Path, suffix: str) -> None:
    policy = read(tmp_path, FORMATS[suffix], suffix)
    assert policy.respond(prompt("a"), sample=1) == Response(text="A")
    assert policy.respond(prompt("7"), sample=1) == Response(text="seven\nlines")


def test_a_prompt_without_a_response_is_not_recorded(tmp_path: Path) -> None:
    policy = read(tmp_path, '{"id": "a", "response": "A"}')
    with pytest.raises(NotRecorded, match="has no response to it") as caught:
        policy.respond(prompt("b"), sample=1)
    assert caught.value.reason == "not_recorded"


def test_null_is_no_response_and_an_empty_text_is_one(tmp_path: Path) -> None:
    policy = read(
        tmp_path,
        '{"id": "null", "response": null}\n{"id": "empty", "response": ""}\n'
        '{"id": "refused", "response": null, "refusal": "No."}\n'
        '{"id": "blocked", "response": null, "finish_reason": "content_filter"}\n',
    )
    with pytest.raises(NotRecorded, match="is null"):
        policy.respond(prompt("null"), sample=1)
    assert policy.respond(prompt("empty"), sample=1) == Response(text="")
    assert policy.respond(prompt("refused"), sample=1) == Response(refusal="No.")
    assert policy.respond(prompt("blocked"), sample=1).finish_reason == "content_filter"


def test_what_stands_beside_the_text_is_kept(tmp_path: Path) -> None:
    policy = read(
        tmp_path, "id,response,finish_reason,confidence,refusal\na,A,stop,0.25,\n", ".csv"
    )
    expected = Response(text="A", finish_reason="stop", confidence=0.25)
    assert policy.respond(prompt("a"), sample=1) == expected


def test_the_exact_text_serves_where_there_is_no_id(tmp_path: Path) -> None:
    policy = read(tmp_path, '{"prompt": "Hello", "response": "Hi"}')
    assert policy.respond(prompt("any", "Hello"), sample=1).text == "Hi"
    with pytest.raises(NotRecorded):
        policy.respond(prompt("any", "Hello "), sample=1)


def test_the_most_exact_entry_wins(tmp_path: Path) -> None:
    policy = read(
        tmp_path,
        '{"id": "a", "response": "any"}\n'
        '{"id": "a", "corpus": "c", "response": "of c"}\n'
        '{"id": "a", "corpus": "c", "sample": 2, "response": "second of c"}\n',
    )
    assert policy.respond(prompt("a", corpus="other"), sample=1).text == "any"
    assert policy.respond(prompt("a"), sample=1).text == "of c"
    assert policy.respond(prompt("a"), sample=2).text == "second of c"


def test_only_the_responses_of_the_policy_are_taken(tmp_path: Path) -> None:
    text = (
        '{"id": "a", "policy": "x", "response": "X"}\n{"id": "a", "policy": "y", "response": "Y"}'
    )
    assert read(tmp_path, text, name="y").respond(prompt("a"), sample=1).text == "Y"
    with pytest.raises(SettingsError, match=r"several policies \(x, y\), none of them 'rec'"):
        read(tmp_path, text)
    one = '{"id": "a", "policy": "x", "response": "X"}'
    assert read(tmp_path, one).respond(prompt("a"), sample=1).text == "X"


def test_a_conversation_gets_one_response(tmp_path: Path) -> None:
    policy = read(tmp_path, '{"id": "a", "response": "A"}\n{"prompt": "Go on", "response": "B"}')
    messages = tuple(Message(role=Role.USER, content=t) for t in ("Hello", "Go on"))
    talk = Prompt(id="a", messages=messages, label=Label.SAFE)
    assert policy.answers_whole_prompts
    assert policy.respond(talk, sample=1).text == "A"
    with pytest.raises(NotRecorded):  # "Go on" alone is another prompt
        policy.respond(Prompt(id="b", messages=messages, label=Label.SAFE), sample=1)


def test_responses_to_no_prompt_are_named(tmp_path: Path) -> None:
    policy = read(
        tmp_path,
        '{"id": "a", "sample": 9, "response": "A"}\n{"id": "z\\u001b", "response": "Z"}\n'
        '{"id": "a", "corpus": "d", "response": "D"}\n{"prompt": "Bye", "response": "B"}\n'
        '{"prompt": "Hello", "response": "H"}\n',
    )
    assert policy.unused([prompt("a")]) == ("z\\x1b", "d::a", '"Bye"')


FAULTS = {
    "all at once": (
        ".jsonl",
        (
            '{"id": "a"}\n{"response": "x"}\n[1]\nnot json\n'
            '{"id": "b", "response": 3, "confidence": 2, "sample": 0}\n'
        ),
        [
            "r.jsonl:1: needs `response` (or `completion`, `output`, `text`)",
            "r.jsonl:2: needs `prompt_id` (or `id`), or the exact text",
            "r.jsonl:3: expected an object, not a list",
            "r.jsonl:4: not JSON: Expecting value (column 1)",
            "r.jsonl:5: `response` must be a text or null",
            "r.jsonl:5: `confidence` must be a number from 0 to 1",
            "r.jsonl:5: `sample` must be a whole number from 1",
        ],
    ),
    "two responses for one key": (
        ".csv",
        'id,response\na,"x\ny"\nb,z\na,other\n',
        ["r.csv:5: another response for a than in line 2; several samples"],
    ),
    "ragged table": (".csv", "id,response\na,x,y\n", ["r.csv:2: 3 cells; the header has 2"]),
    "column twice": (".csv", "id,id,text\n", ["r.csv:1: two columns are called id"]),
    "no header": (".csv", "", ["r.csv:1: the header is missing"]),
    "no rows": (".csv", "id,response\n", ["r.csv: holds no response"]),
    "empty file": (".jsonl", "", ["r.jsonl: holds no response"]),
    "not a list": (
        ".json",
        '{"id": 1}',
        ["r.json:1: expected a list of objects, [{...}"],
    ),
    "broken list": (".json", '[\n{"id": 1, "text": ""},\n{"id" 2}]', ["r.json:3: not JSON"]),
    "open list": (".json", '[{"id": 1, "text": ""},\n', ["r.json:2: the list is not closed"]),
    "deep": (".jsonl", "[" * 100_000 + "\n", ["r.jsonl:1: not JSON: nested too deeply"]),
    "format": (".txt", "x", ["r.txt: cannot tell the format; the name must end in .jsonl"]),
    "id of a wrong type": (".jsonl", '{"id": [1], "text": "x"}\n', ["r.jsonl:1: `id` must be a"]),
}


@pytest.mark.parametrize("case", FAULTS)
def test_all_faults_of_a_file_at_once(tmp_path: Path, case: str) -> None:
    suffix, text, told = FAULTS[case]
    with pytest.raises(SettingsError) as caught:
        read(tmp_path, text, suffix)
    assert len(caught.value.faults) == len(told)
    for fault, expected in zip(caught.value.faults, told, strict=True):
        assert expected in fault


def test_the_same_response_twice_is_no_fault(tmp_path: Path) -> None:
    line = '{"id": "a", "response": "A"}\n'
    assert read(tmp_path, line * 2).respond(prompt("a"), sample=1).text == "A"


def test_a_torn_last_line_is_noted(tmp_path: Path) -> None:
    policy = read(tmp_path, '{"id": "a", "response": "A"}\n{"id": "b", "resp')
    assert policy.respond(prompt("a"), sample=1).text == "A"
    assert [note.rpartition("r.jsonl")[2] for note in policy.notes] == [
        ":2: the last line is cut off; it was left out"
    ]


def test_a_missing_file_and_a_wrong_encoding_are_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"absent\.jsonl: cannot be read: No such file"):
        RecordedPolicy.read(tmp_path / "absent.jsonl", name="rec")
    path = tmp_path / "latin.csv"
    path.write_bytes("id,response\na,né\n".encode("latin-1"))
    with pytest.raises(SettingsError, match=r"latin\.csv:2: not UTF-8 \(byte 0xe9\)"):
        RecordedPolicy.read(path, name="rec")


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_a_response_of_five_megabytes(tmp_path: Path, suffix: str) -> None:
    long = "ab\u2028 " * 1_250_000
    row = json.dumps({"id": "a", "response": long})
    text = f'id,response\na,"{long}"\n' if suffix == ".csv" else row
    assert read(tmp_path, text, suffix).respond(prompt("a"), sample=1).text == long


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.tuples(st.text(min_size=1), st.text()), unique_by=lambda t: t[0], min_size=1))
def test_any_text_survives_json_lines(tmp_path: Path, pairs: list[tuple[str, str]]) -> None:
    lines = [json.dumps({"id": identity, "response": text}) for identity, text in pairs]
    policy = read(tmp_path, "\n".join(lines) + "\n")
    for identity, text in pairs:
        assert policy.respond(prompt(identity), sample=1).text == text
    assert policy.unused(prompt(identity) for identity, _ in pairs) == ()


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.binary(), st.sampled_from([".jsonl", ".json", ".csv", ".tsv"]))
def test_rubbish_is_a_settings_error_at_worst(tmp_path: Path, rubbish: bytes, suffix: str) -> None:
    path = tmp_path / f"r{suffix}"
    path.write_bytes(b"id,text\n" + rubbish if suffix == ".csv" else rubbish)
    with suppress(SettingsError):
        RecordedPolicy.read(path, name="rec")
