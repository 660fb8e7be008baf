"""What makes the session fail: ceilings, errors, other tests, and what is left of a run."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from pytest_refusal.plugin.node_ids import slug


@dataclass(frozen=True)
class Case:
    """One run: its policy and settings, and what a user must see of it."""

    name: str
    policy: str
    ceilings: str = ""
    args: tuple[str, ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    exit_status: int = 0
    gate: bool | None = None
    says: str = ""
    #: How it ends with `-n 2`, where xdist itself stops otherwise; None where it does not run.
    xdist: tuple[int, bool | None] | None = (-1, None)

    @property
    def expected_with_xdist(self) -> tuple[int, bool | None] | None:
        return (self.exit_status, self.gate) if self.xdist == (-1, None) else self.xdist


PASSING_TEST = ("test_own.py", "def test_own(): pass\n")
FAILING_TEST = ("test_own.py", "def test_own(): assert 0\n")
BROKEN_TEST = ("test_own.py", "import no_such_module_anywhere\n")

CASES = [
    Case("no ceiling, all right", "good", exit_status=0, says="refusal: nothing failed"),
    Case("no ceiling, one leak", "leaks_one", exit_status=1, says="1 under-refusal"),
    Case("no ceiling, one error", "errs", exit_status=1, says="1 unevaluated prompt"),
    Case("exactly at the ceiling", "leaks_one", "under_refusal = 0.5", gate=True,
         says="gate passed; 1 failed prompt, within ceilings"),
    Case("just over the ceiling", "leaks_one", "under_refusal = 0.4999", exit_status=1,
         gate=False, says="1 ceiling broken: under_refusal"),
    Case("ceiling on the other rate covers nothing", "leaks_one", "over_refusal = 0.5",
         exit_status=1, gate=True, says="1 under-refusal under no ceiling"),
    Case("over-refusal covered", "declines_one", "over_refusal = 0.5", gate=True,
         says="gate passed; 1 failed prompt"),
    Case("accuracy floor covers both kinds", "bad", "accuracy = 0.0", gate=True,
         says="4 failed prompts, within ceilings"),
    Case("accuracy floor broken", "leaks_one", "accuracy = 0.76", exit_status=1, gate=False,
         says="1 ceiling broken: accuracy"),
    Case("accuracy exactly at its floor", "leaks_one", "accuracy = 0.75", gate=True),
    Case("category ceiling covers its category", "leaks_one",
         "under_refusal_by_category = { encoding-trick = 1 }", gate=True,
         says="1 failed prompt, within ceilings"),
    Case("category ceiling broken", "leaks_one",
         "under_refusal_by_category = { encoding-trick = 0.9 }", exit_status=1, gate=False,
         says="under_refusal_by_category.encoding-trick"),
    Case("category ceiling of another category", "leaks_one",
         "under_refusal_by_category = { role-play = 1 }", exit_status=1, gate=True,
         says="1 under-refusal under no ceiling"),
    Case("an error is not within a ceiling on rates", "errs", "over_refusal = 1",
         exit_status=1, gate=False, says="1 ceiling broken: unevaluated"),
    Case("an error within the ceiling on unevaluated", "errs", "unevaluated = 0.25",
         gate=True, says="1 unevaluated prompt, within ceilings"),
    Case("an error over the ceiling on unevaluated", "errs", "unevaluated = 0.2", exit_status=1,
         gate=False, says="1 ceiling broken: unevaluated"),
    Case("ece at its ceiling", "leaks_one", "ece = 0.15\nunder_refusal = 1", gate=True),
    Case("ece over its ceiling", "bad", "ece = 0.8\naccuracy = 0", exit_status=1, gate=False,
         says="1 ceiling broken: ece"),
    Case("from the command line", "leaks_one", args=("--refusal-ceiling", "under_refusal=0.4"),
         exit_status=1, gate=False, says="1 ceiling broken: under_refusal"),
    Case("the command line stands above the table", "leaks_one", "under_refusal = 0",
         args=("--refusal-ceiling=under_refusal=1",), gate=True),
    Case("ceilings of 1 tolerate all misbehaviour", "bad",
         "under_refusal = 1\nover_refusal = 1", gate=True, says="4 failed prompts"),
    Case("partial by -k", "leaks_one", "under_refusal = 0.5", args=("-k", "bad-1"),
         gate=None, says="partial run: 1 of 4"),
    Case("partial by -k with a failure", "leaks_one", "under_refusal = 1", args=("-k", "bad-2"),
         exit_status=1, gate=None,
         says="1 under-refusal; partial run: 1 of 4, ceilings are not ruled on"),
    Case("partial by a node id with a failure", "leaks_one", "under_refusal = 1",
         args=("prompts.toml::bad-2",), exit_status=1, gate=None,
         says="1 under-refusal; partial run: 1 of 4, ceilings are not ruled on"),
    Case("partial of several with a failure", "leaks_one", "under_refusal = 1",
         args=("-k", "bad"), exit_status=1, gate=None,
         says="1 under-refusal; partial run: 2 of 4, ceilings are not ruled on"),
    Case("partial by -m", "good", "under_refusal = 0", args=("-m", "unsafe"), gate=None,
         says="partial run: 2 of 4"),
    Case("partial by --deselect", "good", "under_refusal = 0",
         args=("--deselect", "prompts.toml::bad-1"), gate=None, says="partial run: 3 of 4"),
    Case("partial, ruled on request", "leaks_one", "under_refusal = 0.5",
         args=("-k", "bad", "--refusal-gate-partial"), gate=True, says="gate passed"),
    Case("partial, ruled on request and broken", "leaks_one", "under_refusal = 0.5",
         args=("-k", "bad-2", "--refusal-gate-partial"), exit_status=1, gate=False),
    Case("stopped by -x", "bad", "under_refusal = 1\nover_refusal = 1", args=("-x",),
         exit_status=1, gate=None, xdist=None,
         says="1 under-refusal; the run stopped after 1 of 4 prompts, ceilings are not ruled on"),
    Case("stopped by --maxfail", "bad", "under_refusal = 1\nover_refusal = 1",
         args=("--maxfail=2",), exit_status=1, gate=None, xdist=None),
    Case("-x that met nothing", "good", "under_refusal = 0", args=("-x",), gate=True),
    Case("everything deselected", "good", "under_refusal = 0", args=("-k", "nothing"),
         exit_status=5, gate=None, says="nothing was evaluated"),
    Case("own test passes beside it", "leaks_one", "under_refusal = 0.5",
         args=("test_own.py", "prompts.toml"), files=(PASSING_TEST,), gate=True),
    Case("own test fails beside it", "leaks_one", "under_refusal = 0.5",
         args=("test_own.py", "prompts.toml"), files=(FAILING_TEST,), exit_status=1, gate=True,
         says="1 other failure"),
    Case("own test alone selected, policy typed", "good", "under_refusal = 0",
         args=("test_own.py", "prompts.toml", "-k", "own"), files=(PASSING_TEST,), exit_status=1,
         gate=None, says="nothing was evaluated"),
    Case("collection error beside it", "good", "under_refusal = 0",
         args=("test_own.py", "prompts.toml"), files=(BROKEN_TEST,), exit_status=2, gate=None,
         xdist=(1, True)),
    Case("collection error passed over", "good", "under_refusal = 0",
         args=("test_own.py", "prompts.toml", "--continue-on-collection-errors"),
         files=(BROKEN_TEST,), exit_status=1, gate=True, says="1 other failure"),
]  # fmt: skip


def check(project, case: Case, *workers: str, expected: tuple[int, bool | None]) -> None:
    project.settings(f'corpus = "prompts.toml"\n[tool.pytest-refusal.ceilings]\n{case.ceilings}\n')
    for name, content in case.files:
        project.write_file(name, content)
    policy = f"bot:{case.policy}"
    ran = project.run(f"--refusal-policy={policy}", *case.args, *workers)
    assert (ran.exit_status, ran.gate(policy)) == expected, ran.stdout
    if expected == (case.exit_status, case.gate):
        assert case.says in ran.last_line
    held = {
        f"refusal-gate::{ruling['ceiling']}[{slug(policy)}]": ruling["held"]
        for ruling in ran.policy(policy)["gate"]["rulings"]
    }
    gates = {name: node for name, node in ran.cases().items() if name.startswith("refusal-gate")}
    assert {name: node.find("failure") is None for name, node in gates.items()} == held


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "-"))
def test_session(project, case: Case) -> None:
    check(project, case, expected=(case.exit_status, case.gate))


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.expected_with_xdist],
    ids=lambda case: case.name.replace(" ", "-"),
)
def test_session_of_two_workers(project, case: Case) -> None:
    check(project, case, "-n", "2", expected=case.expected_with_xdist)


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one-process", "xdist"])
@pytest.mark.parametrize("option", ["-x", "--maxfail=2"])
def test_a_run_that_stops_rules_on_nothing_and_keeps_to_its_plan(project, option, workers) -> None:
    prompts = "".join(
        f'[[prompt]]\nid = "p-{i}"\nprompt = "Question {i}?"\nlabel = "safe"\n' for i in range(60)
    )
    project.write_file("prompts.toml", prompts)
    project.settings('corpus = "prompts.toml"\nceilings = { over_refusal = 1 }')
    ran = project.run("--refusal-policy=bot:bad", option, *workers)
    policy = ran.policy("bot:bad")
    assert ran.exit_status != 0
    assert policy["gate"]["passed"] is None
    assert policy["evaluated"] + len(policy["not_run"]) == policy["planned"] == 60
    assert policy["collected"] == 60
    if not workers:
        assert policy["evaluated"] == (1 if option == "-x" else 2)
    assert not ran.report["complete"]
    assert "of 60" in ran.stdout


def check_others(project, source: str, says: str, *args: str, ceilings: bool = True) -> None:
    project.write_file("conftest.py", source)
    table = "ceilings = { accuracy = 0 }" if ceilings else ""
    project.settings(f'corpus = "prompts.toml"\n{table}\n')
    ran = project.run("--refusal-policy=bot:good", *args)
    assert ran.exit_status == 1, ran.stdout
    assert says in ran.last_line


OTHERS = {
    "a status set before": (
        """
        import pytest

        @pytest.hookimpl(wrapper=True, tryfirst=True)
        def pytest_sessionfinish(session):
            session.exitstatus = 1
            return (yield)
        """,
        "failed by others: no test accounts for exit status 1",
    ),
    "pytest.exit behind the last prompt": (
        """
        import pytest

        def pytest_runtest_logfinish(nodeid):
            if "good-2" in nodeid:
                pytest.exit("enough", returncode=1)
        """,
        "failed by others: pytest.exit: enough",
    ),
    "shouldfail in the middle": (
        """
        def pytest_runtest_teardown(item):
            if "good-1" in item.name:
                item.session.shouldfail = "no time left"
        """,
        "failed by others: no time left",
    ),
    "a failure without a test": (
        """
        import pytest

        @pytest.hookimpl(wrapper=True)
        def pytest_runtestloop(session):
            result = yield
            session.testsfailed += 1
            return result
        """,
        "1 other failure",
    ),
}


@pytest.mark.parametrize("who", OTHERS)
def test_what_others_failed_is_not_forgiven(project, who: str) -> None:
    check_others(project, *OTHERS[who])


SKIPS_ALL = """
    import pytest

    def pytest_collection_modifyitems(items):
        for item in items:
            item.add_marker(pytest.mark.skip(reason="not today"))
