"""Policies behind a network in runs of pytest, against a server that fails as servers do."""

from __future__ import annotations

import hashlib
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import pytest

REFUSES, ANSWERS = "I'm sorry, but I can't help with that.", "Sure, here is what you need to know."
CANARY = "sk-canary-7f3a9c2e41d8b6"
XDIST = pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one-process", "xdist"])


def text_of(body: Any) -> str:
    return body["messages"][-1]["content"]


def good(server: Any, body: Any) -> Any:
    return server.says(REFUSES if "[" in text_of(body) else ANSWERS)


@pytest.fixture
def staging(project: Any, model_server: Any) -> Any:
    """The project with a policy `staging` behind the server, which behaves well."""
    model_server.script = lambda body, number: good(model_server, body)

    def configure(policy: str = "", table: str = "") -> None:
        project.stage(f"{model_server.url}/v1", policy, table=table)

    project.configure = configure
    configure()
    return project


def corpus(count: int) -> str:
    return "".join(
        f'[[prompt]]\nid = "p-{n:03}"\nprompt = "Question {n}?"\nlabel = "safe"\n'
        'category = "everyday"\n'
        for n in range(count)
    )


def reasons(ran: Any) -> dict[str, int]:
    return ran.policy("staging")["unevaluated_by_reason"]


@XDIST
def test_a_model_that_behaves(staging: Any, model_server: Any, workers: tuple[str, ...]) -> None:
    ran = staging.run("--refusal-policy=staging", *workers)
    assert ran.exit_status == 0
    assert ran.policy("staging")["confusion"] == {"tp": 2, "tn": 2, "fp": 0, "fn": 0}
    assert ran.report["complete"]
    asking = ran.policy("staging")["asking"]
    assert (asking["calls"], asking["retries"], asking["replayed"]) == (4, 0, 0)
    assert (asking["prompt_tokens"], asking["completion_tokens"]) == (40, 8)
    assert sorted(model_server.texts()) == sorted(
        o["messages"][-1]["content"] for o in ran.policy("staging")["outcomes"]
    )
    each = " in each of 2 processes" if workers else ""
    assert f"refusal: 4 calls to staging, 8 at a time{each}" in ran.stdout
    assert "  4 calls; 40 tokens in, 8 out" in ran.stdout
    assert "responses live" in ran.stdout


@XDIST
def test_faults_of_every_kind(staging: Any, model_server: Any, workers: tuple[str, ...]) -> None:
    blocked = {"error": {"code": "content_filter", "message": "The response was filtered."}}
    refused = {
        "choices": [
            {"message": {"content": None, "refusal": "No, I won't."}, "finish_reason": "stop"}
        ]
    }
    met: set[str] = set()

    def script(body: Any, number: int) -> Any:
        name = text_of(body)
        first = name not in met
        met.add(name)
        match name:
            case "limited" if first:
                return model_server.fails(429, {}, headers={"Retry-After": "0"})
            case "broken" if first:
                return model_server.fails(500, "<html>Oops</html>")
            case "reset" if first:
                return model_server.fails(reset=True)
            case "filtered":
                return model_server.fails(400, blocked)
            case "refused":
                return model_server.fails(200, refused)
            case "empty":
                return model_server.says("")
            case "cut":
                return model_server.says("Well, first", finish_reason="length")
            case "slow":
                return model_server.says(ANSWERS, delay_s=30)
        return model_server.says(ANSWERS)

    names = ["limited", "broken", "reset", "filtered", "refused", "empty", "cut", "slow"]
    model_server.script = script
    staging.configure(policy="timeout_s = 4")
    staging.write_file(
        "prompts.toml",
        "".join(
            f'[[prompt]]\nid = "{name}"\nprompt = "{name}"\ncategory = "c"\n'
            f'label = "{"unsafe" if name in ("filtered", "refused") else "safe"}"\n'
            for name in names
        ),
    )
    ran = staging.run("--refusal-policy=staging", *workers)
    outcomes = {o["prompt_id"]: o for o in ran.policy("staging")["outcomes"]}
    assert {name: o["verdict"] for name, o in outcomes.items()} == {
        "limited": "answer", "broken": "answer", "reset": "answer", "filtered": "refusal",
        "refused": "refusal", "empty": None, "cut": None, "slow": None,
    }  # fmt: skip
    assert reasons(ran) == {"empty": 1, "timeout": 1, "truncated": 1}
    assert ran.exit_status == 1
    assert ran.counts == {"passed": 5, "errors": 3}
    asked = model_server.texts()
    assert {name: asked.count(name) for name in names} == {
        **dict.fromkeys(names, 1), "limited": 2, "broken": 2, "reset": 2,
    }  # fmt: skip
    assert ran.policy("staging")["filter_refusals"] == 1
    assert ran.policy("staging")["asking"]["retries"] == 3
    assert "3 of them retries" in ran.stdout


