"""Where no policy is named the plugin is not there: no import, no output, no request."""

from __future__ import annotations

import re

import pytest

# What every run of pytest loads: the options, the names of hooks and fixtures, and a look for
# our table.
ENTRY = {
    "pytest_refusal",
    "pytest_refusal.hookspecs",
    "pytest_refusal.plugin",
    "pytest_refusal.plugin.fixtures",
    "pytest_refusal.plugin.project_file",
}

LOOKS = """
    import sys

    def test_modules():
        ours = {name for name in sys.modules if name.partition(".")[0] == "pytest_refusal"}
        assert sorted(ours) == %r
        heavy = {"numpy", "aiohttp", "httpx2", "asyncio", "concurrent.futures", "hypothesis"}
        assert sorted(heavy & set(sys.modules)) == []
"""

BLOCKED = """
    import socket

    def refuse(*args, **kwargs):
        raise AssertionError("a socket was asked for")

    socket.socket.connect = socket.socket.connect_ex = socket.create_connection = refuse
    socket.getaddrinfo = refuse
"""

IDLE = {
    "no file": None,
    "a table without a policy": '[tool.pytest-refusal]\ncorpus = "prompts.toml"\n',
    "a broken table": "[tool.pytest-refusal]\nno-such-key = 3\n",
    "a policy of somebody else": '[tool.other]\npolicy = "strict"\n',
    "our name as a dependency": '[project]\nname = "x"\nversion = "1"\n'
    'dependencies = ["pytest-refusal"]\n[tool.pytest-refusal-extra]\npolicy = "strict"\n',
}


def normal(stdout: str) -> list[str]:
    """Return the lines of a run without times and without the list of plugins."""
    lines = [line for line in stdout.splitlines() if not line.startswith("plugins:")]
    return [re.sub(r"\d+\.\d+s", "TIME", line) for line in lines]


@pytest.mark.parametrize("name", IDLE)
def test_nothing_is_loaded(project, monkeypatch, name: str) -> None:
    # What other plugins of this environment load is not our doing.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    if (content := IDLE[name]) is not None:
        project.write_file("pyproject.toml", content)
    # What holds our name and no table of ours is searched for a misspelt one.
    searched = {"pytest_refusal.plugin.misspelt_table"} if "dependency" in name else set()
    project.write_file("test_own.py", LOOKS % sorted(ENTRY | searched))
    ran = project.pytester.runpytest_subprocess("-p", "pytest_refusal.plugin")
    ran.assert_outcomes(passed=1)


@pytest.mark.parametrize("args", [(), ("-v",), ("-q",), ("--collect-only",), ("-rA",)], ids="".join)
def test_the_output_is_that_of_a_run_without_us(project, args: tuple[str, ...]) -> None:
    project.write_file("test_own.py", "def test_own(): pass\n\ndef test_fails(): assert 0\n")
    project.write_file("pyproject.toml", IDLE["a table without a policy"])
    # pytest-metadata lists every plugin with -v, and pytest-html brings it.
    others = ("-p", "no:hypothesispytest", "-p", "no:metadata", "-p", "no:html")
    seen = [
        project.pytester.runpytest_inprocess(*others, *args, *without)
        for without in ((), ("-p", "no:refusal"))
    ]
    with_us, without_us = seen
    assert with_us.ret == without_us.ret
    assert normal(with_us.stdout.str()) == normal(without_us.stdout.str())
    assert with_us.stderr.str() == without_us.stderr.str()


def test_options_in_addopts_wait_for_a_policy(project) -> None:
    project.write_file("test_own.py", "def test_own(): pass\n")
    project.write_file(
        "pytest.ini",
        "[pytest]\naddopts = --refusal-report=out.json --refusal-ceiling=under_refusal=0.5\n",
    )
    ran = project.run()
    assert (ran.exit_status, ran.report) == (0, None)
    ran = project.run("prompts.toml", "--refusal-policy=bot:bad")
    assert (ran.exit_status, ran.gate("bot:bad")) == (1, False)


def test_a_conftest_may_give_policies_that_nobody_asks_for(project) -> None:
    text = "def pytest_refusal_policies():\n    raise RuntimeError('asked for')\n"
    project.write_file("conftest.py", text)
    project.write_file("test_own.py", "def test_own(): pass\n")
    for workers in ((), ("-n", "2")):
        ran = project.pytester.runpytest_inprocess("-p", "no:hypothesispytest", *workers)
        ran.assert_outcomes(passed=1)


def test_no_connection_is_opened(project) -> None:
    project.write_file("conftest.py", BLOCKED)
    project.write_file("test_own.py", "def test_own(): pass\n")
    project.settings('corpus = "prompts.toml"')
    for args, passed in (((), 1), (("--refusal-policy=strict",), 4)):
        ran = project.pytester.runpytest_subprocess("-p", "no:hypothesispytest", *args)
        ran.assert_outcomes(passed=passed)


def test_it_is_found_by_its_name_and_can_be_switched_off(project) -> None:
    project.write_file("test_own.py", "def test_own(): pass\n")
    traced = project.pytester.runpytest_inprocess("-p", "no:hypothesispytest", "--trace-config")
    assert re.search(r"^ +refusal +: .*pytest_refusal", traced.stdout.str(), re.MULTILINE)
    off = project.pytester.runpytest_inprocess("-p", "no:refusal", "--refusal-policy=strict")
    assert off.ret == pytest.ExitCode.USAGE_ERROR
    assert "unrecognized arguments: --refusal-policy=strict" in off.stderr.str()


def test_every_option_is_ours_by_its_name_and_says_its_default(project) -> None:
    helped = project.pytester.runpytest_inprocess("-p", "no:hypothesispytest", "--help")
    section = helped.stdout.str().partition("(pytest-refusal):")[2].partition("\n\n")[0]
    entries = re.split(r"\n  (?=-)", section)[1:]
    names = [entry.split("=")[0].split()[0] for entry in entries]
    assert len(names) >= 5
    assert all(name.startswith("--refusal-") for name in names)
    assert [n for n, entry in zip(names, entries, strict=True) if "Default" not in entry] == []


def test_a_typed_option_that_had_no_effect_is_named(project) -> None:
    project.write_file("test_own.py", "def test_own(): pass\n")
    project.write_file("pyproject.toml", '[tool.pytest-refusal]\npolicy = "strict"\n')
    said = "refusal: nothing was asked, so --refusal-report had no effect"
    for args, is_said in [
        (("--refusal-report=r.json",), True),
        (("--refusal-report=r.json", "--collect-only"), False),
        ((), False),
    ]:
        ran = project.pytester.runpytest_inprocess("test_own.py", *args)
        assert ran.ret == pytest.ExitCode.OK
        assert (said in ran.stdout.str()) is is_said
        assert not (project.path / "r.json").exists()
