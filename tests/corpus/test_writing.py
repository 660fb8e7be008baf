"""What is written comes back."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_refusal.corpus.loading import load_corpus
from pytest_refusal.corpus.plain import plain_fields
from pytest_refusal.corpus.to_jsonl import to_jsonl
from pytest_refusal.corpus.to_toml import to_toml
from pytest_refusal.errors import CorpusError
from pytest_refusal.prompt import Label, Message, Prompt, Role

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(
    lambda text: not text.isspace()
)
MESSAGES = st.lists(
    st.builds(Message, role=st.sampled_from(Role), content=TEXT), min_size=1, max_size=3
).filter(lambda messages: any(message.role is Role.USER for message in messages))
PROMPT = st.builds(
    Prompt,
    id=TEXT,
    messages=MESSAGES.map(tuple),
    label=st.just(Label.SAFE),  # the same text must not have opposite labels
    category=TEXT,
    severity=st.none() | st.integers(1, 5),
    source=st.none() | TEXT,
    tags=st.lists(TEXT).map(tuple),
    note=st.none() | TEXT,
    taxonomy=st.none() | TEXT,
    pair=st.none() | TEXT,
    language=st.none() | st.just("en"),
)
PROMPTS = st.lists(PROMPT, min_size=1, max_size=3, unique_by=lambda prompt: prompt.id)


def simple(text: str) -> Prompt:
    return Prompt(
        id="a", messages=(Message(role=Role.USER, content=text),), label=Label.SAFE, category="c"
    )


@pytest.mark.parametrize(("name", "writer"), [("c.toml", to_toml), ("c.jsonl", to_jsonl)])
@settings(max_examples=60, deadline=None)
@given(prompts=PROMPTS)
@example(prompts=[simple('"""\n"')])
@example(prompts=[simple("\r\n\t\x7f\x00\\u0041 ' ''' \u2028\x85")])
@example(prompts=[simple("\n\n first line is empty\\\n   \\")])
def test_prompts_come_back(
    tmp_path_factory: pytest.TempPathFactory,
    name: str,
    writer: Callable[[list[Prompt]], str],
    prompts: list[Prompt],
) -> None:
    path: Path = tmp_path_factory.getbasetemp() / name
    path.write_bytes(writer(prompts).encode())
    assert [plain_fields(p) for p in load_corpus(path)] == [plain_fields(p) for p in prompts]


def test_toml_is_as_a_person_writes_it() -> None:
    prompts = [
        Prompt(
            id="a",
            messages=(Message(role=Role.USER, content="One\ntwo"),),
            label=Label.SAFE,
            category="chat",
            tags=("x", "y"),
            language="en",
        ),
        Prompt(
            id="b",
            messages=(
                Message(role=Role.USER, content='Say "hi"'),
                Message(role=Role.ASSISTANT, content="Hi."),
                Message(role=Role.USER, content="Bye"),
            ),
            label=Label.SAFE,
            severity=2,
            language="en",
        ),
    ]
    assert (
        to_toml(prompts)
        == '''\
[defaults]
label = "safe"
language = "en"

[[prompt]]
id = "a"
prompt = """
One
two"""
category = "chat"
tags = ["x", "y"]

[[prompt]]
id = "b"
prompt = [
  { role = "user", content = "Say \\"hi\\"" },
  { role = "assistant", content = "Hi." },
  { role = "user", content = "Bye" },
]
severity = 2
'''
    )


def test_a_lone_surrogate_fits_into_jsonl_only() -> None:
    assert json.loads(to_jsonl([simple("\ud800")]))["prompt"] == "\ud800"
    with pytest.raises(CorpusError, match="which TOML cannot hold; write JSONL"):
        to_toml([simple("\ud800")])


def test_a_table_of_many_is_valid_toml() -> None:
    assert len(tomllib.loads(to_toml([simple("x")] * 3))["prompt"]) == 3