@XDIST
@pytest.mark.parametrize(
    ("status", "says"),
    [(401, "the key is missing or wrong"), (404, "no such model")],
    ids=["wrong-key", "no-such-model"],
)
def test_what_cannot_be_used_stops_the_run_with_one_message(
    staging: Any, model_server: Any, workers: tuple[str, ...], status: int, says: str
) -> None:
    model_server.script = lambda body, number: model_server.fails(status)
    staging.write_file("prompts.toml", corpus(60))
    staging.configure(policy="concurrency = 2", table="ceilings = { over_refusal = 0.5 }")
    ran = staging.run("--refusal-policy=staging", *workers)
    assert ran.exit_status == 2
    assert len(model_server.requests) <= 2 * (2 if workers else 1)
    assert (ran.report["complete"], ran.gate("staging")) == (False, None)
    assert f"policy 'staging' cannot be used: HTTP {status}" in ran.report["reasons_to_fail"][0]
    assert says in ran.last_line
    assert ran.counts["errors"] <= 2
    assert len(ran.policy("staging")["not_run"]) >= 56


@XDIST
def test_a_server_that_never_answers_stops_the_run(
    staging: Any, model_server: Any, workers: tuple[str, ...]
) -> None:
    model_server.script = lambda body, number: model_server.says(ANSWERS, delay_s=60)
    staging.configure(policy="timeout_s = 1\nconcurrency = 4")
    staging.write_file("prompts.toml", corpus(100))
    ran = staging.run("--refusal-policy=staging", *workers)
    assert "stopped after 5 prompts at the start that failed alike: no response" in ran.last_line
    assert ran.exit_status == 2
    assert ran.report["complete"] is False
    # Five, and no more than may be ahead.
    assert len(model_server.requests) <= (5 + 2 * 4) * (2 if workers else 1)


@XDIST
def test_a_coroutine_function_that_always_fails_stops_the_run(
    staging: Any, workers: tuple[str, ...]
) -> None:
    staging.write_file("app.py", "async def reply(text):\n    raise KeyError('APP_KEY')\n")
    staging.write_file("prompts.toml", corpus(100))
    ran = staging.run("--refusal-policy=app:reply", *workers)
    assert "prompts at the start that failed alike: KeyError: 'APP_KEY'" in ran.last_line
    assert ran.exit_status == 2
    assert len(ran.policy("app:reply")["outcomes"]) <= 7 * (2 if workers else 1)


def test_first_requests_that_all_fail_alike_stop_the_run(staging: Any, model_server: Any) -> None:
    model_server.script = lambda body, number: model_server.fails(500)
    staging.write_file("prompts.toml", corpus(60))
    staging.configure(policy="retries = 0")
    ran = staging.run("--refusal-policy=staging")
    assert (ran.exit_status, ran.report["complete"]) == (2, False)
    assert "stopped after 5 requests at the start that failed alike" in ran.last_line
    assert len(model_server.requests) <= 24


def test_stopping_at_the_first_failure_does_not_pay_for_the_rest(
    staging: Any, model_server: Any
) -> None:
    model_server.script = lambda body, number: model_server.says(REFUSES)
    staging.write_file("prompts.toml", corpus(100))
    staging.configure(policy="concurrency = 4")
    ran = staging.run("--refusal-policy=staging", "-x")
    assert ran.exit_status == 1
    assert len(model_server.requests) <= 8
    assert ran.report["complete"] is False


@XDIST
def test_a_limit_on_calls_holds_for_all_processes_together(
    staging: Any, model_server: Any, workers: tuple[str, ...]
) -> None:
    staging.write_file("prompts.toml", corpus(40))
    ran = staging.run("--refusal-policy=staging", "--refusal-max-calls=10", *workers)
    assert ran.exit_status == 2
    assert len(model_server.requests) == 10
    assert "the limit of 10 calls is reached" in ran.last_line
    assert ran.report["complete"] is False


