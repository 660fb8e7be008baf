"""Whatever a corpus or a model says: valid files, a clean terminal, and no outcome lost."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET

import pytest

HOSTILE = {
    "ansi": "\x1b[2J\x1b]0;owned\x07 \x1b[31mred",
    "c1": "\x9b31m \x85 \x90",
    "nul": "a\x00b\x08c\x7f",
    "surrogate": "lone \ud800 and \udfff",
    "bidi": "\u202eevil\u202c \u2066x\u2069 \u200f\u061c",
    "lines": "a\u2028b\u2029c\r\nd\x0be",
    "xml": "]]> <![CDATA[ <b>&amp; \ufffe\uffff",
    "formula": "=HYPERLINK(1) %s {} %(x)s",
    "emoji": "\U0001f600 \u00e9 e\u0301",
    "shell": "$(id) `id` '\" ; -k",
}

BOT = """
    import logging
    import sys

    def said(text):
        return text.partition("|")[2]

    def refuses(text):
        return "I'm sorry, I can't help with " + said(text)

    def answers(text):
        return "Sure. " + said(text) + " [conf=nan]"

    def raises(text):
        raise ValueError(said(text))

    def prints(text):
        # A lone surrogate cannot be printed; what is logged is not encoded at all.
        print(said(text)[:2000].encode("utf-8", "backslashreplace").decode())
        sys.stdout.buffer.write(b"\\xff\\xed\\xa0\\x80 \\x1b[31m\\n")
        print(ascii(text[:2000]), "\\x1b[31m", file=sys.stderr)
        logging.getLogger("bot").warning("%s", said(text)[:2000])
        return answers(text)

    def long(text):
        return said(text) * (5_000_000 // len(said(text)))
"""

# Control characters but tab and line feed, direction marks, and what no encoding holds.
RAW = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)


def write_project(project) -> int:
    """Write hostile text to every place of a corpus; return how many prompts are to be asked."""
    prompts = [
        {
            "id": text,
            "prompt": f"Question {name} |{text}",
            "label": ("safe", "unsafe")[i % 2],
            "category": text,
            "note": text,
            "source": text,
            "tags": [text],
        }
        for i, (name, text) in enumerate(HOSTILE.items())
    ]
    skipped = {"id": "skipped", "label": "safe", "tags": ["skip"]}
    prompts += [
        skipped | {"id": f"s {text}", "prompt": f"Skip {text}", "note": text}
        for text in HOSTILE.values()
    ]
    prompts.append({"id": "large", "prompt": "\0|" + "x\u202e" * 2**19, "label": "safe"})
    project.write_file("prompts.jsonl", "\n".join(map(json.dumps, prompts)).encode())
    project.write_file("bot.py", BOT)
    return len(HOSTILE) + 1


def check(project, ran, planned: int) -> None:
    """Hold what a run left behind against what any reader of it needs."""
    assert "INTERNALERROR" not in ran.stdout
    assert not RAW.findall(ran.stdout)
    assert not RAW.findall("".join(ran.junit.itertext()))
    for element in ran.junit.iter("testcase"):
        assert element.get("name")
        assert element.get("classname")
        assert not RAW.findall("".join(element.attrib.values()))
    text = (project.path / "out.json").read_text(encoding="ascii")
    json.loads(text, parse_constant=pytest.fail)
    for policy in ran.report["policies"]:
        assert policy["planned"] == len(policy["outcomes"]) == planned
        assert policy["not_run"] == []
        assert {o["prompt_id"] for o in policy["outcomes"]} == {*HOSTILE.values(), "large"}
        assert {s["why"] for s in policy["skipped"]} != set()


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one-process", "two-workers"])
def test_hostile_text_everywhere(project, workers) -> None:
    planned = write_project(project)
    project.settings('corpus = "prompts.jsonl"\nceilings = { accuracy = 0.99 }')
    policies = "bot:refuses,bot:answers,bot:raises,bot:prints"
    log = ("-o", "junit_logging=all")
    ran = project.run(f"--refusal-policy={policies}", "-rA", "-vv", *log, *workers)
    assert ran.exit_status == 1
    check(project, ran, planned)
    assert ran.policy("bot:raises")["unevaluated"] == planned
    verdicts = {o["prompt_id"]: o["verdict"] for o in ran.policy("bot:refuses")["outcomes"]}
    assert {verdicts[text] for text in HOSTILE.values()} == {"refusal"}
    responses = {o["prompt_id"]: o["response"] for o in ran.policy("bot:answers")["outcomes"]}
    # The report keeps every character, for whoever looks into the case.
    assert all(text in responses[text] for text in HOSTILE.values())


def test_a_response_of_five_million_characters(project) -> None:
    text = '[[prompt]]\nid = "p"\nprompt = "Say |\\u001b[2J\\u202e]]>"\nlabel = "safe"\n'
    project.write_file("prompts.toml", text)
    project.write_file("bot.py", BOT)
    project.settings('corpus = "prompts.toml"')
    ran = project.run("--refusal-policy=bot:long", "-vv")
    assert not RAW.findall(ran.stdout)
    assert len(ran.stdout) < 10_000
    assert (project.path / "out.xml").stat().st_size < 10_000
    (outcome,) = ran.policy("bot:long")["outcomes"]
    assert len(outcome["response"]) > 4_999_000


@pytest.mark.parametrize("name", HOSTILE)
def test_a_failure_shows_what_cannot_be_seen(project, name: str) -> None:
    prompt = {"id": "p", "prompt": f"Q|{HOSTILE[name]}", "label": "unsafe", "category": "c"}
    project.write_file("p.jsonl", json.dumps(prompt).encode())
    project.write_file("bot.py", BOT)
    ran = project.run("--refusal-policy=bot:answers", "p.jsonl")
    shown = {
        "ansi": r"\x1b[2J\x1b]0;owned\x07 \x1b[31mred",
        "c1": r"\x9b31m \x85 \x90",
        "nul": r"a\x00b\x08c\x7f",
        "surrogate": r"lone \ud800 and \udfff",
        "bidi": r"\u202eevil\u202c \u2066x\u2069 \u200f\u061c",
        "lines": r"a\u2028b\u2029c\x0d",
        "xml": r"]]> <![CDATA[ <b>&amp; \ufffe\uffff",
    }.get(name, HOSTILE[name])
    assert f"| Sure. {shown}" in ran.stdout
    (failure,) = ran.junit.iter("failure")
    assert f"| Sure. {shown}" in failure.text


def test_hostile_names_of_policies(project) -> None:
    names = [text for text in HOSTILE.values() if "," not in text]
    project.write_file(
        "conftest.py",
        f"""
        NAMES = {names!r}

        def pytest_refusal_policies():
            return {{name: lambda text: "Sure." for name in NAMES}}
        """,
    )
    table = ", ".join(json.dumps(name, ensure_ascii=False) for name in names if name.isprintable())
    project.settings(f'corpus = "prompts.toml"\npolicy = [{table}]\nceilings = {{ accuracy = 1 }}')
    ran = project.run("-rA")
    assert not RAW.findall(ran.stdout)
    assert [p["policy"] for p in ran.report["policies"]] == [n for n in names if n.isprintable()]
    typed = "--refusal-policy=" + HOSTILE["ansi"]
    ran = project.run(typed, "-rA")
    assert not RAW.findall(ran.stdout)
    assert ran.report["policies"][0]["policy"] == HOSTILE["ansi"]
    assert all("\x1b" not in name for name in ran.cases())


def test_names_of_files_that_are_no_text(project) -> None:
    name = b"caf\xe9 \x1b[31m [x]::y.jsonl".decode("utf-8", "surrogateescape")
    prompt = json.dumps({"id": "p", "prompt": "Q?", "label": "unsafe"}) + "\n"
    skipped = json.dumps({"id": "s", "prompt": "R?", "label": "safe", "tags": ["skip"]})
    try:
        project.write_file(name, (prompt + skipped).encode())
    except OSError:
        pytest.skip("this file system holds no such name")
    project.settings('corpus = "*.jsonl"')
    for workers in ((), ("-n", "2")):
        ran = project.run("--refusal-policy=always-answer", "-rA", *workers)
        assert (ran.exit_status, ran.counts) == (1, {"failed": 1, "skipped": 1})
        assert not RAW.findall(ran.stdout)
    ids = project.run("--refusal-policy=always-answer", "--collect-only", "-q").stdout.split("\n")
    again = project.run("--refusal-policy=always-answer", ids[0])
    assert again.counts == {"failed": 1}


ODD_CODE = """
    from pytest_refusal import Response

    NAN = float("nan")

    class Evil:
        def __repr__(self):
            raise RuntimeError("no repr")

    class Unsaid(Exception):
        def __str__(self):
            raise RuntimeError("no str")

    def raising(error):
        def policy(text):
            raise error
        return policy

    ODD = {
        "nothing": lambda text: None,
        "bytes": lambda text: b"Sure",
        "empty-dict": lambda text: {},
        "evil": lambda text: Evil(),
        "text-none": lambda text: Response(text=None),
        "confidence-nan": lambda text: Response(text="Sure", confidence=NAN),
        "confidence-text": lambda text: Response(text="Sure", confidence="0.5"),
        "confidence-bool": lambda text: Response(text="Sure", confidence=True),
        "finish-int": lambda text: Response(text="Sure", finish_reason=5),
        "tool-calls-text": lambda text: Response(text="Sure", tool_calls="abc"),
        "tool-calls-objects": lambda text: Response(text="Sure", tool_calls=(Evil(),)),
        "model": lambda text: Response(text="Sure", model=Evil()),
        "usage": lambda text: Response(text="Sure", usage=(1, 2)),
        "block": lambda text: Response(text="Sure", block="filter"),
        "refusal-bytes": lambda text: Response(text="Sure", refusal=b"no"),
        "earlier": lambda text: Response(text="Sure", earlier=None),
        "exit": raising(SystemExit(3)),
        "unsaid": raising(Unsaid()),
        "group": raising(ExceptionGroup("g \\ud800", [ValueError("\\x1b[31m")])),
        "recursion": lambda text: ODD["recursion"](text),
        "stop": raising(StopIteration()),
    }

    def pytest_refusal_policies():
        return ODD
"""


def test_policies_that_keep_no_promise_are_unevaluated(project) -> None:
    project.write_file("conftest.py", ODD_CODE)
    project.write_file("p.toml", '[[prompt]]\nid = "p"\nprompt = "Q?"\nlabel = "safe"\n')
    names = re.findall(r'^        "([a-z-]+)":', ODD_CODE, re.MULTILINE)
    ran = project.run(f"--refusal-policy={','.join(names)}", "p.toml")
    assert ran.exit_status == 1
    assert "INTERNALERROR" not in ran.stdout
    assert ran.counts == {"errors": len(names)}
    assert [p["policy"] for p in ran.report["policies"]] == names
    assert all(p["unevaluated"] == 1 for p in ran.report["policies"])


def test_classifiers_that_keep_no_promise_leave_prompts_unevaluated(project) -> None:
    project.write_file(
        "judges.py",
        """
        from pytest_refusal import Evidence, Verdict, VerdictKind

        class Judge:
            name, version = "judge", "1"

        class Raises(Judge):
            def classify(self, text, *, prompt=None):
                raise ValueError("no verdict on " + text)

        class Returns(Judge):
            def classify(self, text, *, prompt=None):
                return "refusal"

        class Untyped(Judge):
            def classify(self, text, *, prompt=None):
                evidence = (Evidence(rule="r", text=b"bytes"),)
                return Verdict(kind="refusal", score=float("nan"), reason="x", evidence=evidence)
        """,
    )
    for kind in ("Raises", "Returns", "Untyped"):
        project.settings(f'corpus = "prompts.toml"\nclassifier = "judges:{kind}"')
        ran = project.run("--refusal-policy=bot:good")
        assert (ran.exit_status, ran.counts) == (1, {"errors": 4})
        (policy,) = ran.report["policies"]
        assert {o["reason"] for o in policy["outcomes"]} == {"classifier"}


SECRET = "sesame-4711"

SECRETIVE = f"""
    import logging
    import sys

    from pytest_refusal import Response

    def answers(text):
        print("{SECRET}")
        print("{SECRET}", file=sys.stderr)
        logging.getLogger().error("{SECRET}")
        return "Sure: {SECRET}"

    def refuses(text):
        return "I cannot help with {SECRET}. I'm sorry, but I can't assist with that {SECRET}."

    def turns(prompt: "Prompt"):
        return Response(text="{SECRET}", earlier=("{SECRET}",), refusal="No {SECRET}.")

    def cut(text):
        return Response(text="{SECRET}", finish_reason="length")

    class Judge:
        name, version = "judge", "1"

        def classify(self, text, *, prompt=None):
            raise ValueError(text)
"""


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one-process", "two-workers"])
def test_redacted_reports_hold_nothing_that_was_said(project, workers) -> None:
    project.write_file("bot.py", SECRETIVE)
    every = "--refusal-policy=bot:answers,bot:refuses,bot:turns,bot:cut"
    shown = ("-rA", "-vv", "-l", "--tb=long", "-o", "junit_logging=all", *workers)
    for classifier in ("phrases", "bot:Judge"):
        project.settings(f'corpus = "prompts.toml"\nclassifier = "{classifier}"')
        ran = project.run(every, "--refusal-redact", *shown)
        assert ran.exit_status == 1
        assert SECRET not in ran.stdout
        assert SECRET not in (project.path / "out.json").read_text()
        assert SECRET not in ET.tostring(ran.junit, encoding="unicode")
        assert ran.report["redacted"]
        assert "(redacted)" in ran.stdout
        if workers:
            return
    plain = project.run(every, *shown)
    assert SECRET in plain.stdout


def test_hooks_of_others_may_fail_with_hostile_text(project) -> None:
    project.write_file(
        "conftest.py",
        """
        import pytest

        TEXT = "\\ud800 \\x1b[31m ]]>"

        def pytest_runtest_setup(item):
            if item.name.startswith("bad-1"):
                pytest.skip(TEXT)
            if item.name.startswith("bad-2"):
                raise RuntimeError(TEXT)

        def pytest_runtest_call(item):
            if item.name.startswith("good-1"):
                pytest.xfail(TEXT)

        def pytest_runtest_teardown(item):
            if item.name.startswith("good-2"):
                raise RuntimeError(TEXT)
        """,
    )
    project.settings('corpus = "prompts.toml"')
    for workers in ((), ("-n", "2")):
        ran = project.run("--refusal-policy=bot:good", "-rA", *workers)
        assert ran.exit_status == 1
        assert ran.counts == {"skipped": 1, "errors": 2, "xfailed": 1, "passed": 1}
        assert not RAW.findall(ran.stdout)
        assert "pluggy/" not in ran.stdout
        assert r"\ud800 \x1b[31m ]]>" in ran.stdout


def test_a_terminal_that_knows_only_ascii(project, monkeypatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    monkeypatch.setenv("PYTHONUTF8", "0")
    project.write_file(
        "p.toml", '[[prompt]]\nid = "p"\nprompt = "\u00e9 \U0001f600?"\nlabel = "unsafe"\n'
    )
    project.settings('corpus = "p.toml"\nceilings = { accuracy = 1 }')
    ran = project.run("--refusal-policy=always-answer", fresh=True)
    assert (ran.exit_status, ran.gate("always-answer")) == (1, False)
    assert ran.stdout.isascii()
    assert "refusal: FAILED" in ran.stdout
