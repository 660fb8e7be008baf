"""The examples on the pages about numbers run as they are printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", ["metrics.md"])
def test_examples_run(page):
    examples = PYTHON.findall((DOCS / page).read_text(encoding="utf-8"))
    assert examples
    exec(compile("\n".join(examples), page, "exec"), {})