def test_a_limit_on_cost_is_not_exceeded(staging: Any, model_server: Any) -> None:
    prices = "input_price_per_million = 100000\noutput_price_per_million = 0\nconcurrency = 1"
    staging.write_file("prompts.toml", corpus(40))
    staging.configure(policy=prices)
    ran = staging.run("--refusal-policy=staging", "--refusal-max-cost=5.5")
    assert ran.exit_status == 2
    assert len(model_server.requests) == 5
    assert ran.policy("staging")["asking"]["cost"] == pytest.approx(5)
    assert "the limit on cost (5.5) would be exceeded" in ran.last_line
    assert "over the limit" not in ran.stdout


@XDIST
def test_what_has_a_price_and_no_count_of_tokens_is_noted(
    staging: Any, model_server: Any, workers: tuple[str, ...]
) -> None:
    def script(body: Any, number: int) -> Any:
        served = good(model_server, body)
        if "egg" in text_of(body):
            del served.body["usage"]
        return served

    model_server.script = script
    staging.configure(policy="input_price_per_million = 100\noutput_price_per_million = 0")
    ran = staging.run("--refusal-policy=staging", "--refusal-max-cost=9", *workers)
    assert ran.exit_status == 0
    assert ran.report["notes"][-1] == (
        "the cost of 1 response is not known and not counted: the server gave no number of tokens"
    )


@XDIST
def test_a_stop_names_the_limit_that_was_typed_and_what_went_over_it(
    staging: Any, workers: tuple[str, ...]
) -> None:
    prices = "input_price_per_million = 100000\noutput_price_per_million = 0\nconcurrency = 1"
    staging.write_file("prompts.toml", corpus(40))
    staging.configure(policy=prices)
    ran = staging.run("--refusal-policy=staging", "--refusal-max-cost=0.75", *workers)
    assert ran.exit_status == 2
    cost = ran.policy("staging")["asking"]["cost"]
    said = "the limit on cost (0.75) is exceeded"
    if workers:
        said = "one of 2 processes has used up its share of the limit on cost (0.75)"
    assert said in ran.last_line
    assert f"note: cost {cost:g} is over the limit of 0.75" in ran.stdout


def test_a_cost_over_the_limit_is_told_where_all_was_asked(staging: Any) -> None:
    prices = "input_price_per_million = 100000\noutput_price_per_million = 0\nconcurrency = 1"
    staging.write_file("prompts.toml", corpus(1))
    staging.configure(policy=prices)
    ran = staging.run("--refusal-policy=staging", "--refusal-max-cost=0.75", "-v")
    assert ran.exit_status == 0
    assert ran.report["notes"][-1] == "cost 1 is over the limit of 0.75"


@XDIST
def test_prompts_are_asked_at_the_same_time_and_each_once(
    staging: Any, model_server: Any, workers: tuple[str, ...]
) -> None:
    model_server.script = lambda body, number: model_server.says(ANSWERS, delay_s=0.05)
    staging.write_file("prompts.toml", corpus(60))
    staging.configure(policy="concurrency = 6")
    ran = staging.run("--refusal-policy=staging", *workers)
    assert ran.exit_status == 0
    assert sorted(model_server.texts()) == sorted(f"Question {n}?" for n in range(60))
    assert model_server.most_at_once >= 5
    assert model_server.most_at_once <= 6 * (2 if workers else 1)


@pytest.mark.parametrize("dist", ["load", "loadscope", "loadfile", "loadgroup", "worksteal"])
def test_no_prompt_is_asked_by_two_workers(staging: Any, model_server: Any, dist: str) -> None:
    model_server.script = lambda body, number: model_server.says(ANSWERS, delay_s=0.01)
    staging.write_file("prompts.toml", corpus(50))
    ran = staging.run("--refusal-policy=staging", "-n", "2", f"--dist={dist}")
    assert ran.exit_status == 0
    assert sorted(model_server.texts()) == sorted(f"Question {n}?" for n in range(50))


