"""A table that nobody would read is never passed over without a word."""

from __future__ import annotations

import pytest

ASKS = 'policy = "bot:bad"\ncorpus = "prompts.toml"\n'
OTHERS = ("-p", "no:hypothesispytest")


@pytest.mark.parametrize(
    "name",
    [
        "tool.pytest_refusal",
        "tool.refusal",
        "pytest-refusal",
        "pytest_refusal",
        "tool.pytest-refusals",
        "tool.pytest.refusal",
    ],
)
@pytest.mark.parametrize("text", [ASKS, 'corpus = "prompts.toml"\n', 'policy = "strict"\n'])
def test_a_misspelt_table_that_asks_is_refused(project, name: str, text: str) -> None:
    project.write_file("test_own.py", "def test_own(): pass\n")
    project.write_file("pyproject.toml", f"[{name}]\n{text}")
    ran = project.pytester.runpytest_inprocess(*OTHERS)
    assert ran.ret == pytest.ExitCode.USAGE_ERROR
    said = f"ERROR: [{name}] in pyproject.toml is not read; its name must be [tool.pytest-refusal]"
    assert said in ran.stderr.str()


@pytest.mark.parametrize(
    "text",
    [
        "[tool.pytest_refusal]\nece_bins = 3\n",
        '[tool.refusals-of-others]\npolicy = "x"\n',
        'refusal = "corpus"\n[tool]\nrefusal = "policy"\n',
    ],
    ids=["no policy", "others", "no table"],
)
def test_anything_else_that_says_refusal_is_left_alone(project, text: str) -> None:
    project.write_file("test_own.py", "def test_own(): pass\n")
    project.write_file("pytest.ini", "[pytest]\n")
    project.write_file("pyproject.toml", text)
    ran = project.pytester.runpytest_inprocess(*OTHERS)
    ran.assert_outcomes(passed=1)


@pytest.fixture
def monorepo(project, monkeypatch):
    """A repository with its settings at the top and a service with a table of its own."""
    project.write_file("pyproject.toml", "[tool.pytest.ini_options]\n")
    for name in ("bot.py", "prompts.toml"):
        content = (project.path / name).read_text()
        project.write_file(f"services/chat/{name}", content)
    project.write_file("services/chat/test_own.py", "def test_own(): pass\n")
    project.write_file("services/chat/pyproject.toml", f"[tool.pytest-refusal]\n{ASKS}")
    project.write_file("services/chat/tests/test_inner.py", "def test_inner(): pass\n")
    monkeypatch.chdir(project.path / "services" / "chat")
    return project


def run(project, *args: str):
    return project.pytester.runpytest_inprocess(*OTHERS, "-p", "no:cacheprovider", *args)


@pytest.mark.parametrize("args", [(), ("test_own.py",), ("--refusal-policy=strict",)], ids=str)
def test_a_nested_table_is_refused(monorepo, args: tuple[str, ...]) -> None:
    ran = run(monorepo, *args)
    assert ran.ret == pytest.ExitCode.USAGE_ERROR
    assert (
        "ERROR: pyproject.toml has a [tool.pytest-refusal] that is not read: pytest's root folder"
        f" is {monorepo.path}; run with -c pyproject.toml, or add a [tool.pytest.ini_options] there"
    ) in ran.stderr.str()


@pytest.mark.parametrize(
    "args",
    [
        ("services/chat",),
        ("services/chat/test_own.py::test_own",),
        ("services/chat/tests", "--refusal-policy=strict"),
        ("services/chat/prompts.toml", "--refusal-policy=strict"),
        ("services/none", "services/chat/tests/test_inner.py"),
    ],
    ids=str,
)
def test_it_is_found_by_what_the_arguments_name(
    monorepo, monkeypatch, args: tuple[str, ...]
) -> None:
    monkeypatch.chdir(monorepo.path)
    ran = run(monorepo, *args)
    assert ran.ret == pytest.ExitCode.USAGE_ERROR
    assert (
        "ERROR: services/chat/pyproject.toml has a [tool.pytest-refusal] that is not read: pytest's"
        f" root folder is {monorepo.path}; run with -c services/chat/pyproject.toml, or add a"
    ) in ran.stderr.str()


def test_a_run_from_the_root_that_does_not_name_it_goes_past_it(monorepo, monkeypatch) -> None:
    monkeypatch.chdir(monorepo.path)
    run(monorepo).assert_outcomes(passed=2)


def test_it_is_found_from_a_folder_below_it(monorepo, monkeypatch) -> None:
    monkeypatch.chdir("tests")
    ran = run(monorepo)
    assert ran.ret == pytest.ExitCode.USAGE_ERROR
    assert "run with -c ../pyproject.toml," in ran.stderr.str()
    ran = run(monorepo, "-c", "../pyproject.toml")
    ran.assert_outcomes(passed=1, failed=4)


def test_the_advice_works(monorepo) -> None:
    run(monorepo, "-c", "pyproject.toml").assert_outcomes(passed=2, failed=4)
    table = f"[tool.pytest.ini_options]\n[tool.pytest-refusal]\n{ASKS}"
    monorepo.write_file("services/chat/pyproject.toml", table)
    run(monorepo).assert_outcomes(passed=2, failed=4)


def test_a_nested_table_without_a_policy_waits_for_one(monorepo) -> None:
    monorepo.write_file(
        "services/chat/pyproject.toml", '[tool.pytest-refusal]\ncorpus = "prompts.toml"\n'
    )
    run(monorepo).assert_outcomes(passed=2)
    ran = run(monorepo, "--refusal-policy=strict", "prompts.toml")
    assert ran.ret == pytest.ExitCode.USAGE_ERROR
    assert "that is not read" in ran.stderr.str()


def test_another_file_below_the_root_folder_is_no_matter(monorepo) -> None:
    monorepo.write_file("services/chat/pyproject.toml", "[project]\nname = 'x'\n")
    run(monorepo).assert_outcomes(passed=2)
