"""What goes wrong in the middle of a run: one outcome a prompt, and never an exit status of 0."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass

import pytest

POLICIES = """
    import asyncio
    import os
    import signal
    import sys
    from pathlib import Path

    import pytest
    from bot import good

    HERE = Path(__file__).parent

    def on_egg(act):
        def policy(text):
            if "egg" in text:
                act()
            return good(text)
        return policy

    def once(act):
        def first():
            try:
                Path(HERE, "tried").touch(exist_ok=False)
            except FileExistsError:
                return
            act()
        return first

    def raises(error):
        def act():
            raise error
        return act

    def replace_folder():
        Path(HERE, "reports").rmdir()
        Path(HERE, "reports").touch()

    exits_1 = on_egg(lambda: os._exit(1))
    exits_0 = on_egg(lambda: os._exit(0))
    exits_once = on_egg(once(lambda: os._exit(1)))
    presses_ctrl_c = on_egg(lambda: os.kill(os.getpid(), signal.SIGINT))
    presses_ctrl_c_there = on_egg(lambda: os.kill(os.getppid(), signal.SIGINT))
    system_exit = on_egg(lambda: sys.exit(0))
    keyboard_interrupt = on_egg(raises(KeyboardInterrupt()))
    recursion = on_egg(raises(RecursionError("too deep")))
    pytest_exit = on_egg(lambda: pytest.exit("enough"))
    pytest_exit_0 = on_egg(lambda: pytest.exit("enough", returncode=0))
    pytest_skip = on_egg(lambda: pytest.skip("not today"))
    pytest_xfail = on_egg(lambda: pytest.xfail("not today"))
    pytest_fail = on_egg(lambda: pytest.fail("not today"))
    generator_exit = on_egg(raises(GeneratorExit()))
    spoils_folder = on_egg(replace_folder)

    async def good_later(text):
        await asyncio.sleep(0.001)
        return good(text)

    async def errs_later(text):
        await asyncio.sleep(0.001)
        if "egg" in text:
            raise asyncio.CancelledError
        return good(text)

    def own_loop(text):
        return asyncio.run(good_later(text))

    async def stops_its_loop(text):
        if "egg" in text:
            asyncio.get_running_loop().stop()
        return good(text)

    async def exits_in_a_task(text):
        if "egg" in text:
            asyncio.ensure_future(exits())
        return good(text)

    async def exits():
        raise SystemExit(3)

    def removes_the_corpus(text):
        Path(HERE, "prompts.toml").unlink(missing_ok=True)
        return good(text)

    async def nested(text):
        return await asyncio.wait_for(asyncio.ensure_future(good_later(text)), 5)
