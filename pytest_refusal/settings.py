"""Tables and overrides to one frozen Settings; every fault at once. Opens no file.

What the keys mean is told in `docs/configuration.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from pytest_refusal.classifier.finish import FinishKind
from pytest_refusal.corpus.tables import CorpusTable, parse_corpus_tables
from pytest_refusal.errors import SettingsError
from pytest_refusal.gate import NOTHING_UNEVALUATED, Ceiling, Measure
from pytest_refusal.metrics.decisions import Decide
from pytest_refusal.metrics.intervals import OF_RATES, IntervalMethod
from pytest_refusal.regression import CAN_INCREASE, RegressionLimits
from pytest_refusal.table_reader import TableReader, checked_share, closest, shown

TABLE = "tool.pytest-refusal"


class WithinCeilings(StrEnum):
    """How a failed prompt that a ceiling covers is reported to pytest."""

    FAIL = "fail"
    XFAIL = "xfail"


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySettings:
    """What is set for one policy by name.

    options: what its kind of policy takes, `type` included; empty for a built-in one.
    """

    name: str
    options: Mapping[str, object] = field(default_factory=dict)
    ceilings: tuple[Ceiling, ...] = ()
    extra_refusal_phrases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CeilingOverride:
    """A ceiling from the command line; it stands above all tables.

    policy: None for every policy of the run.
    """

    ceiling: Ceiling
    policy: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All that is configured for a run.

    base: the folder that relative paths start from.  source: the file that held the table.
    corpus: as written; corpora: tables that say how files are read, and name them; both empty
    for the bundled ones.  policies: in the order of the run.
    baseline: an earlier report, labels: a file of people's labels; both `PATH` or `PATH::POLICY`.
    """

    base: Path
    source: Path | None = None
    corpus: tuple[str, ...] = ()
    policies: tuple[str, ...] = ()
    classifier: str = "phrases"
    classifier_from: str = f"{TABLE}.classifier"
    ece_bins: int = 10
    samples: int = 1
    interval: IntervalMethod = IntervalMethod.WILSON
    confidence_level: float = 0.95
    seed: int = 0
    ceilings: tuple[Ceiling, ...] = ()
    overrides: tuple[CeilingOverride, ...] = ()
    policy_settings: Mapping[str, PolicySettings] = field(default_factory=dict)
    within_ceilings: WithinCeilings = WithinCeilings.FAIL
    github: bool = False
    extra_refusal_phrases: tuple[str, ...] = ()
    finish_reasons: Mapping[str, FinishKind] = field(default_factory=dict)
    corpora: tuple[CorpusTable, ...] = ()
    regression: RegressionLimits = field(default_factory=RegressionLimits)
    baseline: str | None = None
    labels: str | None = None

    @property
    def corpus_entries(self) -> tuple[str, ...]:
        """All that names corpora, in order; empty for the bundled ones."""
        return (*self.corpus, *(path for table in self.corpora for path in table.paths))

    def ceilings_of(self, policy: str) -> tuple[Ceiling, ...]:
        """Return the ceilings of one policy: overrides over its own over the general ones.

        Where there is any ceiling, `unevaluated` has one too: 0 unless it is set.
        """
        own = self.policy_settings.get(policy)
        layers: list[Iterable[Ceiling]] = [self.ceilings, own.ceilings if own else ()]
        layers.append(o.ceiling for o in self.overrides if o.policy is None)
        layers.append(o.ceiling for o in self.overrides if o.policy == policy)
        merged = {ceiling.key: ceiling for layer in layers for ceiling in layer}
        if merged:
            merged.setdefault(NOTHING_UNEVALUATED.key, NOTHING_UNEVALUATED)
        order = list(Measure)
        return tuple(sorted(merged.values(), key=lambda c: (order.index(c.measure), c.name)))

    def all_ceilings(self) -> Iterator[Ceiling]:
        """Yield every ceiling that is written anywhere."""
        yield from self.ceilings
        for own in self.policy_settings.values():
            yield from own.ceilings
        yield from (override.ceiling for override in self.overrides)

    def phrases_of(self, policy: str) -> tuple[str, ...]:
        """Return the house phrases that count as refusals of one policy."""
        own = self.policy_settings.get(policy)
        return self.extra_refusal_phrases + (own.extra_refusal_phrases if own else ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Overrides:
    """What the command line says; None and empty mean that it says nothing.

    classifier_option: how the option is called that gives the classifier.
    """

    policies: tuple[str, ...] = ()
    ceilings: tuple[str, ...] = ()
    classifier: str | None = None
    classifier_option: str = "--refusal-classifier"
    samples: int | None = None


def read_settings(
    table: object,
    *,
    base: Path,
    source: Path | None = None,
    overrides: Overrides = Overrides(),  # a frozen value
) -> Settings:
    """Check a `[tool.pytest-refusal]` table and what overrides it.

    table: as read from TOML, {} where there is none.
    Raises SettingsError with all faults.
    """
    faults: list[str] = []
    reader = TableReader(table, TABLE, faults)
    policies = _split_policies(reader.text_or_list("policy"), f"{TABLE}.policy", faults)
    if overrides.policies:
        policies = _split_policies(overrides.policies, "--refusal-policy", faults)
    configured = reader.text("classifier")
    baseline, regression = _read_regression(reader.table("regression") or {}, faults)
    within = reader.choice("within_ceilings", WithinCeilings, WithinCeilings.FAIL)
    settings = Settings(
        base=base,
        source=source,
        corpus=reader.text_or_list("corpus"),
        policies=policies,
        classifier=overrides.classifier or configured or "phrases",
        classifier_from=(
            overrides.classifier_option if overrides.classifier else f"{TABLE}.classifier"
        ),
        ece_bins=reader.integer("ece_bins", 10, low=1, high=1000),
        samples=_samples(reader, overrides.samples, faults),
        interval=reader.choice("interval", IntervalMethod, IntervalMethod.WILSON, OF_RATES),
        confidence_level=reader.number("confidence_level", 0.95, low=0.5, high=0.9999),
        seed=reader.integer("seed", 0, low=0, high=10**9),
        ceilings=_read_ceilings(reader.table("ceilings") or {}, faults),
        overrides=_read_overrides(overrides.ceilings, faults),
        policy_settings=_read_policies(reader.table("policies") or {}, faults),
        within_ceilings=within,
        github=reader.truth("github", default=False),
        extra_refusal_phrases=reader.phrases("extra_refusal_phrases"),
        finish_reasons=_read_finish_reasons(reader.table("finish_reasons") or {}, faults),
        corpora=_read_corpora(reader, faults),
        regression=regression,
        baseline=baseline,
        labels=reader.text("labels"),
    )
    reader.refuse_unknown()
    if faults:
        raise SettingsError(faults)
    return settings


def _samples(reader: TableReader, override: int | None, faults: list[str]) -> int:
    samples = reader.integer("samples", 1, low=1, high=1000)
    if override is None:
        return samples
    if not 1 <= override <= 1000:
        faults.append(f"--refusal-samples: must be from 1 to 1000, not {override}")
    return override


def _split_policies(specs: Sequence[str], where: str, faults: list[str]) -> tuple[str, ...]:
    # dict.fromkeys: named twice is asked once.
    names = [name.strip() for spec in specs for name in spec.split(",")]
    if "" in names:
        faults.append(f"{where}: an empty policy name in {', '.join(specs)!r}")
    return tuple(dict.fromkeys(name for name in names if name))


def _read_policies(tables: Mapping[str, object], faults: list[str]) -> dict[str, PolicySettings]:
    found = {}
    for name, table in tables.items():
        where = f"{TABLE}.policies.{name}"
        reader = TableReader(table, where, faults)
        found[name] = PolicySettings(
            name=name,
            ceilings=_read_ceilings(
                reader.table("ceilings") or {}, faults, where=f"{where}.ceilings"
            ),
            extra_refusal_phrases=reader.phrases("extra_refusal_phrases"),
            options=reader.rest(),
        )
    return found


def _read_corpora(reader: TableReader, faults: list[str]) -> tuple[CorpusTable, ...]:
    tables = reader.value("corpora")
    if tables is None:
        return ()
    found, wrong = parse_corpus_tables(tables)
    faults += [f"{TABLE}.{fault}" for fault in wrong]
    return found


def _read_regression(
    table: Mapping[str, object], faults: list[str]
) -> tuple[str | None, RegressionLimits]:
    where = f"{TABLE}.regression"
    reader = TableReader(table, where, faults)
    increases = TableReader(reader.table("max_increase") or {}, f"{where}.max_increase", faults)
    found = {
        measure: increases.number(measure.value, None, low=0.0, high=1.0)
        for measure in CAN_INCREASE
    }
    limits = RegressionLimits(
        max_regressions=reader.integer("max_regressions", None, low=0, high=10**9),
        significance=reader.number("significance", None, low=1e-9, high=0.5),
        max_increase={measure: limit for measure, limit in found.items() if limit is not None},
    )
    baseline = reader.text("baseline")
    increases.refuse_unknown()
    reader.refuse_unknown()
    return baseline, limits


def _read_finish_reasons(table: Mapping[str, object], faults: list[str]) -> dict[str, FinishKind]:
    reader = TableReader(table, f"{TABLE}.finish_reasons", faults)
    return {word: reader.choice(word, FinishKind, FinishKind.FINISHED) for word in table}


def _read_ceilings(
    table: Mapping[str, object], faults: list[str], *, where: str = f"{TABLE}.ceilings"
) -> tuple[Ceiling, ...]:
    found: list[Ceiling] = []
    known = [m.value for m in Measure] + [f"{m.value}_by_category" for m in _BY_CATEGORY]
    for key, value in table.items():
        plain = key.removesuffix("_by_category")
        if key in set(Measure):
            found += _one_ceiling(Measure(key), None, value, f"{where}.{key}", faults)
        elif key != plain and plain in _BY_CATEGORY:
            if not isinstance(value, Mapping):
                faults.append(f"{where}.{key}: must be a table of categories, not {shown(value)}")
                continue
            for category, limit in value.items():
                place = f"{where}.{key}.{category}"
                found += _one_ceiling(Measure(plain), category, limit, place, faults)
        else:
            hint = closest(key, known)
            faults.append(f"{where}.{key}: unknown ceiling{hint} (known: {', '.join(known)})")
    return tuple(found)


_BY_CATEGORY = (Measure.UNDER_REFUSAL, Measure.OVER_REFUSAL)


def _one_ceiling(
    measure: Measure, category: str | None, value: object, where: str, faults: list[str]
) -> list[Ceiling]:
    end = "min" if measure.is_floor else "max"
    decide, level = Decide.OBSERVED, 0.95
    if isinstance(value, Mapping):
        reader = TableReader(value, where, faults)
        if end not in reader:
            faults.append(f"{where}: a ceiling as a table needs the key {end!r}")
        limit = reader.number(end, 0.0, low=0.0, high=1.0)
        decide = reader.choice("decide", Decide, decide)
        level = reader.number("confidence_level", level, low=0.5, high=0.9999)
        reader.refuse_unknown()
        if measure is Measure.ECE and decide is not Decide.OBSERVED:
            faults.append(f'{where}.decide: the ECE is always "observed"')
    else:
        limit = checked_share(value, where, faults)
    return [
        Ceiling(
            measure=measure,
            limit=limit,
            category=category,
            decide=decide,
            confidence_level=level,
        )
    ]


# under_refusal=0.1, under_refusal_by_category.role-play=0.2, ece[staging]=0.1
_OVERRIDE = re.compile(
    r"(?P<name>[^=\[]+?)(?:\[(?P<policy>[^\]]+)\])?\s*=\s*(?P<limit>.+)", re.DOTALL
)

# What `float` takes beside this is a slip of the finger: 0_1 for 0.1, digits of another script.
_NUMBER = re.compile(
    r"\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?\s*|nan|[+-]?inf",
    re.ASCII | re.IGNORECASE,
)


def _read_overrides(specs: Sequence[str], faults: list[str]) -> tuple[CeilingOverride, ...]:
    found: list[CeilingOverride] = []
    for spec in specs:
        where = f"--refusal-ceiling {spec}"
        match = _OVERRIDE.fullmatch(spec.strip())
        limit = float(match["limit"]) if match and _NUMBER.fullmatch(match["limit"]) else None
        if match is None or limit is None:
            faults.append(f"{where}: write it as NAME=NUMBER, for example under_refusal=0.1")
            continue
        name, _, category = match["name"].strip().partition(".")
        value: object = {category: limit} if category else limit
        faults_here: list[str] = []
        ceilings = _read_ceilings({name: value}, faults_here, where="--refusal-ceiling ")
        faults += [f.replace("--refusal-ceiling .", "--refusal-ceiling ", 1) for f in faults_here]
        found += [CeilingOverride(ceiling=c, policy=match["policy"]) for c in ceilings]
    return tuple(found)
