"""A score is the same in every process, whatever order Python gives to its sets."""

from __future__ import annotations

import os
import subprocess
import sys

# Many acts, and several in one sentence: with sums rounded term by term, seeds differ here.
SCORES = """
from pytest_refusal import classify_refusal
for text in (
    "As an AI, I cannot judge that, and it is not accurate to generalize. Here is what is known.",
    "I'm sorry, but it is harmful and wrong; as an AI language model I have no opinion on it. "
    "However, it is important to remember to seek help. Please talk to a professional.",
    "I can't say. It is not acceptable to perpetuate harmful stereotypes, and it is illegal. "
    "I don't have personal opinions, but I'd be happy to help. Here are 3 things:\\n1. a\\n2. b",
):
    print(repr(classify_refusal(text)))
"""


def test_hash_seeds_change_no_digit() -> None:
    told = {
        subprocess.run(
            [sys.executable, "-c", SCORES],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in range(8)
    }
    assert len(told) == 1
