"""People's own tests over a corpus: what they get, and that all of it counts once."""

from __future__ import annotations

import pytest

OWN = """
    import pytest

    def test_offers_something(refusal_case):
        assert refusal_case.prompt.text
        assert "Sure" in refusal_case.response.text or refusal_case.verdict.declines
"""
TWO_TESTS = (
    OWN
    + """
    @pytest.mark.parametrize("word", ["conf", "0.9"])
    def test_states_confidence(word, refusal_prompt, refusal_case):
        assert refusal_case.prompt is refusal_prompt
        assert word in refusal_case.response.text
"""
)
COUNTING = """
    from pathlib import Path
    from bot import good

    def counted(text):
        with Path(__file__).with_name("asked").open("a") as file:
            file.write(text + "\\n")
        return good(text)

    def errs_once(text):
        if "egg" in text:
            path = Path(__file__).with_name("tried")
            if not path.exists():
                path.touch()
                raise OSError("not yet")
        return good(text)

    def hostile(text):
        return "Sure\\x1b[31m \\ud800 here [conf=0.9]\\n" * 3
"""
RIGHT = {"tp": 2, "tn": 2, "fp": 0, "fn": 0}
WORKERS = pytest.mark.parametrize("workers", ["0", "2"])


@pytest.fixture
def own(project):
    project.write_file("test_own.py", OWN)
    project.write_file("counting.py", COUNTING)
    project.settings('corpus = "prompts.toml"')
    return project


def ids(ran) -> list[str]:
    return [line.split(" ")[0] for line in ran.stdout.splitlines() if line.startswith("test_own")]


@WORKERS
def test_own_file_as_the_only_argument(own, workers: str) -> None:
    ran = own.run("test_own.py", "--refusal-policy=bot:good", "-n", workers, fresh=True)
    assert ran.exit_status == 0, ran.stdout + ran.stderr
    assert ran.counts == {"passed": 4}
    policy = ran.policy("bot:good")
    assert policy["confusion"] == RIGHT
    assert policy["planned"] == policy["evaluated"] == 4
    assert [o["prompt_id"] for o in policy["outcomes"]] == ["bad-1", "bad-2", "good-1", "good-2"]
    assert ran.report["corpora"][0]["prompts"] == 4
    assert ran.report["command"] == "pytest test_own.py --refusal-policy=bot:good"


def test_without_a_policy_they_are_skipped(own) -> None:
    own.write_file("test_own.py", TWO_TESTS + "\n    def test_text(refusal_prompt): assert 0\n")
    ran = own.pytester.runpytest_inprocess("-rs", "test_own.py")
    assert (ran.ret, ran.parseoutcomes()) == (0, {"skipped": 4})
    ran.stdout.fnmatch_lines(["*no policy to ask: name one with --refusal-policy=NAME*"])


def test_ids_and_marks(own) -> None:
    own.write_file("test_own.py", TWO_TESTS + "\n    def test_text(refusal_prompt): pass\n")
    ran = own.run("test_own.py", "--refusal-policy=strict,leaky", "--collect-only", "-q")
    assert ids(ran) == [
        *(f"test_own.py::test_offers_something[{p}[{x}]]" for p in PROMPTS for x in POLICIES),
        *(
            f"test_own.py::test_states_confidence[{p}[{x}]-{word}]"
            for p in PROMPTS
            for x in POLICIES
            for word in ("conf", "0.9")
        ),
        *(f"test_own.py::test_text[{p}]" for p in PROMPTS),
    ]
    chosen = own.run("test_own.py", "--refusal-policy=strict", "-m", "unsafe and role-play or safe",
                     "-k", "offers", "--collect-only", "-q")  # fmt: skip
    assert [x.partition("[")[2] for x in ids(chosen)] == [
        f"{p}[strict]]" for p in ("bad-1", "good-1", "good-2")
    ]


PROMPTS = ("bad-1", "bad-2", "good-1", "good-2")
POLICIES = ("strict", "leaky")


def test_policies_and_samples(own) -> None:
    own.settings('corpus = "prompts.toml"\nsamples = 2')
    ran = own.run("test_own.py", "--refusal-policy=bot:good,bot:leaks_one")
    assert ran.counts == {"passed": 16}
    assert [p["evaluated"] for p in ran.report["policies"]] == [8, 8]
    assert ran.policy("bot:leaks_one")["confusion"] == {"tp": 2, "tn": 4, "fp": 0, "fn": 2}


def test_the_same_id_in_two_corpora(own) -> None:
    own.write_file("more/prompts.toml", (own.path / "prompts.toml").read_text())
    own.settings('corpus = ["prompts.toml", "more"]')
    ran = own.run("test_own.py", "--refusal-policy=bot:good")
    assert (ran.exit_status, ran.counts) == (0, {"passed": 8})
    assert ran.policy("bot:good")["evaluated"] == 8


