"""How far a classifier agrees with people: `python -m pytest_refusal.agreement LABELS`.

Reads responses with labels of people and prints, by source and language, how often the
classifier says the same.  To be run on one's own responses before a gate is trusted.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from pytest_refusal.classifier.labels import read_labels
from pytest_refusal.command_line import run_command
from pytest_refusal.errors import RefusalError, SettingsError
from pytest_refusal.escape import encodable, one_line
from pytest_refusal.execution.meter import Meter
from pytest_refusal.labelled_verdicts import Compared, compare_all, judge_of
from pytest_refusal.metrics.agreement import Agreement, cohen_kappa
from pytest_refusal.metrics.intervals import wilson_interval
from pytest_refusal.protocols import Classifier
from pytest_refusal.registry import build_classifier
from pytest_refusal.report.findings import count
from pytest_refusal.report.remarks import asking_in_words
from pytest_refusal.report.report import AskingSummary
from pytest_refusal.settings import Overrides, Settings, read_settings
from pytest_refusal.table_reader import closest
from pytest_refusal.verdict import VerdictKind

_KINDS = (VerdictKind.ANSWER, VerdictKind.PARTIAL_REFUSAL, VerdictKind.REFUSAL)
_SHOWN = 160
_KEY = "pytest-refusal"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; 0, or 2 for files or a classifier that cannot be used.

    That is one that judged nothing, too.
    """
    parser = argparse.ArgumentParser(
        prog="python -m pytest_refusal.agreement",
        description="How far a classifier agrees with the labels of people.",
    )
    parser.add_argument("labels", nargs="+", type=Path, help="JSONL, CSV or TSV files")
    parser.add_argument("--classifier", help="in place of the configured one")
    parser.add_argument(
        "--config", type=Path, metavar="PATH", help="TOML file to read in place of ./pyproject.toml"
    )
    parser.add_argument(
        "--policy", default="", metavar="NAME", help="count the house phrases of this policy too"
    )
    parser.add_argument("--errors", action="store_true", help="print every disagreement")
    options = parser.parse_args(arguments)
    try:
        settings = _configured(options.config, options.policy, options.classifier)
        classifier = build_classifier(settings, options.policy)
        files = [read_labels(path) for path in options.labels]
    except RefusalError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    compared = compare_all([row for file in files for row in file.rows], classifier)
    lines = [_measured(classifier, settings, options.policy), ""]
    lines += _tables(compared)
    for file in files:
        if file.unlabelled:
            lines.append(f"{file.path}: {file.unlabelled} rows without a label were left out")
        if file.machine:
            lines.append(f"{file.path}: its labels are those of a model, not of people")
    lines += _spent(classifier)
    if options.errors:
        lines += ["", *_disagreements(compared)]
    text = "\n".join(lines) + "\n"
    sys.stdout.write(encodable(text, sys.stdout.encoding or "utf-8"))
    if compared and all(one.verdict is None for one in compared):
        sys.stderr.write(f"no response could be judged; the first: {one_line(compared[0].error)}\n")
        return 2
    return 0


def _configured(given: Path | None, policy: str, classifier: str | None) -> Settings:
    """Read the settings that a gate would take; the defaults where there is no file.

    Raises SettingsError with every fault, also for a policy that the settings do not name.
    """
    path = given or Path("pyproject.toml")
    table: object = {}
    try:
        tool = tomllib.loads(path.read_text("utf-8-sig")).get("tool")
        table = tool.get(_KEY, {}) if isinstance(tool, dict) else {}
    except FileNotFoundError as error:
        if given is not None:
            raise SettingsError([f"--config {given}: there is no such file"]) from error
    except OSError as error:
        raise SettingsError([f"{path} cannot be read: {error.strerror or error}"]) from error
    except ValueError as error:
        raise SettingsError([f"{path}: not valid TOML: {error}"]) from error
    settings = read_settings(
        table,
        base=path.absolute().parent,
        source=path if table else None,
        overrides=Overrides(classifier=classifier, classifier_option="--classifier"),
    )
    known = {*settings.policy_settings, *settings.policies}
    if policy and policy not in known:
        told = f"known: {', '.join(sorted(known))}" if known else "it names none"
        what = f"--policy {policy}: not in {path}{closest(policy, known)} ({told})"
        raise SettingsError([what])
    return settings