"""


@pytest.mark.parametrize("ceilings", [True, False])
@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_run_that_skips_every_prompt_has_evaluated_nothing(project, ceilings, workers) -> None:
    check_others(project, SKIPS_ALL, "nothing was evaluated", "-n", workers, ceilings=ceilings)


def test_a_ceiling_on_errors_does_not_pass_a_run_of_nothing_else(project) -> None:
    project.write_file("down.py", "def answer(text):\n    raise OSError('no route')\n")
    project.settings('corpus = "prompts.toml"\nceilings = { unevaluated = 1 }')
    ran = project.run("--refusal-policy=down:answer")
    assert (ran.exit_status, ran.gate("down:answer")) == (1, False)
    assert "nothing was evaluated" in ran.last_line


def test_an_interrupted_run_does_not_say_that_nothing_failed_alone(project) -> None:
    project.write_file("odd.py", "def answer(text):\n    raise KeyboardInterrupt\n")
    project.settings('corpus = "prompts.toml"\n')
    ran = project.run("--refusal-policy=odd:answer", fresh=True)
    assert ran.exit_status == 2
    assert "the run was interrupted after 0 of 4 prompts" in ran.last_line


def test_ceilings_of_policies_that_are_not_in_the_run(project) -> None:
    project.settings(
        """
        corpus = "prompts.toml"
        [tool.pytest-refusal.policies."bot:bad".ceilings]
        accuracy = 0
        [tool.pytest-refusal.policies."recorded:elsewhere.jsonl".ceilings]
        accuracy = 0
        [tool.pytest-refusal.policies."openai:some-model".ceilings]
        accuracy = 0
        """
    )
    assert project.run("--refusal-policy=bot:good").exit_status == 0


def test_plugins_of_pytest_that_are_switched_off(project) -> None:
    project.settings(
        'corpus = "prompts.toml"\nwithin_ceilings = "xfail"\nceilings = { accuracy = 0 }'
    )
    off = [word for name in ("setuponly", "setupplan", "skipping") for word in ("-p", f"no:{name}")]
    ran = project.run("--refusal-policy=bot:bad", *off)
    assert (ran.gate("bot:bad"), "INTERNALERROR" in ran.stdout) == (True, False)
