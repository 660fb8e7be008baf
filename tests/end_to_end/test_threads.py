"""Sync callables that several threads may call, in runs of pytest."""

from __future__ import annotations

from typing import Any

import pytest

SLOW = """
    import threading, time
    from bot import good

    lock = threading.Lock()
    now = most = 0
    seen = []

    def answer(text):
        global most, now
        with lock:
            now += 1
            most = max(most, now)
            seen.append(text)
        time.sleep(0.1)
        with lock:
            now -= 1
        if "egg" in text:
            raise ValueError("no eggs")
        return good(text)

    def attributed(text):
        return answer(text)

    attributed.refusal_threads = 3
"""

TELLS = """
    def pytest_unconfigure(config):
        import slow
        print("most at once", slow.most, "asked", len(slow.seen), len(set(slow.seen)))
"""


@pytest.mark.parametrize("policy", ["mine", "slow:attributed", "slow:answer"])
def test_callables_on_threads_if_they_say_so(project: Any, policy: str) -> None:
    project.write_file("slow.py", SLOW)
    project.write_file("conftest.py", TELLS)
    project.settings(
        """
        corpus = "prompts.toml"
        [tool.pytest-refusal.policies.mine]
        type = "function"
        target = "slow:answer"
        threads = 3
        """
    )
    ran = project.run(f"--refusal-policy={policy}", "-s", fresh=True)
    most = 1 if policy == "slow:answer" else 3
    assert f"most at once {most} asked 4 4" in ran.stdout
    assert ran.exit_status == 1
    outcomes = {o["prompt_id"]: o for o in ran.policy(policy)["outcomes"]}
    assert [name for name, o in outcomes.items() if o["verdict"] is None] == ["good-1"]
    assert "no eggs" in outcomes["good-1"]["error"]
    assert ran.counts == {"passed": 3, "errors": 1}
