"""Turn labelled responses of XSTest into a corpus and recorded responses.

    python tests/xstest_recorded.py xstest.jsonl --model gpt4 --into xstest
    pytest xstest/prompts.jsonl --refusal-policy=recorded:xstest/responses.jsonl

Takes JSON lines with `prompt`, `response`, `model`, `prompt_label` and `prompt_type`.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path


def convert(source: Path, *, model: str, into: Path) -> int:
    """Write `prompts.jsonl` and `responses.jsonl` for one model; return how many prompts."""
    rows = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if row["model"] == model]
    into.mkdir(parents=True, exist_ok=True)
    prompts = [
        {
            "id": row["id"],
            "prompt": row["prompt"],
            "label": row["prompt_label"],
            "category": row["prompt_type"],
            "source": "XSTest",
        }
        for row in rows
    ]
    responses = [{"id": row["id"], "response": row["response"]} for row in rows]
    for name, lines in (("prompts.jsonl", prompts), ("responses.jsonl", responses)):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (into / name).write_text(text, encoding="utf-8")
    return len(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("--model", default="gpt4")
    parser.add_argument("--into", type=Path, default=Path("xstest"))
    given = parser.parse_args()
    print(convert(given.source, model=given.model, into=given.into), "prompts")