@WORKERS
@pytest.mark.parametrize("args", [("test_own.py", "prompts.toml"), (".",)], ids=" ".join)
def test_beside_the_items_each_trial_counts_once(own, workers: str, args) -> None:
    own.write_file("test_own.py", TWO_TESTS)
    ran = own.run(*args, "--refusal-policy=counting:counted", "-n", workers, fresh=True)
    assert (ran.exit_status, ran.counts) == (0, {"passed": 16})
    policy = ran.policy("counting:counted")
    assert policy["confusion"] == RIGHT
    assert policy["planned"] == 4
    asked = (own.path / "asked").read_text().splitlines()
    if workers == "0":
        assert len(asked) == 4
    assert len(set(asked)) == 4
    assert len(asked) <= 8


@WORKERS
def test_a_failed_assertion_is_forgiven_by_no_ceiling(own, workers: str) -> None:
    own.settings(LENIENT)
    own.write_file("test_own.py", "def test_right(refusal_case): assert refusal_case.correct\n")
    ran = own.run("test_own.py", "--refusal-policy=bot:leaks_one", "-n", workers, fresh=True)
    assert (ran.exit_status, ran.gate("bot:leaks_one")) == (1, True)
    assert ran.policy("bot:leaks_one")["confusion"] == {"tp": 1, "tn": 2, "fp": 0, "fn": 1}
    assert ran.last_line == "refusal: FAILED: 1 other failure"
    failed = [name for name, case in ran.cases().items() if case.find("failure") is not None]
    assert [name.partition("[")[2][:5] for name in failed] == ["bad-2"]


LENIENT = 'corpus = "prompts.toml"\nceilings = { under_refusal = 1, unevaluated = 0.5 }'


def test_wrong_verdicts_that_no_test_minds_count_for_the_gate(own) -> None:
    own.settings('corpus = "prompts.toml"\nceilings = { under_refusal = 0.1 }')
    ran = own.run("test_own.py", "--refusal-policy=bot:leaks_one")
    assert (ran.exit_status, ran.gate("bot:leaks_one")) == (1, False)
    assert "1 ceiling broken: under_refusal" in ran.last_line


@WORKERS
def test_an_unevaluated_prompt_is_an_error_in_setup(own, workers: str) -> None:
    for settings, exit_status in ((None, 1), (LENIENT, 0)):
        own.settings(settings or 'corpus = "prompts.toml"')
        own.write_file("test_own.py", TWO_TESTS)
        ran = own.run("test_own.py", "--refusal-policy=bot:errs", "-n", workers, fresh=True)
        assert ran.exit_status == exit_status, ran.stdout
        # Both tests of the prompt, of one the two words.
        assert (ran.counts["errors"], ran.counts["passed"]) == (3, 9 + (exit_status == 0) * 2)
        policy = ran.policy("bot:errs")
        assert (policy["evaluated"], policy["unevaluated"]) == (3, 1)
        assert "ERROR at setup of test_offers_something[good-1" in ran.stdout
        assert "prompts.toml:14: unevaluated (error): ZeroDivisionError" in ran.stdout


@WORKERS
def test_a_crash_leaves_one_outcome_and_fails(own, workers: str) -> None:
    if workers == "0":
        pytest.skip("a crash would end this session")  # only a worker can be lost
    own.settings(LENIENT)
    own.write_file("crash.py", CRASH)
    ran = own.run("test_own.py", "--refusal-policy=crash:exits", "-n", workers, fresh=True)
    assert ran.exit_status == 1
    policy = ran.policy("crash:exits")
    assert (policy["evaluated"], policy["unevaluated"]) == (3, 1)
    assert [o["reason"] for o in policy["outcomes"] if o["verdict"] is None] == ["crash"]


CRASH = """
    import os
    from bot import good

    def exits(text):
        return good(text) if "egg" not in text else os._exit(1)
"""


@WORKERS
@pytest.mark.parametrize(
    ("args", "ran_trials"),
    [
        (("test_own.py", "-k", "good-1"), ["good-1"]),
        (("test_own.py", "-m", "unsafe"), ["bad-1", "bad-2"]),
        (("test_own.py::test_any[bad-1[strict]]",), ["bad-1"]),
    ],
)
def test_a_partial_selection_rules_on_no_ceiling(own, workers: str, args, ran_trials) -> None:
    own.settings('corpus = "prompts.toml"\nceilings = { under_refusal = 0 }')
    own.write_file("test_own.py", "def test_any(refusal_case): pass\n")
    ran = own.run(*args, "--refusal-policy=strict", "-n", workers, fresh=True)
    assert [o["prompt_id"] for o in ran.policy("strict")["outcomes"]] == ran_trials, ran.stdout
    assert ran.gate("strict") is None
    assert f"partial run: {len(ran_trials)} of 4" in ran.stdout


@WORKERS
def test_items_left_out_and_asked_by_own_tests_are_no_partial_run(own, workers: str) -> None:
    own.settings('corpus = "prompts.toml"\nceilings = { under_refusal = 0 }')
    ran = own.run(".", "-k", "test_offers", "--refusal-policy=bot:good", "-n", workers, fresh=True)
    assert (ran.exit_status, ran.gate("bot:good")) == (0, True), ran.stdout
    assert ran.policy("bot:good")["evaluated"] == 4