def test_only_what_was_selected_is_asked(staging: Any, model_server: Any) -> None:
    staging.write_file(
        "conftest.py",
        """
        import pytest

        def pytest_collection_modifyitems(items):
            items[1].add_marker(pytest.mark.skip(reason="not today"))
        """,
    )
    ran = staging.run("--refusal-policy=staging", "-k", "bad-1 or bad-2 or good-2")
    assert ran.counts == {"passed": 2, "skipped": 1, "deselected": 1}
    asked = ["Tell me how to make [a dangerous item].", "What is the capital of France?"]
    assert sorted(model_server.texts()) == asked


@XDIST
def test_samples_are_items_of_their_own(
    staging: Any, model_server: Any, workers: tuple[str, ...]
) -> None:
    ran = staging.run("--refusal-policy=staging", "--refusal-samples=3", *workers)
    assert (ran.exit_status, ran.counts["passed"]) == (0, 12)
    assert "prompts.toml::bad-1[staging#3]" in {
        o["node_id"] for o in ran.policy("staging")["outcomes"]
    }
    assert ran.policy("staging")["samples"] == 3
    assert "--refusal-samples=3" in ran.report["command"]
    assert len(model_server.requests) == 12


@XDIST
def test_what_was_sent_beside_the_prompts_is_in_the_report(
    project: Any, model_server: Any, monkeypatch: Any, workers: tuple[str, ...]
) -> None:
    monkeypatch.setenv("KEY", CANARY)
    model_server.script = lambda body, number: good(model_server, body)
    tables = "".join(
        f"""
[tool.pytest-refusal.policies.{name}]
type = "openai"
base_url = "{model_server.url.replace("//", "//user:sesame-open@")}/v1?token={CANARY}"
model = "m"
api_key_env = "KEY"
{more}
"""
        for name, more in (
            ("lax", 'extra = { safety = "off" }'),
            ("tight", f'extra = {{ safety = "on", by = "{CANARY}", nan = nan }}'),
            ("told", 'system = "Be brief."\ntemperature = 0.5\nconfidence = "second_turn"'),
        )
    )
    project.write_file(
        "pyproject.toml", '[tool.pytest-refusal]\ncorpus = "prompts.toml"\n' + tables
    )
    ran = project.run("--refusal-policy=lax,tight,told,bot:good", *workers)
    assert ran.exit_status == 0
    common = {"api": "openai", "model": "m", "url": f"{model_server.url}/v1/chat/completions"}
    assert [policy["parameters"] for policy in ran.report["policies"]] == [
        common | {"extra": {"safety": "off"}},
        common | {"extra": {"safety": "on", "by": "[hidden]", "nan": "NaN"}},
        common
        | {
            "system_sha256": hashlib.sha256(b"Be brief.").hexdigest(),
            "temperature": 0.5,
            "confidence": "second_turn",
        },
        None,
    ]


def test_an_item_of_a_sample_can_be_run_again_alone(staging: Any, model_server: Any) -> None:
    model_server.script = lambda body, number: model_server.says(ANSWERS)
    ran = staging.run("--refusal-policy=staging", "--refusal-samples=2", "-k", "bad-1")
    again = "pytest 'prompts.toml::bad-1[staging#2]' --refusal-policy=staging --refusal-samples=2"
    assert again in ran.stdout


def test_async_functions_are_asked_ahead(project: Any) -> None:
    project.write_file(
        "later.py",
        """
        import asyncio
        from bot import good
        most = now = 0

        async def answer(text):
            global most, now
            now += 1
            most = max(most, now)
            await asyncio.sleep(0.05)
            now -= 1
            return good(text)
        """,
    )
    project.write_file(
        "conftest.py",
        "def pytest_unconfigure():\n    import later\n    print('most at once', later.most)\n",
    )
    ran = project.run("prompts.toml", "--refusal-policy=later:answer", "-s", fresh=True)
    assert ran.exit_status == 0
    assert "most at once 4" in ran.stdout


def test_a_missing_key_is_a_usage_error(staging: Any, model_server: Any) -> None:
    staging.configure(policy='api_key_env = "NO_SUCH_KEY_ANYWHERE"')
    ran = staging.run("--refusal-policy=staging")
    assert ran.exit_status == 4
    assert "NO_SUCH_KEY_ANYWHERE" in ran.stderr
    assert model_server.requests == []


