"""Every published reference value that the metrics compute, from the file of vectors."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from pathlib import Path

import pytest

from pytest_refusal.metrics.agreement import Agreement, cohen_kappa
from pytest_refusal.metrics.bootstrap import mean_interval
from pytest_refusal.metrics.calibration import (
    adaptive_calibration_error,
    bins_of,
    calibration_bins,
    count_confidences,
    expected_calibration_error,
)
from pytest_refusal.metrics.calibration_bootstrap import calibration_intervals
from pytest_refusal.metrics.calibration_chance import chance_level, debiased_squared_error
from pytest_refusal.metrics.correction import (
    ClassifierAudit,
    Stratum,
    WeightedStratum,
    audited_rate,
    prediction_powered_rate,
    reweighted_rate,
    rogan_gladen,
    rogan_gladen_rate,
)
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
from pytest_refusal.metrics.paired import (
    bonett_price_interval,
    mcnemar_exact_p_value,
    mcnemar_midp_p_value,
    paired_mean_difference,
)
from pytest_refusal.metrics.planning import (
    exact_test,
    prompts_for_interval_width,
    prompts_to_detect_change_paired,
    prompts_to_detect_change_unpaired,
    prompts_to_show_exceeded,
)
from pytest_refusal.metrics.proper_scores import brier_score, log_loss
from pytest_refusal.metrics.rates import Rate
from pytest_refusal.metrics.samples import (
    all_of_k,
    any_of_k,
    clustered_rate,
    clustered_standard_error,
    clustered_wilson_interval,
)
from pytest_refusal.metrics.smooth_calibration import smooth_calibration_error

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


def brier(confidence, correct):
    found = dataclasses.asdict(brier_score(count_confidences(confidence, correct)))
    return {"brier": found.pop("score")} | found


def loss(confidence, correct, clip):
    counts = count_confidences(confidence, correct)
    return log_loss(counts, 1e-15 if clip is None else clip).loss


def adaptive(confidence, correct, bins):
    return adaptive_calibration_error(count_confidences(confidence, correct), bins).error


def debiased(confidence, correct, bins):
    counts = count_confidences(confidence, correct)
    table = bins_of(counts, bins)
    squared = debiased_squared_error(counts, bins).squared
    return {
        "debiased_squared": squared,
        "debiased_l2": math.sqrt(squared),
        "plugin_l2": math.sqrt(sum(b.count * b.gap**2 for b in table) / len(confidence)),
    }


def if_calibrated(confidence, bins):
    return chance_level(count_confidences(confidence, [1] * len(confidence)), bins)


def curve(confidence, correct, bins, confidence_level):
    return [
        {
            "bin": b.index,
            "count": b.count,
            "mean_confidence": b.mean_confidence,
            "accuracy": b.accuracy,
            "interval": ends(b.accuracy_interval(confidence_level)),
        }
        for b in calibration_bins(confidence, correct, bins)
    ]


def bootstrap_ece(confidence, correct, bins, confidence_level, resamples, method):
    prompts = [[pair] for pair in zip(confidence, correct, strict=True)]
    return ends(
        calibration_intervals(
            prompts, bins, confidence_level=confidence_level, resamples=resamples
        ).ece
    )


def bootstrap_mean(values, confidence_level, resamples, method):
    return ends(mean_interval(values, confidence_level=confidence_level, resamples=resamples))


def paired_table(only_first, only_second, n, confidence_level, method):
    return {
        "difference": (only_first - only_second) / n,
        "interval": ends(bonett_price_interval(only_first, only_second, n, confidence_level)),
    }


def paired_means(first, second, confidence_level):
    found = paired_mean_difference(first, second, confidence_level)
    return {
        "difference": found.difference,
        "standard_error": found.standard_error,
        "interval": ends(found.interval),
    }


def kappa(**cells):
    found = cohen_kappa(Agreement(**cells))
    return {
        "kappa": found.kappa if found else None,
        "agreement": Agreement(**cells).accuracy.value,
    }


def kappa_interval(confidence_level, **cells):
    found = cohen_kappa(Agreement(**cells), confidence_level)
    return {
        "kappa": found.kappa,
        "standard_error": found.standard_error,
        "interval": ends(found.interval),
    }


def rogan_gladen_point(**inputs):
    found = rogan_gladen_rate(*inputs.values())
    return {"no_data": True} if found is None else found


def rogan_gladen_with_interval(
    observed_refusals,
    n,
    refusals_found,
    refusals_audited,
    answers_found,
    answers_audited,
    confidence_level,
):
    audit = ClassifierAudit(
        refusals_found=refusals_found,
        refusals=refusals_audited,
        answers_found=answers_found,
        answers=answers_audited,
    )
    found = rogan_gladen(observed_refusals, n, audit, confidence_level)
    return {"rate": found.rate, "interval": ends(found.interval)}


def audited(strata):
    found = audited_rate([Stratum(**s) for s in strata])
    return {"rate": found.rate, "standard_error": found.standard_error}


def audited_interval(strata, confidence_level, limits):
    found = audited_rate([Stratum(**s) for s in strata], confidence_level)
    return {"rate": found.rate, "interval": ends(found.interval)}


def stratified(strata):
    found = reweighted_rate(
        [
            WeightedStratum(weight=float(s["weight"]), n=s["n"], successes=s["successes"])
            for s in strata
        ]
    )
    return {"rate": found.rate, "standard_error": found.standard_error}


def prediction_powered(**inputs):
    found = prediction_powered_rate(**inputs)
    return {"rate": found.rate, "interval": ends(found.interval)}


def of_exact_test(n, ceiling, true_rate, alpha):
    found = exact_test(n, ceiling, true_rate, alpha)
    return {"critical_successes": found.critical, "power": found.power, "size": found.size}


def smooth(confidence, correct):
    return smooth_calibration_error(count_confidences(confidence, correct))


COMPUTED = {
    "smooth_calibration_error": smooth,
    "power_exceeds_ceiling": of_exact_test,
    "prompts_to_detect_change_unpaired": prompts_to_detect_change_unpaired,
    "prompts_to_detect_change_paired": prompts_to_detect_change_paired,
    "prompts_for_interval_width": prompts_for_interval_width,
    "prompts_to_show_exceeded": prompts_to_show_exceeded,
    "cohen_kappa": kappa,
    "cohen_kappa_interval": kappa_interval,
    "rogan_gladen": rogan_gladen_point,
    "rogan_gladen_interval": rogan_gladen_with_interval,
    "audited_rate": audited,
    "audited_rate_interval": audited_interval,
    "stratified_rate": stratified,
    "prediction_powered_rate": prediction_powered,
    "mcnemar_exact_p_value": mcnemar_exact_p_value,
    "mcnemar_midp_p_value": mcnemar_midp_p_value,
    "paired_difference_interval": paired_table,
    "paired_mean_difference_interval": paired_means,
    "brier_score": brier,
    "log_loss": loss,
    "adaptive_calibration_error": adaptive,
    "debiased_squared_calibration_error": debiased,
    "expected_ece_if_calibrated": if_calibrated,
    "reliability_curve": curve,
    "bootstrap_ece_interval": bootstrap_ece,
    "bootstrap_mean_interval": bootstrap_mean,
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
        checked.add(function)
        inputs = {name: number(value) for name, value in vector["inputs"].items()}
        if isinstance(expected, dict) and "raises" in expected:
            with pytest.raises(ValueError, match=r"."):
                COMPUTED[function](**inputs)
            continue
        found = COMPUTED[function](**inputs)
        assert agrees(found, expected, vector["tolerance"]), (vector, found)
    assert checked == set(COMPUTED)