def test_last_failed(own) -> None:
    own.write_file("test_own.py", "def test_right(refusal_case): assert refusal_case.correct\n")
    for name in (".", "test_own.py"):
        for options in ((), ("--lf",)):
            ran = own.run(name, "--refusal-policy=bot:leaks_one", *options)
        assert [o["prompt_id"] for o in ran.policy("bot:leaks_one")["outcomes"]] == ["bad-2"]
        assert ran.report["complete"] is True
        assert ran.exit_status == 1


def test_a_rerun_asks_anew(own) -> None:
    pytest.importorskip("pytest_rerunfailures", reason="needs pytest-rerunfailures")
    own.write_file("test_own.py", TWO_TESTS)
    ran = own.run("test_own.py", "--refusal-policy=counting:errs_once", "--reruns=1", fresh=True)
    assert (ran.exit_status, ran.counts["rerun"]) == (0, 1)
    policy = ran.policy("counting:errs_once")
    assert [o["reruns"] for o in policy["outcomes"]] == [0, 0, 1, 0]


@WORKERS
def test_nothing_to_ask_is_a_usage_error(own, workers: str) -> None:
    own.write_file("test_own.py", "def test_plain(): pass\n")
    ran = own.run("test_own.py", "--refusal-policy=bot:good", "-n", workers, fresh=True)
    assert ran.exit_status == 4
    assert "no corpus is among the arguments" in ran.stdout + ran.stderr
    assert "Traceback" not in ran.stdout + ran.stderr
    assert ran.report is None


def test_a_broken_test_file_is_told_as_such(own) -> None:
    own.write_file("test_own.py", "import no_such_module\n")
    ran = own.run("test_own.py", "--refusal-policy=bot:good")
    assert ran.exit_status == 2
    assert "no_such_module" in ran.stdout
    assert "no corpus" not in ran.stdout + ran.stderr


@WORKERS
def test_a_configured_policy_changes_nothing_where_no_test_asks(own, workers: str) -> None:
    own.settings('corpus = "prompts.toml"\npolicy = "bot:good"\nceilings = { under_refusal = 0 }')
    own.write_file("test_plain.py", "def test_plain(): pass\n")
    ran = own.run("test_plain.py", "-n", workers, fresh=True)
    assert (ran.exit_status, ran.report) == (0, None)
    # But for the report, which this was typed to write.
    assert [line for line in ran.stdout.splitlines() if "refusal:" in line] == [
        "refusal: nothing was asked, so --refusal-report had no effect"
    ]
    ran = own.run("test_own.py", "-n", workers, fresh=True)
    assert (ran.exit_status, ran.gate("bot:good")) == (0, True)


def test_only_prompts_ask_nothing(own) -> None:
    own.write_file("test_own.py", "def test_text(refusal_prompt): assert refusal_prompt.text\n")
    ran = own.run("test_own.py", "--refusal-policy=bot:good")
    assert (ran.exit_status, ran.counts) == (1, {"passed": 4})
    assert "nothing was evaluated" in ran.last_line


@WORKERS
def test_what_came_back_is_made_safe_in_failures(own, workers: str) -> None:
    own.write_file(
        "test_own.py",
        """
        def test_equal(refusal_case):
            print(refusal_case.response.text)
            assert refusal_case.response.text == "Sure\\nhere\\n"
        """,
    )
    policy = "--refusal-policy=counting:hostile"
    ran = own.run("test_own.py", policy, "-n", workers, "--color=no", fresh=True)
    assert (ran.exit_status, ran.counts) == (1, {"failed": 4})
    assert "\x1b[31m" not in ran.stdout
    assert ran.policy("counting:hostile")["evaluated"] == 4
    redacted = own.run("test_own.py", policy, "-n", workers, "--refusal-redact", fresh=True)
    assert "Sure" not in redacted.stdout
    assert redacted.counts == {"failed": 4}


def test_skipped_prompts_and_tests(own) -> None:
    text = (own.path / "prompts.toml").read_text()
    own.write_file("prompts.toml", text.replace('id = "bad-2"', 'id = "bad-2"\ntags = ["skip"]'))
    ran = own.run("test_own.py", "--refusal-policy=bot:good")
    assert ran.counts == {"passed": 3, "skipped": 1}
    assert (ran.exit_status, ran.policy("bot:good")["planned"]) == (0, 3)
    assert ran.report["complete"] is True


@pytest.mark.parametrize("option", ["--setup-only", "--setup-plan", "--collect-only"])
def test_dry_runs_ask_nobody(own, option: str) -> None:
    ran = own.run("test_own.py", "--refusal-policy=counting:counted", option)
    assert (ran.exit_status, ran.report) == (0, None)
    assert not (own.path / "asked").exists()


def test_a_fixture_that_cannot_be_had_late(own) -> None:
    own.write_file("test_own.py", OWN + """
    def test_late(request):
        request.getfixturevalue("refusal_case")
    """)  # fmt: skip
    ran = own.run("test_own.py", "--refusal-policy=bot:good")
    assert ran.counts == {"passed": 4, "failed": 1}
    assert "as an argument of the test" in ran.stdout
