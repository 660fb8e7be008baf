"""A report read back is the report that was written."""

from __future__ import annotations

import copy
import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_refusal.errors import ReportError
from pytest_refusal.report.from_json import read_json, report_from
from pytest_refusal.report.to_json import write_json


@pytest.mark.parametrize("redact", [False, True], ids=["whole", "redacted"])
def test_a_report_survives_the_way_to_json_and_back(report, tmp_path, redact):
    path = tmp_path / "report.json"
    write_json(report, path, redact=redact)
    back = read_json(path)
    assert back.to_dict() == json.loads(path.read_text())
    assert back.redacted is redact
    if not redact:
        assert [p.tally for p in back.policies] == [p.tally for p in report.policies]
        assert [p.gate for p in back.policies] == [p.gate for p in report.policies]
        assert [p.not_run for p in back.policies] == [p.not_run for p in report.policies]


def test_a_redacted_report_stays_redacted(made):
    plain = made["within-ceilings"]().to_dict(redact=True)
    assert report_from(plain).to_dict(redact=False) == plain


def changed(plain, path, value):
    plain = copy.deepcopy(plain)
    *keys, last = path
    inside = plain
    for key in keys:
        inside = inside[key]
    if value is KeyError:
        del inside[last]
    else:
        inside[last] = value
    return plain


OUTCOME = ("policies", 0, "outcomes", 1)


@pytest.mark.parametrize(
    ("path", "value", "fault"),
    [
        (("schema_version",), 2, "r.json: schema_version is 2, and this version"),
        (("schema_version",), KeyError, "r.json: schema_version is missing"),
        (("policies",), {}, "r.json: policies must be a list, not an object"),
        (("complete",), 1, "r.json: complete must be true or false, not 1"),
        (("notes",), [1], "r.json: notes must be a list of texts"),
        (
            (*OUTCOME, "verdict"),
            "maybe",
            "r.json: policies[0].outcomes[1].verdict must be one of refusal,"
            " partial_refusal, answer, not 'maybe'",
        ),
        (
            (*OUTCOME, "confidence"),
            1.5,
            "r.json: policies[0].outcomes[1].confidence must be a number from 0 to 1, not 1.5",
        ),
        (
            (*OUTCOME, "messages"),
            [],
            "r.json: policies[0].outcomes[1].messages has no message of the user",
        ),
        (
            ("policies", 0, "confusion", "fn"),
            7,
            "r.json: policies[0].confusion.fn says 7, but the outcomes come to 0",
        ),
        (
            ("policies", 0, "gate", "rulings", 0, "rate", "numerator"),
            99,
            "r.json: policies[0].gate.rulings[0].rate.numerator is 99, more than",
        ),
        (
            ("policies", 0, "parameters"),
            "m-2",
            "r.json: policies[0].parameters must be an object",
        ),
        (
            ("policies", 0, "parameters"),
            {"temperature": float("nan")},
            "r.json: policies[0].parameters must be an object without NaN",
        ),
    ],
    ids=lambda value: ".".join(map(str, value)) if isinstance(value, tuple) else None,
)
def test_a_fault_says_where_it_is_and_what_is_allowed(made, path, value, fault):
    plain = changed(made["all-pass"]().to_dict(), path, value)
    with pytest.raises(ReportError) as caught:
        report_from(plain, source="r.json")
    assert any(line.startswith(fault) for line in caught.value.faults), caught.value.faults


def places(plain, path=()):
    """Every place in the file."""
    items = plain.items() if isinstance(plain, dict) else enumerate(plain)
    for key, value in items:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))


@pytest.fixture(scope="module")
def plain(made):
    return made["rich"]().to_dict()


@given(st.data())
@settings(deadline=None)
def test_whatever_is_wrong_is_a_fault_and_no_traceback(plain, data):
    path = data.draw(st.sampled_from(list(places(plain))))
    missing = [KeyError] * isinstance(path[-1], str)
    value = data.draw(
        st.sampled_from([*missing, None, -1, 0, 0.0, 2.5, "", "x", True, [], [1], {}])
    )
    with suppress(ReportError):
        report_from(changed(plain, path, value))


def test_all_faults_come_at_once_but_not_without_end(made):
    plain = made["all-pass"]().to_dict()
    for outcome in plain["policies"][0]["outcomes"]:
        outcome["label"] = outcome["category"] = outcome["reason"] = None
    with pytest.raises(ReportError) as caught:
        report_from(plain)
    assert len(caught.value.faults) == 21
    assert caught.value.faults[-1] == "report: and more"


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[" * 100_000])
def test_a_file_that_is_no_json_is_a_fault(tmp_path, content):
    path = tmp_path / "report.json"
    path.write_bytes(content)
    with pytest.raises(ReportError, match=r"report\.json: is not"):
        read_json(path)
