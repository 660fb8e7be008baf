"""Write prompts as JSONL. No I/O."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from pytest_refusal.corpus.plain import plain_fields
from pytest_refusal.prompt import Prompt

_LONE = re.compile("[\ud800-\udfff]")


def to_jsonl(prompts: Sequence[Prompt]) -> str:
    """Write one prompt a line, in letters that people can read where UTF-8 has them."""
    return "".join(f"{_line(plain_fields(prompt))}\n" for prompt in prompts)


def _line(fields: dict[str, object]) -> str:
    line = json.dumps(fields, ensure_ascii=False)
    return json.dumps(fields) if _LONE.search(line) else line
