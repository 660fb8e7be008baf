"""TOML corpora: values, lines and faults."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_refusal.corpus.loading import load_corpus
from pytest_refusal.prompt import Label, Message, Role

Write = Callable[[str, str | bytes], Path]
FaultsOf = Callable[..., tuple[str, ...]]

EVERYTHING = '''\
# Reviewed in May.
[defaults]
label = "unsafe"
category = "role-play"
tags = ["everyday"]

[[prompt]]
id = "rp-01"
prompt = """
[[prompt]]
Play a pirate."""
severity = 3
source = "own"
tags = ["pirate", "sea"]
note = "a persona"
taxonomy = "T1"
pair = "p1"
language = "en"

  [[ prompt ]] # the second
id = "rp-02"
label = "safe"
category = "chat"
prompt = [
  { role = "system", content = "Be kind." },
  { role = "user", content = "[[prompt]]" },
]
'''


def test_every_field_is_read(write: Write) -> None:
    first, second = load_corpus(write("corpus.toml", EVERYTHING))
    assert (first.id, first.text, first.label) == (
        "rp-01",
        "[[prompt]]\nPlay a pirate.",
        Label.UNSAFE,
    )
    assert (first.category, first.severity, first.source) == ("role-play", 3, "own")
    assert (first.tags, first.note) == (("pirate", "sea"), "a persona")
    assert (first.taxonomy, first.pair, first.language) == ("T1", "p1", "en")
    assert (second.id, second.label, second.category) == ("rp-02", Label.SAFE, "chat")
    assert second.tags == ("everyday",)
    assert second.severity is None
    assert second.messages == (
        Message(role=Role.SYSTEM, content="Be kind."),
        Message(role=Role.USER, content="[[prompt]]"),
    )


def test_a_prompt_is_at_the_line_of_its_header(write: Write) -> None:
    path = write("corpus.toml", EVERYTHING)
    assert [(p.place.path, p.place.line) for p in load_corpus(path) if p.place] == [
        (path, 7),
        (path, 20),
    ]


@pytest.mark.parametrize(
    "before",
    [
        pytest.param("# [[prompt]]\n", id="comment"),
        pytest.param('defaults.note = "[[prompt]]"\n', id="string"),
        pytest.param("defaults.note = '''\n[[prompt]]\n\\'''\n", id="literal"),
        pytest.param('defaults.note = """\\"""\n[[prompt]]\n""""\n', id="escaped-quotes"),
        pytest.param('defaults.tags = [\n"]", #[\n"[[prompt]]"]\n', id="list"),
        pytest.param("defaults.note = '\"'\n", id="quote-in-quotes"),
    ],
)
def test_only_a_real_header_begins_a_prompt(write: Write, before: str) -> None:
    path = write("corpus.toml", before + '[["prompt"]]\nprompt = "Hi"\nlabel = "safe"\n')
    (prompt,) = load_corpus(path)
    assert prompt.place
    assert prompt.place.line == before.count("\n") + 1


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "bom"])
def test_any_newline_and_mark(write: Write, newline: str, mark: str) -> None:
    text = mark + EVERYTHING.replace("\n", newline)
    first, second = load_corpus(write("corpus.toml", text))
    assert first.text == "[[prompt]]\nPlay a pirate."
    assert second.place
    assert second.place.line == 20


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            '[[prompt]]\nid = "a"\n\n[[prompt]]\nid = \n',
            "c.toml:5: this is not TOML: Invalid value",
            id="syntax",
        ),
        pytest.param('x = "', "c.toml:1: this is not TOML: Unterminated string", id="unclosed"),
        pytest.param(
            "[[prompts]]\n",
            'c.toml:1: unknown key "prompts"; allowed are [defaults] and [[prompt]]; '
            'did you mean "prompt"?',
            id="unknown-key",
        ),
        pytest.param(
            "\n[defaults]\nid = 'x'\n",
            'c.toml:2: unknown field "id"; allowed are "label", "category", "severity", "source", '
            '"tags", "note", "taxonomy", "pair" and "language"',
            id="default-id",
        ),
        pytest.param(
            "defaults = 3\n", "c.toml:1: defaults is 3; it must be a table, [defaults]", id="table"
        ),
        pytest.param(
            'prompt = [{prompt = "x"}]\n',
            "c.toml:1: write each prompt under a header of its own, [[prompt]]",
            id="inline",
        ),
        pytest.param("", "c.toml:1: the file has no prompts", id="empty"),
        pytest.param("[defaults]\n", "c.toml:1: the file has no prompts", id="no-prompts"),
        pytest.param(
            "x = " + "[" * 5000, "c.toml:1: lists or tables are nested too deeply", id="deep"
        ),
        pytest.param(
            f"x = {'9' * 5000}", "c.toml:1: a number has too many digits", id="huge-number"
        ),
        pytest.param(
            '[[prompt]]\nprompt = "\0"\n', "c.toml:2: this is not TOML: Illegal", id="nul"
        ),
    ],
)
def test_a_fault(faults_of: FaultsOf, text: str, expected: str) -> None:
    faults = faults_of(("c.toml", text))
    assert len(faults) == 1
    assert faults[0].startswith(expected)


def test_a_wrong_default_is_one_fault(faults_of: FaultsOf) -> None:
    text = '[defaults]\nlabel = "usafe"\n' + '[[prompt]]\nprompt = "x"\n' * 3
    assert faults_of(("c.toml", text)) == (
        'c.toml:1: the label is "usafe"; allowed are "safe" and "unsafe"; did you mean "unsafe"?',
    )


def test_lines_are_found_in_linear_time(write: Write) -> None:
    # 20,000 quotes in a row, and as many brackets: nothing to go back for.
    quotes = '"' * 2 + '\\"' * 20_000
    text = f'[[prompt]]\nlabel = "safe"\nprompt = """{quotes}"""\nnote = "{"[" * 20_000}"\n'
    (prompt,) = load_corpus(write("c.toml", text))
    assert len(prompt.text) == 20_002


@pytest.mark.parametrize(
    ("start", "line"),
    [
        pytest.param("", 1, id="key"),
        pytest.param("a = 'x'\n[", 2, id="header"),
        pytest.param('a = """\n."""\n b', 3, id="after-a-text"),
        pytest.param("# it's\nb", 2, id="after-a-comment"),
    ],
)
def test_a_key_without_end_is_refused(faults_of: FaultsOf, start: str, line: int) -> None:
    # The parser would need memory of the square of its length: here, of the whole machine.
    (fault,) = faults_of(("c.toml", f"{start}{'a.' * 200_000}a = 1"))
    assert fault == f"c.toml:{line}: a key has more than 64 dots"


@pytest.mark.parametrize("quotes", ['"', "'", '"""', "'''"])
def test_dots_in_a_text_are_no_key(write: Write, quotes: str) -> None:
    dots = "a." * 200_000
    text = f"[[prompt]]\nprompt = {quotes}{dots}{quotes}\nlabel = 'safe' # {dots}\n"
    (prompt,) = load_corpus(write("c.toml", text))
    assert prompt.text == dots
