"""Whatever a file holds, loading it ends in prompts or in one error for people."""

import gzip
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_refusal.corpus.reading import read_corpus_file
from pytest_refusal.corpus.sources import CorpusFile
from pytest_refusal.escape import one_line

FaultsOf = Callable[..., tuple[str, ...]]

ENDINGS = [".toml", ".jsonl", ".json", ".csv", ".tsv", ".yaml", ".txt", ".parquet", ".arrow"]

# Pieces that files are made of, so that what is drawn gets past the first sign.
PIECES = st.sampled_from(
    [
        *("[[prompt]]\n", "[defaults]\n", "prompt = ", "label = ", '"""', "'''", '"safe"', "\n"),
        *(
            '{"prompt": ',
            '"label": "safe"',
            "[",
            "]",
            "{",
            "}",
            ",",
            ":",
            "- ",
            "&a ",
            "*a",
            "<<: ",
        ),
        *("prompt,label\n", "x,safe\n", '"', "\r", "\t", "\0", "\ufeff", "\u2028", "\ud800", "NaN"),
        *("9" * 5000, "!!python/name:os.system ", "---\n", "? ", "\x1b[31m", "\U0001f600"),
    ]
)
CONTENT = st.one_of(
    st.binary(),
    st.lists(PIECES | st.text(max_size=3), max_size=30).map(
        lambda pieces: "".join(pieces).encode("utf-8", "surrogatepass")
    ),
)


@pytest.mark.parametrize("ending", ENDINGS)
@settings(max_examples=30, deadline=None)
@given(content=CONTENT, packed=st.booleans())
def test_a_file_of_anything(
    tmp_path_factory: pytest.TempPathFactory, ending: str, content: bytes, packed: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / f"anything{ending}{'.gz' if packed else ''}"
    path.write_bytes(gzip.compress(content) if packed else content)
    reading = read_corpus_file(CorpusFile(path=path, name=path.name))
    assert reading.prompts or reading.faults
    for fault in reading.faults:
        assert fault.line >= 1
        # Nothing in it that acts on a terminal or cannot be printed.
        assert one_line(str(fault)) == str(fault)


WIDE = 30_000


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param("c.csv", ",".join(f"categry{n}" for n in range(WIDE)) + "\n", id="header"),
        pytest.param(
            "c.jsonl", "{" + ",".join(f'"categry{n}":1' for n in range(WIDE)) + "}", id="fields"
        ),
        pytest.param(
            "c.json", "{" + ",".join(f'"promts{n}":1' for n in range(WIDE)) + "}", id="keys"
        ),
        pytest.param(
            "c.json",
            '{"prompts":[],' + ",".join(f'"promts{n}":1' for n in range(WIDE)) + "}",
            id="own-keys",
        ),
        pytest.param("c.json", '{"prompts":[' + "1," * 1_000_000 + "1]}", id="elements"),
        pytest.param("c.json", '["",' + '{"a":1},' * WIDE + '""]', id="rows"),
        pytest.param("c.toml", "".join(f"promt{n}=1\n" for n in range(WIDE)), id="toml"),
        pytest.param("c.csv", "id,prompt\n" + "1,a\n" * WIDE, id="ids"),
        pytest.param(
            "c.csv", "prompt,label\n" + "".join(f"a,{n}\n" for n in range(WIDE)), id="labels"
        ),
    ],
)
def test_faults_without_end_end(faults_of: FaultsOf, name: str, content: str) -> None:
    # Where each took its time, or each were looked for among all others, this would take minutes.
    faults = faults_of((name, content))
    assert len(faults) <= 1_001
    assert len("".join(faults)) < 500_000


def test_a_file_with_too_many_faults_is_read_no_further(faults_of: FaultsOf) -> None:
    rows = "".join(f"a{n},l{n}\n" for n in range(20_000))
    first, *_, last = faults_of(("c.csv", f"prompt,label\n{rows}"))
    assert first.startswith('c.csv:2: the label is "l0"; allowed are')
    assert last == "and 4001 more faults"
