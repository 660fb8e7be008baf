"""Fit the weights of the rules: `python -m pytest_refusal.classifier.fit LABELS... [--cases DIR]`.

Prints, for each source, the accuracy as fitted and with that source held out, then writes
`rules/weights.toml`.  Only sources whose licence allows it are fitted on; the others are
shown beside them.  docs/classifier.md names the data and its licences.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pytest_refusal.classifier.features import DIRECTIONS, Direction, Features
from pytest_refusal.classifier.phrases import PhraseClassifier

#: Sources whose licence allows fitting (commercial use included), by the start of their name.
FITTED_ON: Mapping[str, str] = {
    "xstest/": "CC-BY-4.0",
    "chatgpt-refusals/": "MIT",
    "pyrit/": "MIT",
    "latent-jailbreak/": "MIT",
    "llm-values-pct/": "CC-BY-4.0",
    "lm-refusal-eval/": "MIT",
    "cases/": "Apache-2.0 (our own)",
}
#: Sources that draw the line between full and partial refusals as we do.
FITTED_FOR_PARTIAL = ("xstest/", "cases/")

# Only these say how much of an answer there is beside a refusal.
_PARTIAL_FEATURES = (
    "declines",
    "decline.open",
    "decline.early",
    "decline.late",
    "decline.last",
    "declines-in-the-end",
    "list",
    "code",
    "short",
    "length",
    "plain.share",
    "plain.count",
    "willing.open",
    "comply.open",
    "comply.early",
    "comply.late",
    "alternative.early",
    "alternative.late",
    "fiction+premise",
    "reproof+list",
    "declines+list",
    "declines+offered-list",
    "offered-list",
    "offer.early",
    "answer-first",
    "steps-first",
    "declines+fiction",
    "declines+alternative",
    "declines+length",
    "declines+plain",
    "reproof+alternative",
    "premise.open",
    "premise.early",
    "none",
    "declines+comply",
    "holds-back+comply",
    "redirect.late",
    "offer.late",
)
# Held-out figures are best between 2 and 4.
_RIDGE = 3.0
_RIDGE_FOR_PARTIAL = 1.0
_STEPS = 4000

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One labelled response."""

    source: str
    label: str
    language: str
    features: Features


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit, print the figures, and write the weights."""
    parser = argparse.ArgumentParser(prog="python -m pytest_refusal.classifier.fit")
    parser.add_argument("labels", nargs="+", type=Path, help="JSONL files with labels of people")
    parser.add_argument("--cases", type=Path, help="a folder of our own cases (TOML)")
    parser.add_argument("--write", type=Path, help="where to write the weights")
    parser.add_argument("--version", default="1")
    options = parser.parse_args(arguments)
    rows = [row for path in options.labels for row in _read_labels(path)]
    if options.cases:
        rows += [row for path in sorted(options.cases.glob("*.toml")) for row in _read_cases(path)]
    fitted = [row for row in rows if row.source.startswith(tuple(FITTED_ON))]
    names = sorted({name for row in fitted for name in row.features})
    held_out = _held_out(rows, fitted, names)
    declines = _fit(fitted, names)
    _print_figures(rows, declines, held_out)
    kept = np.array([row.source.startswith(tuple(FITTED_ON)) for row in rows])
    scale = _scale(fitted, held_out[kept])
    partial = _fit_partial([r for r in fitted if r.source.startswith(FITTED_FOR_PARTIAL)])
    print(f"scale {scale:.3f}")
    if options.write:
        options.write.write_text(_to_toml(declines, partial, scale, options.version), "utf-8")


def _read_labels(path: Path) -> list[Row]:
    classifier = PhraseClassifier()
    rows = []
    for line in path.read_text("utf-8").splitlines():
        record = json.loads(line)
        off_topic = str(record.get("note", "")).startswith("non-sequitur")
        if record["label"] and record["label_origin"] == "human" and not off_topic:
            source = record["source"]
            source = source if "/" in source else f"{source}/{record['model']}"
            features = classifier.explain(record["response"]).features
            rows.append(
                Row(
                    source=source,
                    label=record["label"],
                    language=record["lang"],
                    features=features,
                )
            )
    return rows


def _read_cases(path: Path) -> list[Row]:
    classifier = PhraseClassifier()
    table = tomllib.loads(path.read_text("utf-8"))
    return [
        Row(
            source=f"cases/{path.stem}",
            label={"partial_refusal": "partial"}.get(verdict, verdict),
            language=path.stem,
            features=classifier.explain(text).features,
        )
        for kind in table.values()
        for verdict, texts in kind.items()
        for text in texts
    ]


def _fit(rows: Sequence[Row], names: Sequence[str]) -> dict[str, float]:
    # A large source counts for more than a small one, but by the root of its size only.
    groups = ["cases" if row.source.startswith("cases/") else row.source for row in rows]
    sizes = Counter(groups)
    # Each of our own cases stands for a kind of wording.
    factors = {"cases": 1.5}
    weights = np.array(
        [min(3.0, 450 / sizes[group]) ** 0.5 * factors.get(group, 1.0) for group in groups]
    )
    declines = np.array([row.label != "answer" for row in rows], dtype=np.float64)
    return _logistic(_matrix(rows, names), declines, weights, names)


def _fit_partial(rows: Sequence[Row]) -> dict[str, float]:
    declining = [row for row in rows if row.label != "answer"]
    partial = np.array([row.label == "partial" for row in declining], dtype=np.float64)
    names = list(_PARTIAL_FEATURES)
    # Our own cases are few, and each is there for a reason.
    weights = np.array([3.0 if row.source.startswith("cases/") else 1.0 for row in declining])
    matrix = _matrix(declining, names)
    return _logistic(matrix, partial, weights, names, directed=False, strength=_RIDGE_FOR_PARTIAL)


def _logistic(
    matrix: Vector,
    target: Vector,
    weights: Vector,
    names: Sequence[str],
    *,
    directed: bool = True,
    strength: float = _RIDGE,
) -> dict[str, float]:
    """Fit a ridge logistic regression by accelerated gradient steps, kept to the directions."""
    ways = [_direction(name) if directed else Direction.EITHER for name in names]
    low = np.array([0.0 if way is Direction.DECLINE else -np.inf for way in ways] + [-np.inf])
    high = np.array([0.0 if way is Direction.ANSWER else np.inf for way in ways] + [np.inf])
    ridge = np.full(len(names) + 1, strength)
    ridge[-1] = 1e-3
    step = 1 / (0.25 * np.linalg.norm((matrix * weights[:, None] ** 0.5), 2) ** 2 + strength)
    beta = ahead = np.zeros(len(names) + 1)
    for index in range(_STEPS):
        chance = 1 / (1 + np.exp(-(matrix @ ahead)))
        gradient = matrix.T @ (weights * (chance - target)) + ridge * ahead
        new = np.clip(ahead - step * gradient, low, high)
        ahead = new + index / (index + 3) * (new - beta)
        beta = new
    return {**dict(zip(names, beta[:-1].tolist(), strict=True)), "bias": float(beta[-1])}


def _direction(name: str) -> Direction:
    if name in DIRECTIONS:
        return DIRECTIONS[name]
    act, dot, _ = name.partition(".")
    return DIRECTIONS.get(act, Direction.EITHER) if dot else Direction.EITHER


def _matrix(rows: Sequence[Row], names: Sequence[str]) -> Vector:
    matrix = np.ones((len(rows), len(names) + 1))
    for index, row in enumerate(rows):
        matrix[index, :-1] = [row.features.get(name, 0.0) for name in names]
    return matrix


def _family(source: str) -> str:
    return source.partition("/")[0]


def _held_out(rows: Sequence[Row], fitted: Sequence[Row], names: Sequence[str]) -> Vector:
    """Return the log-odds of each row under weights that never saw its source."""
    odds = np.zeros(len(rows))
    everything = _fit(fitted, names)
    seen = {row.source for row in fitted}
    for source in sorted({row.source for row in rows}):
        rest = [row for row in fitted if row.source != source]
        weights = _fit(rest, names) if source in seen else everything
        for index, row in enumerate(rows):
            if row.source == source:
                odds[index] = _odds(weights, row)
    return odds


def _odds(weights: Mapping[str, float], row: Row) -> float:
    return weights["bias"] + sum(weights.get(n, 0.0) * v for n, v in row.features.items())


def _print_figures(rows: Sequence[Row], weights: Mapping[str, float], held_out: Vector) -> None:
    for source in sorted({row.source for row in rows}):
        here = [index for index, row in enumerate(rows) if row.source == source]
        truth = np.array([rows[index].label != "answer" for index in here])
        fitted = np.array([_odds(weights, rows[index]) > 0 for index in here])
        apart = held_out[here] > 0
        print(
            f"{source:45} n={len(here):4}  fitted {np.mean(fitted == truth):.3f}"
            f"  held out {np.mean(apart == truth):.3f}"
        )


def _scale(fitted: Sequence[Row], odds: Vector) -> float:
    """Return the factor on held-out log-odds under which the labels are likeliest."""
    declines = np.array([row.label != "answer" for row in fitted])
    candidates = np.linspace(0.3, 1.5, 121)
    losses = [np.mean(np.logaddexp(0, np.where(declines, -c, c) * odds)) for c in candidates]
    return float(candidates[int(np.argmin(losses))])


def _to_toml(
    declines: Mapping[str, float], partial: Mapping[str, float], scale: float, version: str
) -> str:
    data = "\n".join(f"#   {source.rstrip('/'):20} {name}" for source, name in FITTED_ON.items())
    lines = [
        "# Made by `python -m pytest_refusal.classifier.fit`; see docs/classifier.md.",
        "# Fitted on:",
        data,
        f'version = "{version}"',
        f"scale = {scale:.2f}",
    ]
    for heading, weights in (("declines", declines), ("partial", partial)):
        lines += ["", f"[{heading}]"]
        lines += [f'"{name}" = {weight:.3f}' for name, weight in sorted(weights.items())]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
