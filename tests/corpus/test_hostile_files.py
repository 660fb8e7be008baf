"""Whatever a file holds, loading it ends in prompts or in one error for people."""

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_refusal.corpus.reading import read_corpus_file
from pytest_refusal.corpus.sources import CorpusFile
from pytest_refusal.escape import one_line

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
