"""Other plugins in the same run: the same outcomes, no internal error, and each still at work."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

import pytest

POLICIES = """
    import asyncio
    import socket
    import time

    from bot import ANSWER, good, leaks_one

    asked = []

    async def good_later(text):
        await asyncio.sleep(0)
        return good(text)

    def leaks_at_first(text):
        asked.append(text)
        return ANSWER if "secret" in text and asked.count(text) == 1 else good(text)

    def hangs_once(text):
        if "egg" in text:
            time.sleep(30)
        return good(text)

    async def hangs_once_later(text):
        if "egg" in text:
            await asyncio.sleep(30)
        return good(text)

    def calls_out_once(text):
        if "egg" in text:
            socket.socket()
        return good(text)
"""

#: What becomes of the prompts of the project, in the order of the corpus.
GOOD = {"bad-1": True, "bad-2": True, "good-1": True, "good-2": True}
LEAKS_ONE = GOOD | {"bad-2": False}
NO_EGG = GOOD | {"good-1": None}


@dataclass(frozen=True)
class Case:
    """A plugin at work beside us.

    package: as installed.  plugins: their names for `-p`.  shows: what it prints when it is
    at work.  writes: its report, and words that are in there.
    """

    name: str
    package: str
    plugins: tuple[str, ...]
    args: tuple[str, ...] = ()
    policy: str = "leaks_one"
    outcomes: tuple[tuple[str, bool | None], ...] = tuple(LEAKS_ONE.items())
    exit_status: int = 1
    shows: tuple[str, ...] = ()
    writes: tuple[str, tuple[str, ...]] = ("", ())


def case(name: str, *plugins: str, outcomes=LEAKS_ONE, **rest) -> Case:
    package = rest.pop("package", f"pytest-{name.partition(' ')[0]}")
    status = 0 if all(outcomes.values()) else 1
    return Case(
        name, package, plugins, outcomes=tuple(outcomes.items()), exit_status=status, **rest
    )


CASES = [
    case("xdist", "xdist", args=("-n", "2"), shows=("created: 2/2 workers",)),
    case("xdist with no worker", "xdist", args=("-n", "0")),
    case("randomly", "randomly", args=("--randomly-seed=3",), shows=("Using --randomly-seed=3",)),
    case("rerunfailures, still failing", "rerunfailures", args=("--reruns", "2"),
         package="pytest-rerunfailures", shows=("2 rerun", "1 outcome needed reruns")),
    case("rerunfailures, then right", "rerunfailures", args=("--reruns", "2"),
         package="pytest-rerunfailures", policy="leaks_at_first", outcomes=GOOD,
         shows=("1 rerun", "1 outcome needed reruns")),
    case("rerunfailures, nothing to rerun", "rerunfailures", args=("--reruns", "2"),
         package="pytest-rerunfailures", policy="good_later", outcomes=GOOD),
    case("timeout", "timeout", args=("--timeout", "60"), shows=("timeout: 60.0s",)),
    case("timeout by signal", "timeout", args=("--timeout", "1", "--timeout-method=signal"),
         policy="hangs_once", outcomes=NO_EGG, shows=("Timeout (>1.0s)",)),
    case("timeout of an async policy", "timeout", args=("--timeout", "1"),
         policy="hangs_once_later", outcomes=NO_EGG, shows=("Timeout (>1.0s)",)),
    case("html", "html", "metadata", args=("--html=other.html", "--self-contained-html"),
         writes=("other.html", ("bad-2", "3 Passed", "1 Failed"))),
    case("json-report", "pytest_jsonreport", "metadata",
         args=("--json-report", "--json-report-file=other.json"),
         writes=("other.json", ("bad-2", "under-refusal: answered an unsafe prompt"))),
    case("cov", "pytest_cov", args=("--cov=bot",), shows=("bot.py", "TOTAL")),
    case("asyncio", "asyncio", args=("--asyncio-mode=auto",), policy="good_later", outcomes=GOOD,
         shows=("asyncio: mode=Mode.AUTO",)),
    case("anyio", "anyio", package="anyio", policy="good_later", outcomes=GOOD,
         shows=("anyio-",)),
    case("sugar", "sugar", args=("--force-sugar",), shows=("Results", "3 passed", "1 failed")),
    case("socket", "socket", args=("--disable-socket",), policy="calls_out_once", outcomes=NO_EGG,
         shows=("SocketBlockedError",)),
    case("socket, an async policy that needs none", "socket", args=("--disable-socket",),
         package="pytest-socket", policy="good_later", outcomes=GOOD),
    case("instafail", "instafail", args=("--instafail",), shows=("under-refusal: answered",)),
]  # fmt: skip


def installed(*packages: str) -> None:
    for package in packages:
        try:
            version(package)
        except PackageNotFoundError:
            pytest.skip(f"{package} is not installed (dependency group `compat`)")


def results(ran, policy: str) -> dict[str, bool | None]:
    found = [(o["prompt_id"], o["correct"]) for o in ran.policy(policy)["outcomes"]]
    assert len(found) == len(dict(found))
    return dict(found)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "-"))
def test_alone_beside_us(project, monkeypatch: pytest.MonkeyPatch, case: Case) -> None:
    installed(case.package)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    project.write_file("odd.py", POLICIES)
    plugins = [word for name in ("refusal", *case.plugins) for word in ("-p", name)]
    ran = project.run(*plugins, f"--refusal-policy=odd:{case.policy}", "prompts.toml", *case.args,
                      fresh=True)  # fmt: skip
    said = ran.stdout + ran.stderr
    assert "INTERNALERROR" not in said
    assert results(ran, f"odd:{case.policy}") == dict(case.outcomes), said
    assert ran.exit_status == case.exit_status
    assert ran.report["complete"]
    assert [words for words in case.shows if words not in said] == []
    name, contents = case.writes
    written = (project.path / name).read_text() if name else ""
    assert [words for words in contents if words not in written] == []


def test_reruns_are_counted_and_shown(project) -> None:
    installed("pytest-rerunfailures")
    project.write_file("odd.py", POLICIES)
    ran = project.run("--refusal-policy=odd:leaks_one", "prompts.toml", "--reruns=2", fresh=True)
    reruns = {o["prompt_id"]: o["reruns"] for o in ran.policy("odd:leaks_one")["outcomes"]}
    assert reruns == {"bad-1": 0, "bad-2": 2, "good-1": 0, "good-2": 0}
    assert ran.policy("odd:leaks_one")["needed_reruns"] == 1
    assert "  1 outcome needed reruns" in ran.stdout.splitlines()
    assert len(ran.cases()) == 4


def test_an_outcome_of_a_rerun_rules_at_the_gate(project) -> None:
    installed("pytest-rerunfailures")
    project.write_file("odd.py", POLICIES)
    project.settings('corpus = "prompts.toml"\nceilings = { under_refusal = 0 }')
    ran = project.run("--refusal-policy=odd:leaks_at_first", "--reruns=1", fresh=True)
    assert (ran.exit_status, ran.gate("odd:leaks_at_first")) == (0, True)


def test_a_timeout_that_kills_its_worker_leaves_the_others(project) -> None:
    installed("pytest-timeout", "pytest-xdist")
    project.write_file("odd.py", POLICIES)
    ran = project.run("--refusal-policy=odd:hangs_once", "prompts.toml", "-n", "2",
                      "--timeout=1", "--timeout-method=thread", fresh=True)  # fmt: skip
    assert results(ran, "odd:hangs_once") == NO_EGG
    assert ran.exit_status == 1
    assert ran.policy("odd:hangs_once")["unevaluated_by_reason"] == {"crash": 1}


def test_a_timeout_that_kills_the_only_process_does_not_exit_zero(project) -> None:
    installed("pytest-timeout")
    project.write_file("odd.py", POLICIES)
    killed = project.pytester.runpytest_subprocess(
        "--refusal-policy=odd:hangs_once", "prompts.toml", "--timeout=1", "--timeout-method=thread"
    )
    assert killed.ret == 1
    assert "Timeout" in killed.stdout.str() + killed.stderr.str()


@pytest.mark.parametrize("group", [1, 2])
def test_split_makes_a_partial_run(project, group: int) -> None:
    installed("pytest-split")
    project.settings('corpus = "prompts.toml"\nceilings = { under_refusal = 0 }')
    ran = project.run(
        "-p", "no:randomly", "--refusal-policy=bot:good", "--splits=2", f"--group={group}",
        fresh=True,
    )  # fmt: skip
    expected = [["bad-1", "bad-2"], ["good-1", "good-2"]][group - 1]
    assert sorted(results(ran, "bot:good")) == expected
    assert (ran.exit_status, ran.gate("bot:good")) == (0, None)
    assert "partial run: 2 of 4" in ran.stdout


def test_other_json_report_shows_the_gate(project) -> None:
    installed("pytest-json-report")
    project.settings('corpus = "prompts.toml"\nceilings = { under_refusal = 0.1 }')
    project.run("--refusal-policy=bot:leaks_one", "--json-report",
                "--json-report-file=other.json", fresh=True)  # fmt: skip
    other = json.loads((project.path / "other.json").read_text())
    outcomes = {test["nodeid"].partition("[")[0]: test["outcome"] for test in other["tests"]}
    assert outcomes["refusal-gate::under_refusal"] == "failed"
    assert outcomes["prompts.toml::bad-2"] == "failed"
    assert outcomes["prompts.toml::bad-1"] == "passed"


def test_html_shows_the_gate(project) -> None:
    installed("pytest-html")
    project.settings('corpus = "prompts.toml"\nceilings = { under_refusal = 0.1 }')
    project.run("--refusal-policy=bot:leaks_one", "--html=other.html",
                "--self-contained-html", fresh=True)  # fmt: skip
    assert "refusal-gate::under_refusal" in (project.path / "other.html").read_text()


@pytest.mark.parametrize("workers", ["0", "2"])
def test_all_together(project, workers: str) -> None:
    # Only sugar and instafail do not agree: each puts its own terminal in place of pytest's.
    installed(*{case.package for case in CASES} - {"pytest-instafail"}, "pytest-split")
    project.write_file("odd.py", POLICIES)
    ran = project.run(
        "--refusal-policy=odd:leaks_one,odd:good_later", "prompts.toml", "-n", workers,
        "--reruns=1", "--timeout=60", "--html=other.html", "--json-report",
        "--json-report-file=other.json", "--cov=bot", "--asyncio-mode=auto", "--force-sugar",
        "--disable-socket", fresh=True,
    )  # fmt: skip
    assert "INTERNALERROR" not in ran.stdout + ran.stderr
    assert results(ran, "odd:leaks_one") == LEAKS_ONE, ran.stdout + ran.stderr
    assert results(ran, "odd:good_later") == GOOD
    assert ran.exit_status == 1
    assert ran.policy("odd:leaks_one")["needed_reruns"] == 1
