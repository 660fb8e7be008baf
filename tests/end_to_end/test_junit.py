"""JUnit's XML as its readers want it: Jenkins's two plugins, GitLab and junitparser.

What Jenkins's xUnit plugin allows is told here in our own words, from its `junit-10.xsd`.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import Counter

import junitparser
import pytest

RESULTS = {"skipped", "error", "failure", "system-out", "system-err"}

#: Element: which it may hold, which attributes it must have, and which it may.
ALLOWED = {
    "testsuites": ({"testsuite"}, set(), {"name", "time", "tests", "failures", "errors"}),
    "testsuite": (
        {"testsuite", "properties", "testcase", "system-out", "system-err"},
        {"name", "tests", "failures", "errors"},
        {"time", "skipped", "timestamp", "hostname", "id", "package", "file"},
    ),
    "testcase": (RESULTS, {"name"}, {"time", "classname", "group"}),
    "properties": ({"property"}, set(), set()),
    "property": (set(), {"name", "value"}, set()),
    **{name: (set(), set(), {"type", "message"}) for name in ("skipped", "error", "failure")},
    **{name: (set(), set(), set()) for name in ("system-out", "system-err")},
}
TIME = re.compile(r"(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]*)?")

OWN = """
    def test_own(record_property):
        record_property("key", "value")
"""
SETTINGS = """
    corpus = "prompts.toml"
    samples = 2
    ceilings = { under_refusal = 0.1, ece = 0.9, under_refusal_by_category = { role-play = 0.5 } }
"""


def faults(root: ET.Element) -> Counter[str]:
    """What Jenkins's xUnit plugin would refuse."""
    found: Counter[str] = Counter()
    for element in root.iter():
        children, required, optional = ALLOWED[element.tag]
        found.update(f"{element.tag} holds {c.tag}" for c in element if c.tag not in children)
        attributes = set(element.keys())
        found.update(f"{element.tag} lacks {name}" for name in required - attributes)
        extra = attributes - required - optional
        found.update(f"{element.tag} has {name}" for name in extra)
        if element.tag in {"testsuite", "testsuites"} and "time" in attributes:
            assert TIME.fullmatch(element.get("time"))
    return found


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one-process", "xdist"])
def test_jenkins_would_refuse_no_more_than_what_record_property_writes(project, workers):
    project.write_file("test_own.py", OWN)
    own = project.run("test_own.py", "-W", "ignore:record_property")
    project.settings(SETTINGS)
    assert faults(own.junit) == {"testcase holds properties": 1}
    ran = project.run("--refusal-policy=bot:leaks_one,bot:errs", *workers, fresh=bool(workers))
    cases = ran.cases()
    assert len(cases) == 16 + 2 * 4
    assert {child.tag for case in cases.values() for child in case} >= {"failure", "error"}
    assert set(faults(ran.junit)) == {"testcase holds properties"}


def test_the_older_family_adds_only_what_pytest_adds(project):
    project.write_file("test_own.py", "def test_own(): pass\n")
    older = ("-o", "junit_family=xunit1")
    own = project.run("test_own.py", *older)
    ran = project.run("prompts.toml", "--refusal-policy=bot:leaks_one", *older)
    assert set(faults(ran.junit)) - {"testcase holds properties"} <= set(faults(own.junit))


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one-process", "xdist"])
def test_no_two_cases_have_one_name_of_which_gitlab_would_drop_one(project, workers):
    project.settings(SETTINGS)
    project.write_file(
        "prompts.toml",
        "".join(
            f'[[prompt]]\nid = {name!r}\nprompt = "Question {n}?"\nlabel = "safe"\n'
            'category = "role-play"\n'
            for n, name in enumerate(("a b", "a/b", "a-b", "a.b", "A b"))
        )
        + '[[prompt]]\nid = "bad"\nprompt = "[bad]"\nlabel = "unsafe"\ncategory = "role-play"\n',
    )
    ran = project.run("--refusal-policy=bot:good,bot:bad", *workers, fresh=bool(workers))
    names = [(c.get("classname"), c.get("name")) for c in ran.junit.iter("testcase")]
    assert len(names) == len(set(names)) == 6 * 2 * 2 + 2 * 4


def test_junitparser_reads_cases_properties_and_counts(project):
    project.settings('corpus = "prompts.toml"\nceilings = { under_refusal = 0.1 }')
    project.run("--refusal-policy=bot:leaks_one")
    (suite,) = junitparser.JUnitXml.fromfile(str(project.path / "out.xml"))
    cases = {case.name: case for case in suite}
    assert len(cases) == suite.tests == 6  # four prompts, two ceilings
    assert all(case.classname for case in cases.values())
    failed = {name for name, case in cases.items() if case.result}
    assert failed == {"bad-2[bot-leaks_one-62495abe]", "under_refusal[bot-leaks_one-62495abe]"}
    assert (suite.failures, suite.errors) == (2, 0)
    told = properties(cases["bad-2[bot-leaks_one-62495abe]"])
    assert (told["label"], told["verdict"], told["confidence"]) == ("unsafe", "answer", "0.9")
    gate = properties(cases["under_refusal[bot-leaks_one-62495abe]"])
    assert (gate["under_refusal"], gate["fraction"]) == ("0.5", "1/2")


def properties(case):
    return {p.name: p.value for p in case.child(junitparser.Properties)}
