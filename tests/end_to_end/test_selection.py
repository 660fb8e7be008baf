"""Every way in which pytest selects tests works on prompts, and on a team's own tests beside."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

OWN_TESTS = """
    import pytest

    @pytest.mark.parametrize("n", [1, 2])
    def test_own(n):
        pass
"""
OWN = ("test_own.py::test_own[1]", "test_own.py::test_own[2]")
ALL = ("bad-1", "bad-2", "good-1", "good-2")

HOSTILE_IDS = [
    "a/b::c[d] e", "a]b", "[", "-k", "--co", "$(id)", "'\"`", "\x1b[31m", "nul\0", "\ud800",
    "\u202e",
    "emoji \U0001f600", "x" * 5000, "rp-01", "RP-01", "\u00e9", "e\u0301", "..", "%s", "#2", "a@b",
]  # fmt: skip


def collected(project, *args: str) -> list[str]:
    """Return the node ids that `--collect-only -q` lists."""
    ran = project.run("--collect-only", "-q", *args)
    assert ran.exit_status == 0, ran.stdout + ran.stderr
    return [line for line in ran.stdout.splitlines() if "::" in line]


def prompt_ids(ran) -> list[str]:
    """Return the ids of the prompts that were asked, in the order of the report."""
    return [o["prompt_id"] for policy in ran.report["policies"] for o in policy["outcomes"]]


def write_hostile(project) -> None:
    prompts = [
        {"id": name, "prompt": f"Question {i}?", "label": ("safe", "unsafe")[i % 2]}
        for i, name in enumerate(HOSTILE_IDS)
    ]
    project.write_file("prompts.jsonl", "\n".join(map(json.dumps, prompts)).encode())
    project.settings('corpus = "prompts.jsonl"')


def write_beside_bundled(project) -> None:
    project.write_file("corpus/taxonomy.toml", (project.path / "prompts.toml").read_bytes())
    project.settings('corpus = ["corpus", "taxonomy"]')


def write_outside(project) -> None:
    (project.path / "prompts.toml").rename(project.path.parent / "outside.toml")
    project.settings('corpus = "../outside.toml"')


@dataclass(frozen=True)
class Listing:
    """A project in which ids are listed and given back."""

    name: str
    policy: str = "strict,bot:good"
    settings: str | None = 'corpus = "prompts.toml"'
    paths: tuple[str, ...] = ()
    write: object = None
    options: tuple[str, ...] = ()
    folder: str = "."
    #: How many items there are in all, and for the first prompt without its brackets.
    count: int = 8
    count_of_first: int = 2


LISTINGS = [
    Listing("two policies"),
    Listing("samples", settings='corpus = "prompts.toml"\nsamples = 3', count=24, count_of_first=6),
    Listing("from a sub-folder", folder="sub"),
    Listing("argument from a sub-folder", settings="", paths=("../prompts.toml",), folder="sub"),
    Listing("bundled", policy="strict", settings=None, count=175, count_of_first=1),
    Listing("bundled from a sub-folder", policy="strict", settings=None, folder="sub", count=175,
            count_of_first=1),
    Listing("own corpus beside the bundled one of its name", policy="strict",
            write=write_beside_bundled, count=59, count_of_first=1),
    # Without the option, pytest takes a folder that holds all arguments for rootdir.
    Listing("corpus outside rootdir", write=write_outside, options=("--rootdir=.",)),
    Listing("hostile ids", write=write_hostile, count=2 * len(HOSTILE_IDS)),
]  # fmt: skip


@pytest.mark.parametrize("case", LISTINGS, ids=lambda case: case.name.replace(" ", "-"))
def test_each_listed_id_can_be_given_back(project, monkeypatch, case: Listing) -> None:
    if case.folder != "." and pytest.version_tuple < (8, 1):
        pytest.skip("pytest 8.0 does not take a pyproject.toml without its own table for a root")
    if case.settings is not None:
        project.settings(case.settings)
    if case.write is not None:
        case.write(project)
    (project.path / "sub").mkdir()
    (project.path / "sub" / "bot.py").write_bytes((project.path / "bot.py").read_bytes())
    monkeypatch.chdir(project.path / case.folder)
    options = (f"--refusal-policy={case.policy}", *case.options)
    ids = collected(project, *options, *case.paths)
    assert len(set(ids)) == len(ids) == case.count
    names = [node_id.partition("::")[2] for node_id in ids]
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+\[[A-Za-z0-9._-]+(#\d)?\]", name) for name in names)
    assert all(len(name) <= 100 for name in names)
    assert sorted(collected(project, *options, *ids)) == sorted(ids)
    assert collected(project, *options, ids[-1]) == ids[-1:]
    without_brackets = ids[0].rpartition("[")[0]
    assert collected(project, *options, without_brackets) == ids[: case.count_of_first]


SELECTIONS = [
    ((), ALL),
    (("prompts.toml",), ALL),
    (("prompts.toml::bad-1[strict]",), ("bad-1",)),
    (("prompts.toml::good-2", "prompts.toml::bad-1"), ("bad-1", "good-2")),
    (("prompts.toml::good-2", "prompts.toml"), ALL),
    (("-k", "bad-1"), ("bad-1",)),
    (("-k", "good and not good-1"), ("good-2",)),
    (("-k", "unsafe"), ("bad-1", "bad-2")),
    (("-k", "role-play"), ("bad-1",)),
    (("-m", "refusal"), ALL),
    (("-m", "refusal and unsafe"), ("bad-1", "bad-2")),
    (("-m", "safe"), ("good-1", "good-2")),
    (("-m", "everyday and not unsafe"), ("good-1", "good-2")),
    (("-m", "not refusal", "test_own.py", "prompts.toml"), ()),
    (("--deselect", "prompts.toml::bad-1[strict]"), ("bad-2", "good-1", "good-2")),
    (("--deselect", "prompts.toml::bad"), ("good-1", "good-2")),
    (("sub",), ("sub-1",)),
    (("sub/more.toml",), ("sub-1",)),
    (("sub", "prompts.toml::bad-2"), ("sub-1", "bad-2")),
    (("elsewhere.toml",), ("other-1",)),
    (("./sub/../prompts.toml::bad-1",), ("bad-1",)),
]  # fmt: skip


@pytest.mark.parametrize(("args", "expected"), SELECTIONS, ids=lambda v: "+".join(v) or "none")
def test_arguments_and_options_select(project, args, expected) -> None:
    for path, name in (("sub/more.toml", "sub-1"), ("elsewhere.toml", "other-1")):
        prompt = f'[[prompt]]\nid = "{name}"\nprompt = "What about {name}?"\nlabel = "safe"\n'
        project.write_file(path, prompt)
    project.write_file("test_own.py", OWN_TESTS)
    project.settings('corpus = ["prompts.toml"]')
    if "sub" in args:
        project.settings('corpus = ["prompts.toml", "sub"]')
    ran = project.run("--refusal-policy=strict", *args)
    assert prompt_ids(ran) == list(expected)
    own = 2 if "test_own.py" in args else 0
    assert ran.counts.get("passed", 0) == len(expected) + own


# What runs where a policy is typed, configured, or stands in addopts.
WHERE = [
    ("typed", "", (), "--refusal-policy=strict", False, True),
    ("typed-with-paths", "", (".",), "--refusal-policy=strict", True, True),
    ("typed-with-own-file-too", "", ("test_own.py", "prompts.toml"), "--refusal-policy=strict",
     True, True),
    ("configured", 'policy = "strict"', (), "", True, True),
    ("configured-with-folder", 'policy = "strict"', (".",), "", True, True),
    ("configured-with-own-file", 'policy = "strict"\nceilings = {ece = 0}', ("test_own.py",), "",
     True, False),
    ("configured-with-own-id", 'policy = "strict"\nceilings = {ece = 0}', (OWN[0],), "", True,
     False),
    ("configured-with-corpus", 'policy = "strict"', ("prompts.toml",), "", False, True),
    ("addopts", '[tool.pytest.ini_options]\naddopts = "--refusal-policy=strict"', (), "", True,
     True),
    ("addopts-with-own-file", '[tool.pytest.ini_options]\naddopts = "--refusal-policy=strict"',
     ("test_own.py",), "", True, False),
    ("configured-and-switched-off", 'policy = "strict"', (), "-pno:refusal", True, False),
]  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "args", "option", "own", "prompts"),
    [row[1:] for row in WHERE],
    ids=[row[0] for row in WHERE],
)
def test_own_tests_are_never_dropped(project, settings, args, option, own, prompts) -> None:
    project.write_file("test_own.py", OWN_TESTS)
    project.settings(f'corpus = "prompts.toml"\n{settings}')
    # Hypothesis takes a second to look whether it was used.
    given = ["-p", "no:hypothesispytest", "-q", "--collect-only", *filter(None, [option]), *args]
    listed = project.pytester.runpytest_inprocess(*given).outlines
    found = [line for line in listed if "::" in line]
    expected_own = [node_id for node_id in OWN if own and (OWN[0] not in args or node_id in args)]
    assert [line for line in found if line.startswith("test_own")] == expected_own
    assert [line for line in found if line.startswith("prompts")] == [
        f"prompts.toml::{name}[strict]" for name in ALL if prompts
    ]


def test_an_own_test_alone_is_an_ordinary_run(project) -> None:
    project.write_file("test_own.py", OWN_TESTS)
    project.settings('corpus = "prompts.toml"\npolicy = "bot:bad"\nceilings = { ece = 0 }')
    ran = project.run("test_own.py")
    assert (ran.exit_status, ran.counts, ran.report) == (0, {"passed": 2}, None)
    assert [line for line in ran.stdout.splitlines() if "refusal:" in line] == [
        "refusal: nothing was asked, so --refusal-report had no effect"
    ]


def test_failures_are_run_again_first_or_alone(project) -> None:
    project.settings('corpus = "prompts.toml"\nceilings = { under_refusal = 0.1 }')
    policy = "--refusal-policy=bot:leaks_one"
    failed = "prompts.toml::bad-2[bot-leaks_one-62495abe]"
    assert project.run(policy).exit_status == 1
    cache = project.path / ".pytest_cache/v/cache"
    assert json.loads((cache / "lastfailed").read_text()) == {failed: True}
    assert not any(
        "refusal-gate" in node_id for node_id in json.loads((cache / "nodeids").read_text())
    )
    last = project.run(policy, "--lf")
    assert (last.exit_status, prompt_ids(last)) == (1, ["bad-2"])
    assert last.gate("bot:leaks_one") is None
    first = collected(project, policy, "--ff")
    assert [node_id.split("[")[0] for node_id in first] == [
        f"prompts.toml::{name}" for name in ("bad-2", "bad-1", "good-1", "good-2")
    ]
    stopped = project.run(policy, "--sw")
    assert prompt_ids(stopped) == ["bad-1", "bad-2"]
    bot = project.path / "bot.py"
    bot.write_text(bot.read_text().replace('ANSWER if "secret" in text else ', ""))
    resumed = project.run(policy, "--sw", fresh=True)
    assert (resumed.exit_status, prompt_ids(resumed)) == (0, ["bad-2", "good-1", "good-2"])
    mended = project.run(policy, "--lf", fresh=True)
    assert (mended.exit_status, prompt_ids(mended)) == (0, list(ALL))


def test_new_prompts_first(project) -> None:
    project.settings('corpus = "prompts.toml"')
    project.run("--refusal-policy=strict")
    more = (project.path / "prompts.toml").read_text()
    new = '\n[[prompt]]\nid = "new"\nprompt = "A new one?"\nlabel = "safe"\n'
    project.write_file("prompts.toml", more + new)
    ids = collected(project, "--refusal-policy=strict", "--nf")
    assert ids[0] == "prompts.toml::new[strict]"
    assert len(ids) == 5


DRY = [("--collect-only",), ("--setup-plan",), ("--setup-only",), ("--setup-plan", "-n", "2")]


@pytest.mark.parametrize("args", DRY, ids="".join)
def test_dry_runs_ask_nobody(project, args: tuple[str, ...]) -> None:
    project.write_file("asked.py", "def spy(text):\n    open('asked', 'w')\n    return 'Sure.'\n")
    project.settings('corpus = "prompts.toml"\nceilings = { ece = 0 }')
    ran = project.run("--refusal-policy=asked:spy", *args)
    assert (ran.exit_status, ran.report) == (0, None)
    assert not (project.path / "asked").exists()
    assert "summary" not in ran.stdout
    if "-n" not in args:
        assert all(name in ran.stdout for name in ALL)


@pytest.mark.parametrize("option", ["--fixtures", "--markers", "--cache-show", "--version", "-h"])
def test_what_pytest_tells_of_itself_is_left_alone(project, option: str) -> None:
    project.settings('corpus = "no-such-file.toml"\npolicy = "no-such-policy"')
    ran = project.pytester.runpytest_inprocess("-p", "no:hypothesispytest", option)
    assert ran.ret == 0
    assert "refusal summary" not in ran.stdout.str()


@dataclass(frozen=True)
class Display:
    """What is seen of a run with one failure: the long text, the summary, the header."""

    args: tuple[str, ...]
    text: bool = True
    summary: bool = True
    header: bool = True
    exit_status: int = 1


DISPLAYS = [
    Display(("--tb=auto",)),
    Display(("--tb=short",)),
    Display(("--tb=long", "-l")),
    Display(("--tb=native",)),
    Display(("--tb=line",), text=pytest.version_tuple >= (9,)),  # before, it is one line indeed
    Display(("--tb=no",), text=False),
    Display(("--full-trace",)),
    Display(("-rA",)),
    Display(("-v",)),
    Display(("-vv",)),
    Display(("-q",), header=False),
    Display(("-qq",), header=False),
    Display(("-s",)),
    Display(("--no-header",), header=False),
    Display(("--no-summary",), text=False, summary=False),
    Display(("-p", "no:terminal"), text=False, summary=False, header=False),
    Display(("--durations=3", "--durations-min=0")),
    Display(("--color=yes",)),
    Display(("-W", "error", "--strict-markers", "--strict-config")),
    Display(("-p", "no:cacheprovider")),
    Display(("-p", "no:junitxml", "-p", "no:logging")),
    Display(("-o", "console_output_style=count")),
    Display(("--trace",)),
]  # fmt: skip


@pytest.mark.parametrize("case", DISPLAYS, ids=lambda case: "".join(case.args))
def test_display_options(project, case: Display) -> None:
    project.settings('corpus = "prompts.toml"\nceilings = { under_refusal = 0.1 }')
    policy = "--refusal-policy=bot:leaks_one"
    # A plugin that is switched off takes its options along.
    if "no:junitxml" in case.args:
        args = ["-p", "no:hypothesispytest", policy, "--refusal-report=out.json", *case.args]
        stdout = project.pytester.runpytest_inprocess(*args).stdout.str()
        gate = json.loads((project.path / "out.json").read_text())["policies"][0]["gate"]["passed"]
    else:
        ran = project.run(policy, *case.args)
        stdout, gate = ran.stdout, ran.gate("bot:leaks_one")
        assert ran.exit_status == 1
    assert gate is False
    plain = re.sub(r"\x1b\[[0-9;]*m", "", stdout)
    assert "Traceback" not in plain
    assert "INTERNALERROR" not in plain
    assert "pluggy/" not in plain
    assert all(int(percent) <= 100 for percent in re.findall(r"\[ *(\d+)%\]", plain))
    assert all(int(n) <= int(of) for n, of in re.findall(r"\[ *(\d+)/(\d+)\]", plain))
    assert ("came back   answer" in plain) == case.text
    assert ("refusal summary" in plain) == case.summary
    assert ("refusal: FAILED: bot:leaks_one: 1 ceiling broken" in plain) == case.summary
    assert ("ceilings from pyproject.toml" in plain) == case.header


def test_every_prompt_and_gate_is_counted_once_in_the_progress(project) -> None:
    project.settings('corpus = "prompts.toml"\nceilings = { under_refusal = 0.1 }')
    ran = project.run("--refusal-policy=bot:leaks_one", "-v")
    assert re.findall(r"\[ *(\d+)%\]", ran.stdout) == ["25", "50", "75", "100"]
    assert ran.counts == {"failed": 2, "passed": 4}


def test_the_debugger_opens_at_a_failure_and_goes_on(project) -> None:
    project.settings('corpus = "prompts.toml"')
    ran = project.pytester.run(
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:hypothesispytest",
        "--pdb",
        "--refusal-policy=bot:leaks_one",
        stdin=b"c\n",
    )
    ran.assert_outcomes(failed=1, passed=3)
    assert "entering PDB" in ran.stdout.str()


def test_where_settings_are_read_from(project) -> None:
    project.settings('corpus = "prompts.toml"\nceilings = { accuracy = 0 }')
    project.write_file("pytest.ini", "[pytest]\n")
    beside = project.run("--refusal-policy=strict")
    assert "ceilings from pyproject.toml" in beside.stdout
    assert "configfile: pytest.ini" in beside.stdout
    table = '[tool.pytest-refusal]\ncorpus = "more.toml"\nceilings = { over_refusal = 1 }\n'
    project.write_file("conf/other.toml", table)
    project.write_file("conf/more.toml", '[[prompt]]\nid = "m"\nprompt = "M?"\nlabel = "safe"\n')
    given = project.run("-c", "conf/other.toml", "--rootdir=.", "--refusal-policy=strict")
    assert prompt_ids(given) == ["m"]
    assert "ceilings from conf/other.toml" in given.stdout
    both = ("conf/more.toml", "prompts.toml")
    mixed = project.run("-c", "conf/other.toml", "--rootdir=.", "--refusal-policy=strict", *both)
    assert prompt_ids(mixed) == ["m", *ALL]
    (project.path / "sub").mkdir()
    elsewhere = project.run("--rootdir=sub", "--refusal-policy=strict", "prompts.toml")
    assert prompt_ids(elsewhere) == list(ALL)
    assert "no ceilings" in elsewhere.stdout


def test_two_corpora_of_one_name_lose_no_outcome(project) -> None:
    project.write_file("conf/prompts.toml", (project.path / "prompts.toml").read_bytes())
    project.write_file("conf/other.toml", '[tool.pytest-refusal]\ncorpus = "prompts.toml"\n')
    files = ("conf/prompts.toml", "prompts.toml")
    ran = project.run("-c", "conf/other.toml", "--rootdir=.", "--refusal-policy=strict", *files)
    assert prompt_ids(ran) == [*ALL, *ALL]
    assert {o["corpus"] for o in ran.policy("strict")["outcomes"]} == set(files)


def test_a_link_to_a_corpus_is_the_same_corpus(project) -> None:
    (project.path / "link.toml").symlink_to(Path("prompts.toml"))
    project.settings('corpus = "prompts.toml"')
    assert len(prompt_ids(project.run("--refusal-policy=strict", "link.toml", "prompts.toml"))) == 4


def test_marks_of_others_keep_their_meaning(project) -> None:
    project.write_file(
        "conftest.py",
        """
        import pytest

        def pytest_collection_modifyitems(items):
            skipped, strict, not_run, expected = items
            skipped.add_marker(pytest.mark.skip(reason="flaky model"))
            strict.add_marker(pytest.mark.xfail(strict=True))
            not_run.add_marker(pytest.mark.xfail(run=False, reason="costs money"))
            expected.add_marker(pytest.mark.xfail)
        """,
    )
    project.settings('corpus = "prompts.toml"\nceilings = { accuracy = 0 }')
    good = project.run("--refusal-policy=bot:good")
    # A strict xfail that passes is a failure that no ceiling speaks of.
    assert (good.exit_status, good.gate("bot:good")) == (1, True)
    assert "1 other failure" in good.last_line
    assert "flaky model" in good.stdout
    assert "costs money" in good.stdout
    bad = project.run("--refusal-policy=bot:bad")
    assert (bad.exit_status, bad.gate("bot:bad")) == (0, True)
    assert bad.counts == {"skipped": 1, "xfailed": 3, "passed": 2}


def test_a_category_named_like_a_mark_does_not_act_as_it(project) -> None:
    categories = (
        "skip",
        "xfail",
        "refusal",
        "tryfirst",
        "parametrize",
        "usefixtures",
        "filterwarnings",
    )
    project.write_file(
        "prompts.toml",
        "".join(
            f'[[prompt]]\nid = "p-{name}"\nprompt = "About {name}?"\nlabel = "safe"\n'
            f'category = "{name}"\n'
            for name in categories
        ),
    )
    project.settings('corpus = "prompts.toml"')
    ran = project.run("--refusal-policy=bot:good")
    assert (ran.exit_status, ran.counts) == (0, {"passed": len(categories)})


def test_keywords_look_into_the_name_of_the_file_and_not_of_its_folders(project) -> None:
    project.write_file("corpus/mine.toml", (project.path / "prompts.toml").read_bytes())
    args = ("corpus/mine.toml", "--refusal-policy=bot:leaks_one")
    assert project.run(*args, "-k", "rp").exit_status == 5
    assert project.run(*args, "-k", "mine").counts["passed"] == 3
    listed = project.run(*args, "--co").stdout
    assert "<Corpus mine.toml>" in listed
    assert "corpus/mine.toml::bad-2[" in project.run(*args, "--co", "-q").stdout
    project.run(*args)
    assert project.run(*args, "--lf").counts == {"failed": 1, "deselected": 3}
