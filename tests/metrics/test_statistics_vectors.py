"""Every published reference value that the metrics compute, from the file of vectors."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import pytest

from pytest_refusal.metrics.calibration import calibration_bins, expected_calibration_error
from pytest_refusal.metrics.decisions import (
    Decide,
    LimitedRate,
    benjamini_hochberg,
    can_decide,
    clean_prompts_needed,
    decide_limits,
    ece_holds,
    exceeds_ceiling_p_value,
    holm,
    more_clean_prompts_for_proven,
)
from pytest_refusal.metrics.intervals import (
    clopper_pearson_interval,
    clopper_pearson_lower_bound,
    clopper_pearson_upper_bound,
    jeffreys_interval,
    wilson_interval,
)
from pytest_refusal.metrics.rates import Rate
from pytest_refusal.metrics.samples import (
    all_of_k,
    any_of_k,
    clustered_rate,
    clustered_standard_error,
    clustered_wilson_interval,
)

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("PYTEST_REFUSAL_SHARED", ROOT.parent / "shared"))
VECTORS = SHARED / "data" / "test-vectors" / "statistics.json"


def ece(confidence, correct, bins):
    table = calibration_bins(confidence, correct, bins)
    counts = {b.index: b.count for b in table}
    found = {"ece": expected_calibration_error(confidence, correct, bins)}
    if not table:
        return found | {"in_a_report": None}
    return found | {
        "mce": max(abs(b.gap) for b in table),
        "bin_counts": [counts.get(i, 0) for i in range(bins)],
    }


def rates(tp, tn, fp, fn):
    return {
        "accuracy": Rate(tp + tn, tp + tn + fp + fn, higher_is_better=True).value,
        "under_refusal": Rate(fn, tp + fn).value,
        "over_refusal": Rate(fp, fp + tn).value,
    }


def ends(interval):
    return [interval.lower, interval.upper] if interval else {"no_data": True}


def in_order(function):
    """Take the inputs by their order in the file, where our names for them differ."""
    return lambda **inputs: function(*inputs.values())


def by_method(interval):
    return lambda successes, n, confidence_level: ends(interval(successes, n, confidence_level))


def clustered_error(samples_by_prompt):
    rate = clustered_rate(samples_by_prompt)
    naive = math.sqrt(rate.mean * (1 - rate.mean) / (rate.samples - 1))
    return {
        "mean": rate.mean,
        "clustered_se": clustered_standard_error(samples_by_prompt),
        "naive_se": naive,
    }


def clustered_wilson(samples_by_prompt, confidence_level):
    rate = clustered_rate(samples_by_prompt)
    return {
        "mean": rate.mean,
        "standard_error": rate.standard_error,
        "effective_n": rate.effective_n,
        "interval": ends(clustered_wilson_interval(samples_by_prompt, confidence_level)),
    }


def of_k(samples, successes, k):
    return {
        "any_of_k": any_of_k(samples, successes, k),
        "all_of_k": all_of_k(samples, successes, k),
    }


def adjusted(p_values, method):
    values = list({"holm": holm, "benjamini-hochberg": benjamini_hochberg}[method](p_values))
    return {"adjusted": values, "rejected_at_0.05": [p <= 0.05 for p in values]}


def holds(ceiling, numerator=0, denominator=0, **outcomes):
    if outcomes:
        return ece_holds(expected_calibration_error(**outcomes), ceiling)
    return decide_limits([LimitedRate(rate=Rate(numerator, denominator), limit=ceiling)])[0].passed


def decision(successes, n, ceiling, confidence_level):
    def decided(decide):
        limited = LimitedRate(
            rate=Rate(successes, n),
            limit=ceiling,
            decide=decide,
            confidence_level=confidence_level,
        )
        return decide_limits([limited])[0], can_decide(limited)

    (observed, _), (exceeded, can_fail), (proven, can_pass) = map(decided, Decide)
    return {
        "observed_passes": observed.passed,
        "exceeded_passes": exceeded.passed,
        "proven_passes": proven.passed,
        "exceeded_p_value": exceeded.p_value,
        "proven_upper_bound": proven.bound,
        "exceeded_can_fail": can_fail,
        "proven_can_pass": can_pass,
    }


COMPUTED = {
    "expected_calibration_error": ece,
    "rates": rates,
    "wilson_interval": by_method(wilson_interval),
    "clopper_pearson_interval": by_method(clopper_pearson_interval),
    "jeffreys_interval": by_method(jeffreys_interval),
    "clopper_pearson_upper_bound": clopper_pearson_upper_bound,
    "clopper_pearson_lower_bound": clopper_pearson_lower_bound,
    "exceeds_ceiling_p_value": in_order(exceeds_ceiling_p_value),
    "clustered_standard_error": clustered_error,
    "clustered_wilson_interval": clustered_wilson,
    "pass_at_k": of_k,
    "adjust_p_values": adjusted,
    "ceiling_holds": holds,
    "ceiling_decision": decision,
    "clean_prompts_needed": clean_prompts_needed,
    "more_clean_prompts_for_proven": in_order(more_clean_prompts_for_proven),
}


def number(value):
    """Read the names that stand for the numbers JSON lacks."""
    if isinstance(value, list):
        return [number(v) for v in value]
    return float(value) if value in ("NaN", "Infinity", "-Infinity") else value


def agrees(found, expected, tolerance):
    """Compare numbers within an absolute tolerance, and all else exactly."""
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(
            agrees(found[key], expected[key], tolerance) for key in expected
        )
    if isinstance(expected, list):
        return len(found) == len(expected) and all(
            agrees(f, e, tolerance) for f, e in zip(found, expected, strict=True)
        )
    if isinstance(expected, bool) or not isinstance(expected, int | float):
        return found is expected
    return abs(found - expected) <= tolerance


def test_every_vector_of_the_file():
    if not VECTORS.is_file():
        pytest.skip(f"no reference values at {VECTORS}")
    checked = set()
    for vector in json.loads(VECTORS.read_text(encoding="utf-8"))["vectors"]:
        function, expected = vector["function"], vector["expected"]
        if function not in COMPUTED:
            continue
        checked.add(function)
        inputs = {name: number(value) for name, value in vector["inputs"].items()}
        if isinstance(expected, dict) and "raises" in expected:
            with pytest.raises(ValueError, match=r"."):
                COMPUTED[function](**inputs)
            continue
        found = COMPUTED[function](**inputs)
        assert agrees(found, expected, vector["tolerance"]), (vector, found)
    assert checked == set(COMPUTED)
