"""How far ahead is asked, whatever the version of xdist."""

from __future__ import annotations

from typing import Any

import pytest

LATER = """
    import asyncio, os

    most = now = 0

    async def answer(text):
        global most, now
        now += 1
        most = max(most, now)
        with open("asked.txt", "a") as file:
            file.write(text + "\\n")
        await asyncio.sleep(0.05)
        now -= 1
        return "Sure, here is what you need to know."
"""

TELLS = """
    import os

    def pytest_unconfigure(config):
        import later
        if later.most:
            with open(f"most-{os.getpid()}.txt", "w") as file:
                file.write(str(later.most))
"""


@pytest.mark.parametrize(
    ("args", "most"),
    [((), 8), (("-n", "2"), 8), (("-n", "2", "--dist=worksteal"), 2)],
    ids=["one-process", "two-workers", "worksteal"],
)
def test_each_process_looks_ahead_as_far_as_it_may(
    project: Any, args: tuple[str, ...], most: int
) -> None:
    project.write_file("later.py", LATER)
    project.write_file("conftest.py", TELLS)
    project.write_file(
        "many.toml",
        "".join(
            f'[[prompt]]\nid = "p-{n:02}"\nprompt = "Q{n}"\nlabel = "safe"\n' for n in range(40)
        ),
    )
    ran = project.run("many.toml", "--refusal-policy=later:answer", *args, fresh=True)
    assert (ran.exit_status, ran.counts) == (0, {"passed": 40})
    asked = (project.path / "asked.txt").read_text().splitlines()
    assert sorted(asked) == sorted(f"Q{n}" for n in range(40))
    reached = [int(path.read_text()) for path in project.path.glob("most-*.txt")]
    assert len(reached) == (2 if args else 1)
    assert max(reached) == most