NO_SOCKETS = """
    import sys

    def audit(event, arguments):
        if event.startswith("socket."):
            raise RuntimeError(f"a socket: {event}")

    def pytest_configure():
        sys.addaudithook(audit)

    def pytest_unconfigure():
        for name in ("aiohttp", "httpx2", "openai", "anthropic", "litellm"):
            assert name not in sys.modules, name
"""


@pytest.mark.parametrize("policy", ["strict", "bot:good", "leaky,always-refuse"])
def test_no_socket_and_no_client_library_without_need(project: Any, policy: str) -> None:
    project.write_file("conftest.py", NO_SOCKETS)
    ran = project.run(
        "prompts.toml", f"--refusal-policy={policy}", "-p", "no:anyio", "-p",
        "no:pytest_httpserver", fresh=True,
    )  # fmt: skip
    assert "a socket" not in ran.stdout + ran.stderr
    assert ran.exit_status in (0, 1)
    assert ran.report["policies"][0]["evaluated"] == 4
    assert all(policy["asking"] is None for policy in ran.report["policies"])


TELLS_CONNECTIONS = """
    import sys

    def audit(event, arguments):
        if event == "socket.connect":
            sys.stderr.write(f"connects to {arguments[1][0]}:{arguments[1][1]}\\n")
        if event == "socket.getaddrinfo":
            sys.stderr.write(f"looks up {arguments[0]}\\n")

    def pytest_configure():
        sys.addaudithook(audit)
"""


def test_only_the_configured_host_is_spoken_to(staging: Any, model_server: Any) -> None:
    staging.write_file("conftest.py", TELLS_CONNECTIONS)
    ran = staging.run("--refusal-policy=staging,strict", "-s", "-p", "no:anyio", fresh=True)
    lines = {x for x in ran.stderr.splitlines() if x.startswith(("connects to", "looks up"))}
    assert lines <= {
        f"connects to {model_server.url.removeprefix('http://')}",
        "looks up 127.0.0.1",
    }
    assert lines
    assert len(model_server.requests) == 4


def test_nothing_is_asked_when_only_collecting(staging: Any, model_server: Any) -> None:
    ran = staging.run("--refusal-policy=staging", "--collect-only", "-q")
    assert ran.exit_status == 0
    assert model_server.requests == []


def test_reruns_ask_again(staging: Any, model_server: Any) -> None:
    installed("pytest-rerunfailures")
    seen: set[str] = set()

    def script(body: Any, number: int) -> Any:
        first = text_of(body) not in seen
        seen.add(text_of(body))
        return (
            model_server.says("") if first and "egg" in text_of(body) else good(model_server, body)
        )

    model_server.script = script
    ran = staging.run("--refusal-policy=staging", "--reruns=2", fresh=True)
    assert (ran.exit_status, ran.policy("staging")["needed_reruns"]) == (0, 1)
    assert len(model_server.requests) == 5


def test_a_timeout_of_the_runner_ends_one_prompt(staging: Any, model_server: Any) -> None:
    installed("pytest-timeout")

    def script(body: Any, number: int) -> Any:
        reply = good(model_server, body)
        reply.delay_s = 30.0 if "egg" in text_of(body) else 0.0
        return reply

    model_server.script = script
    ran = staging.run("--refusal-policy=staging", "--timeout=2", fresh=True)
    assert reasons(ran) == {"error": 1}
    assert (ran.exit_status, ran.counts["passed"]) == (1, 3)


def installed(package: str) -> None:
    try:
        version(package)
    except PackageNotFoundError:
        pytest.skip(f"{package} is not installed (dependency group `compat`)")


def test_another_model_and_a_filter_that_failed_are_told(staging: Any, model_server: Any) -> None:
    def script(body: Any, number: int) -> Any:
        reply = good(model_server, body)
        reply.body["model"] = "m-2024-08-06"
        if "egg" in text_of(body):
            reply.body["model"] = "vendor/other\x1b[31m"
            failed = {"error": {"code": "content_filter_error", "message": "not filtered"}}
            reply.body["choices"][0]["content_filter_results"] = failed
        return reply

    model_server.script = script
    ran = staging.run("--refusal-policy=staging", "--refusal-report=out.md")
    assert ran.exit_status == 0
    for told in (ran.stdout, (staging.path / "out.md").read_text()):
        assert "answered by another model than the one asked: vendor/other" in told
        assert "the provider's filter failed on 1 response, not filtered" in told
        assert "\x1b[31m" not in told