"""

GOOD = {"bad-1": True, "bad-2": True, "good-1": True, "good-2": True}
NO_EGG = GOOD | {"good-1": None}
#: Ceilings that tolerate everything that can be tolerated.
LENIENT = "under_refusal = 1\nover_refusal = 1\nunevaluated = 0.9"


@dataclass(frozen=True)
class Case:
    """A fault, and what is left of the run.

    outcomes: by prompt, None for an unevaluated one.  lost: prompts without any outcome.
    """

    policy: str
    args: tuple[str, ...] = ()
    outcomes: tuple[tuple[str, bool | None], ...] = tuple(NO_EGG.items())
    exit_status: int = 1
    gate: bool | None = None
    lost: int = 0
    ceilings: str = ""
    says: str = ""

    @property
    def complete(self) -> bool:
        return not self.lost


def case(policy: str, *args: str, outcomes=NO_EGG, lost: int = 0, **rest) -> Case:
    return Case(policy, args, outcomes=tuple(outcomes.items()), lost=lost, **rest)


BEFORE_EGG = {"bad-1": True, "bad-2": True}
TWO = ("-n", "2")

CASES = [
    case("exits_1", *TWO, says="1 prompt lost to a crash"),
    case("exits_0", *TWO, says="1 prompt lost to a crash"),
    case("exits_once", *TWO, says="1 prompt lost to a crash"),
    # A crash is nobody's behaviour: no ceiling tolerates it.
    case("exits_1", *TWO, ceilings=LENIENT, gate=True, says="1 prompt lost to a crash"),
    case("exits_1", "-n", "1", "--max-worker-restart=0", outcomes=BEFORE_EGG | {"good-1": None},
         lost=1),
    case("exits_1", "-n", "1", "--max-worker-restart=0", outcomes=BEFORE_EGG | {"good-1": None},
         lost=1, ceilings=LENIENT, gate=False),
    case("system_exit", says="1 unevaluated prompt"),
    case("system_exit", *TWO, says="1 unevaluated prompt"),
    case("recursion", says="1 unevaluated prompt"),
    case("generator_exit", says="1 unevaluated prompt"),
    case("pytest_skip", says="1 unevaluated prompt"),
    case("pytest_skip", *TWO, says="1 unevaluated prompt"),
    case("pytest_xfail", says="1 unevaluated prompt"),
    case("pytest_fail", says="1 unevaluated prompt"),
    case("pytest_skip", ceilings="unevaluated = 0", gate=False),
    case("keyboard_interrupt", outcomes=BEFORE_EGG, exit_status=2, lost=2, ceilings=LENIENT),
    case("presses_ctrl_c", outcomes=BEFORE_EGG, exit_status=2, lost=2, ceilings=LENIENT),
    case("pytest_exit", says="1 unevaluated prompt"),
    case("pytest_exit_0", says="1 unevaluated prompt"),
    case("good_later", outcomes=GOOD, exit_status=0),
    case("good_later", *TWO, outcomes=GOOD, exit_status=0),
    case("errs_later", says="1 unevaluated prompt"),
    case("own_loop", outcomes=GOOD, exit_status=0),
    case("stops_its_loop", outcomes=GOOD, exit_status=0),
    case("stops_its_loop", *TWO, outcomes=GOOD, exit_status=0),
    case("exits_in_a_task", outcomes=GOOD, exit_status=0),
    case("removes_the_corpus", outcomes=GOOD, exit_status=0),
    case("nested", *TWO, outcomes=GOOD, exit_status=0),
]  # fmt: skip


def outcomes(ran, policy: str) -> dict[str, bool | None]:
    found = [(o["prompt_id"], o["correct"]) for o in ran.policy(policy)["outcomes"]]
    assert len(found) == len(dict(found))
    return dict(found)


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: "-".join((case.policy, *case.args, case.ceilings[:5].strip()))
)
def test_policy_that_goes_wrong(project, case: Case) -> None:
    project.write_file("odd.py", POLICIES)
    ceilings = f"[tool.pytest-refusal.ceilings]\n{case.ceilings}\n" if case.ceilings else ""
    project.settings(f'corpus = "prompts.toml"\n{ceilings}')
    policy = f"odd:{case.policy}"
    ran = project.run(f"--refusal-policy={policy}", *case.args, fresh=True)
    said = ran.stdout + ran.stderr
    assert "INTERNALERROR" not in said
    assert outcomes(ran, policy) == dict(case.outcomes), said
    assert (ran.exit_status, ran.gate(policy)) == (case.exit_status, case.gate), said
    report = ran.policy(policy)
    assert report["planned"] == report["evaluated"] + report["unevaluated"] + case.lost == 4
    assert len(report["not_run"]) == case.lost
    assert ran.report["complete"] is case.complete
    assert case.says in ran.last_line


def test_ctrl_c_in_the_controller(project) -> None:
    project.write_file("odd.py", POLICIES)
    project.settings('corpus = "prompts.toml"\nceilings = { under_refusal = 1 }')
    ran = project.run("--refusal-policy=odd:presses_ctrl_c_there", "-n", "2", fresh=True)
    assert ran.exit_status == 2
    assert (ran.report["complete"], ran.gate("odd:presses_ctrl_c_there")) == (False, None)


TWENTY = "".join(
    f'[[prompt]]\nid = "p-{i:02}"\nprompt = "Question {i}?"\nlabel = "safe"\n' for i in range(20)
)

RAISES_AT_TENTH = """
    seen = []

    def pytest_runtest_logreport(report):
        if report.when == "call":
            seen.append(report.nodeid)
            if len(seen) == 10:
                raise RuntimeError("this hook is broken")