def _measured(classifier: Classifier, settings: Settings, policy: str) -> str:
    """Say in one line what is measured: which rules, and which phrases of the house."""
    told = f"classifier {classifier.name} {classifier.version}"
    reads_phrases = settings.classifier.partition(":")[0] in ("phrases", "cascade")
    phrases = len(settings.phrases_of(policy)) if reads_phrases else 0
    if phrases:
        told += f" with {count(phrases, 'house phrase')}"
    if settings.source is not None:
        told += f" from {settings.source}"
    elsewhere = [] if policy or not reads_phrases else _with_phrases(settings)
    if elsewhere:
        told += f"; left out are those of {', '.join(elsewhere)} (--policy NAME counts them)"
    return one_line(told, 400)


def _spent(classifier: Classifier) -> list[str]:
    """Say what a judge took; nothing where there is none, or none that counts its calls."""
    judge = judge_of(classifier)
    meter = getattr(judge.policy, "meter", None) if judge is not None else None
    taken = AskingSummary.of(meter) if isinstance(meter, Meter) else None
    return [] if taken is None else [f"of the judge: {asking_in_words(taken)}"]


def _with_phrases(settings: Settings) -> list[str]:
    return [name for name, own in settings.policy_settings.items() if own.extra_refusal_phrases]


def _tables(compared: Sequence[Compared]) -> list[str]:
    groups: dict[tuple[str, str], list[Compared]] = defaultdict(list)
    for one in compared:
        groups[one.row.source, one.row.language].append(one)
    lines = [
        f"{'source':44} {'lang':5} {'n':>5} {'accuracy':>22} {'precision':>9} {'recall':>7}"
        f" {'F1':>6} {'kappa':>23} {'3-way':>6}"
    ]
    lines += [_line(source, language, groups[source, language]) for source, language in groups]
    if len(groups) > 1:
        lines.append(_line("all", "", compared))
    for (source, language), members in groups.items():
        lines += ["", f"{one_line(source)} ({language}): rows are people, columns the classifier"]
        lines += _confusion(members)
    unjudged = [one for one in compared if one.verdict is None]
    if unjudged:
        lines += ["", f"{len(unjudged)} responses could not be judged and are in no figure"]
    return [*lines, ""]


def _line(source: str, language: str, members: Sequence[Compared]) -> str:
    judged = [(one.row.label, one.verdict.kind) for one in members if one.verdict is not None]
    counts = Counter(
        (label is not VerdictKind.ANSWER, kind is not VerdictKind.ANSWER) for label, kind in judged
    )
    agreement = Agreement(
        both_refusal=counts[True, True],
        human_only=counts[True, False],
        classifier_only=counts[False, True],
        both_answer=counts[False, False],
    )
    hits, n = agreement.both_refusal, agreement.n
    precision = _share(hits, hits + agreement.classifier_only)
    recall = _share(hits, hits + agreement.human_only)
    f1 = _share(2 * hits, 2 * hits + agreement.classifier_only + agreement.human_only)
    exact = sum(label is kind for label, kind in judged)
    return (
        f"{one_line(source, 44):44} {one_line(language, 5):5} {n:5} {_accuracy(agreement):>22}"
        f" {precision:>9} {recall:>7} {f1:>6} {_kappa(agreement):>23} {_share(exact, n):>6}"
    )


def _accuracy(agreement: Agreement) -> str:
    right = agreement.both_refusal + agreement.both_answer
    interval = wilson_interval(right, agreement.n)
    if interval is None:
        return "-"
    return f"{right / agreement.n:.3f} [{interval.lower:.3f}, {interval.upper:.3f}]"


def _kappa(agreement: Agreement) -> str:
    kappa = cohen_kappa(agreement)
    if kappa is None:
        return "-"
    return f"{kappa.kappa:.3f} [{kappa.interval.lower:.3f}, {kappa.interval.upper:.3f}]"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "-"


def _confusion(members: Iterable[Compared]) -> list[str]:
    counts = Counter((one.row.label, one.verdict.kind) for one in members if one.verdict)
    lines = [" " * 16 + "".join(f"{kind.value:>17}" for kind in _KINDS)]
    lines += [
        f"{label.value:16}" + "".join(f"{counts[label, kind]:17}" for kind in _KINDS)
        for label in _KINDS
    ]
    return lines


def _disagreements(compared: Iterable[Compared]) -> list[str]:
    lines = []
    for one in compared:
        verdict = one.verdict
        if verdict is None or verdict.kind is not one.row.label:
            said = verdict.kind.value if verdict else "could not judge"
            why = verdict.explain() if verdict else one.error
            lines += [
                f"{one_line(one.row.source)}:{one.row.line}: people {one.row.label.value},"
                f" classifier {said}",
                f"  response: {one_line(one.row.response, _SHOWN)}",
                f"  evidence: {one_line(why, _SHOWN)}",
            ]
    return lines


if __name__ == "__main__":
    run_command(main)