"""


@pytest.mark.parametrize("workers", ["0", "2"])
def test_broken_hook_of_somebody_leaves_a_report(project, workers: str) -> None:
    project.write_file("prompts.toml", TWENTY)
    project.write_file("conftest.py", RAISES_AT_TENTH)
    project.settings('corpus = "prompts.toml"\nceilings = { over_refusal = 1 }')
    ran = project.run("--refusal-policy=bot:good", "-n", workers, fresh=True)
    assert ran.exit_status == 3
    assert (ran.report["complete"], ran.gate("bot:good")) == (False, None)
    assert len(outcomes(ran, "bot:good")) >= 9


HOOKS = {
    "removes an item": (
        "def pytest_collection_modifyitems(items):\n    del items[2]\n",
        GOOD.keys() - {"good-1"}, False, "1 planned prompt never",
    ),
    "fails in setup": (
        "def pytest_runtest_setup(item):\n    assert 'good-2' not in item.name\n",
        GOOD.keys(), False, "1 ceiling broken: unevaluated",
    ),
    "fails in teardown": (
        "def pytest_runtest_teardown(item):\n    assert 'good-2' not in item.name\n",
        GOOD.keys(), True, "1 other failure",
    ),
    "fails in call": (
        "def pytest_runtest_call(item):\n    assert 'good-2' not in item.name\n",
        GOOD.keys(), False, "1 ceiling broken: unevaluated",
    ),
    "runs no protocol": (
        "def pytest_runtest_protocol(item):\n    return True if 'good-2' in item.name else None\n",
        GOOD.keys() - {"good-2"}, False, "1 planned prompt never",
    ),
}  # fmt: skip


@pytest.mark.parametrize("workers", ["0", "2"])
@pytest.mark.parametrize("hook", HOOKS)
def test_hooks_of_somebody(project, hook: str, workers: str) -> None:
    source, left, gate, says = HOOKS[hook]
    project.write_file("conftest.py", source)
    project.settings('corpus = "prompts.toml"\nceilings = { under_refusal = 1, over_refusal = 1 }')
    ran = project.run("--refusal-policy=bot:good", "-n", workers, fresh=True)
    assert outcomes(ran, "bot:good").keys() == left, ran.stdout
    assert (ran.exit_status, ran.gate("bot:good")) == (1, gate), ran.stdout
    assert says in ran.last_line


@pytest.mark.parametrize(
    "dist", ["load", "loadscope", "loadfile", "loadgroup", "worksteal", "each"]
)
def test_ways_to_distribute(project, dist: str) -> None:
    project.settings('corpus = "prompts.toml"\nceilings = { under_refusal = 0.5 }')
    ran = project.run("--refusal-policy=bot:leaks_one", "-n", "2", f"--dist={dist}", fresh=True)
    assert outcomes(ran, "bot:leaks_one") == GOOD | {"bad-2": False}
    assert ran.policy("bot:leaks_one")["confusion"] == {"tp": 1, "tn": 2, "fp": 0, "fn": 1}
    assert (ran.exit_status, ran.gate("bot:leaks_one")) == (0, True), ran.stdout


def test_report_that_cannot_be_written_in_the_end(project) -> None:
    project.write_file("odd.py", POLICIES)
    (project.path / "reports").mkdir()
    ran = project.run("--refusal-policy=odd:spoils_folder", "prompts.toml",
                      "--refusal-report=reports/mine.json", fresh=True)  # fmt: skip
    assert ran.exit_status == 1
    assert "could not be written" in ran.last_line
    assert outcomes(ran, "odd:spoils_folder") == GOOD


def test_two_sessions_at_once_in_one_folder(project) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:hypothesispytest", "prompts.toml"]
    policies = ("bot:good", "bot:leaks_one")
    both = [
        subprocess.Popen(
            [*command, f"--refusal-policy={policy}", f"--refusal-report={number}.json",
             "--refusal-report=same.json"],
            cwd=project.path, stdout=subprocess.DEVNULL,
        )
        for number, policy in enumerate(policies)
    ]  # fmt: skip
    assert [process.wait(60) for process in both] == [0, 1]
    for number, policy in enumerate(policies):
        report = json.loads((project.path / f"{number}.json").read_text())
        assert [p["policy"] for p in report["policies"]] == [policy]
        assert report["policies"][0]["planned"] == 4
    # Whoever came last wrote the shared one, and wrote it whole.
    assert json.loads((project.path / "same.json").read_text())["complete"]
    assert list(project.path.glob(".*.json*")) == []


SKIPS_WHAT_FAILS = """
    import pytest

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_{phase}():
        try:
            return (yield)
        except BaseException:
            pytest.skip("flaky")
"""


@pytest.mark.parametrize("workers", ["0", "2"])
@pytest.mark.parametrize(
    ("phase", "policy", "broken"),
    [("call", "leaks_one", "under_refusal"), ("setup", "errs", "unevaluated")],
)
def test_whoever_skips_what_failed_unmakes_no_outcome(
    project, phase: str, policy: str, broken: str, workers: str
) -> None:
    project.write_file("conftest.py", SKIPS_WHAT_FAILS.format(phase=phase))
    project.settings('corpus = "prompts.toml"\nceilings = { under_refusal = 0.4, accuracy = 0 }')
    ran = project.run(f"--refusal-policy=bot:{policy}", "-n", workers, fresh=True)
    assert len(outcomes(ran, f"bot:{policy}")) == 4
    assert (ran.exit_status, ran.gate(f"bot:{policy}")) == (1, False)
    assert f"1 ceiling broken: {broken}" in ran.last_line
