"""The tables of docs/classifier.md: how far the rules agree with people, and beside other rules.

python tests/benchmarks/agreement_tables.py LABELS.jsonl... [--cases tests/classifier/cases]
    [--xstest-script classify_completions_strmatch.py]

With our own cases it also prints how right weights are that were fitted without a source, as
`python -m pytest_refusal.classifier.fit` does (half a minute; give all sets that are fitted on).
Intervals, precision and recall are printed by `python -m pytest_refusal.agreement`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from peer_lists import LISTS, read_openings

from pytest_refusal.classifier import fit
from pytest_refusal.classifier.labels import LabelledResponse, read_labels
from pytest_refusal.classifier.phrases import PhraseClassifier
from pytest_refusal.errors import RefusalError
from pytest_refusal.prompt import Label, Message, Prompt, Role
from pytest_refusal.protocols import Classifier
from pytest_refusal.verdict import Verdict, VerdictKind

# What the lists of others are written for; "-" is a row that does not say.
_ENGLISH = ("en", "-")
_RECORDED = {"1_full_compliance": False, "2_full_refusal": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A labelled response, the columns that only these tables need, and what each rule says.

    recorded: what XSTest's string match said when the set was published, if the row tells.
    off_topic: whether a note says that it replies to another question.
    by_people: whether people labelled it, and no model.
    """

    row: LabelledResponse
    model: str
    recorded: bool | None
    off_topic: bool
    by_people: bool
    annotations: tuple[str, ...]
    ours: Verdict
    others: tuple[bool, ...]

    @property
    def refused(self) -> bool:
        return self.row.label is not VerdictKind.ANSWER

    @property
    def right(self) -> bool:
        return self.ours.declines == self.refused


def judge(paths: Iterable[Path], others: Sequence[Classifier]) -> list[Judged]:
    """Read the labelled rows and judge each.  Raises CorpusError for files that cannot be read."""
    return list(_judged(paths, PhraseClassifier(), others))


def _judged(
    paths: Iterable[Path], ours: Classifier, others: Sequence[Classifier]
) -> Iterator[Judged]:
    for path in paths:
        rows = read_labels(path).rows
        columns = _columns(path) if path.suffix == ".jsonl" else {}
        for row in rows:
            record = columns.get(row.line, {})
            prompt = _prompt(row.prompt)
            yield Judged(
                row=row,
                model=str(record.get("model", "")),
                recorded=_RECORDED.get(str(record.get("strmatch_label_raw"))),
                off_topic=str(record.get("note")).startswith("non-sequitur"),
                by_people=record.get("label_origin") == "human",
                annotations=tuple(
                    str(record[name])
                    for name in ("annotation_1", "annotation_2")
                    if record.get(name)
                ),
                ours=ours.classify(row.response, prompt=prompt),
                others=tuple(
                    other.classify(row.response, prompt=prompt).declines for other in others
                ),
            )


def _columns(path: Path) -> dict[int, dict[str, object]]:
    lines = path.read_text("utf-8-sig").split("\n")
    return {number: json.loads(line) for number, line in enumerate(lines, 1) if line.strip()}


def _prompt(text: str | None) -> Prompt | None:
    if not text:
        return None
    message = Message(role=Role.USER, content=text)
    return Prompt(id="row", messages=(message,), label=Label.SAFE)


class HeldOut:
    """How right the weights are that were fitted without the source of a response.

    cases: the folder of our own cases, which are fitted on as well.
    """

    def __init__(self, paths: Iterable[Path], cases: Path, judged: Sequence[Judged]) -> None:
        labelled = [row for path in paths for row in fit._read_labels(path)]
        own = [row for path in sorted(cases.glob("*.toml")) for row in fit._read_cases(path)]
        rows = [*labelled, *own]
        fitted = [row for row in rows if row.source.startswith(tuple(fit.FITTED_ON))]
        names = sorted({name for row in fitted for name in row.features})
        declines = (fit._held_out(rows, fitted, names) > 0).tolist()[: len(labelled)]
        # The same rows in the same order: fitting leaves out those of models and those off topic.
        known = [one for one in judged if one.by_people and not one.off_topic]
        pairs = zip(known, declines, strict=True)
        self._right = {id(one): said == one.refused for one, said in pairs}

    def share(self, judged: Iterable[Judged]) -> str:
        """Return the accuracy, or a dash where some were not fitted or left out."""
        known = [self._right.get(id(one)) for one in judged]
        return "-" if None in known else _share(map(bool, known))


def agreement_table(judged: Sequence[Judged], held_out: HeldOut | None) -> Iterator[list[str]]:
    """Each source by language, and each of its models if it has several."""
    apart = ["held out"] if held_out else []
    yield ["source", "of which", "language", "n", "accuracy", *apart, "three-way"]
    for source, language in dict.fromkeys((one.row.source, one.row.language) for one in judged):
        here = [one for one in judged if (one.row.source, one.row.language) == (source, language)]
        for part, members in _parts(here):
            accuracy = _share(one.right for one in members)
            exact = _share(one.row.label is one.ours.kind for one in members)
            apart = [held_out.share(members)] if held_out else []
            yield [source, part, language, str(len(members)), accuracy, *apart, exact]


def _parts(judged: Sequence[Judged]) -> Iterator[tuple[str, list[Judged]]]:
    yield "all", list(judged)
    models = dict.fromkeys(one.model for one in judged)
    for model in models if len(models) > 1 else ():
        yield model, [one for one in judged if one.model == model]
    on_topic = [one for one in judged if not one.off_topic]
    if len(on_topic) < len(judged):
        yield "on topic", on_topic


def peers_table(
    judged: Sequence[Judged], others: Sequence[Classifier], held_out: HeldOut | None
) -> Iterator[list[str]]:
    """The accuracy of each rule on the English rows of each source."""
    told = any(one.recorded is not None for one in judged)
    apart = ["held out"] if held_out else []
    recorded = ["XSTest's string match as recorded"] if told else []
    yield ["source", "n", "this classifier", *apart, *(one.name for one in others), *recorded]
    english = [one for one in judged if one.row.language in _ENGLISH]
    for source in dict.fromkeys(one.row.source for one in english):
        here = [one for one in english if one.row.source == source]
        on_topic = [one for one in here if not one.off_topic]
        parts = {source: here, f"{source}, on topic": on_topic}
        for name, members in parts.items() if len(on_topic) < len(here) else [(source, here)]:
            cells = [str(len(members)), _share(one.right for one in members)]
            cells += [held_out.share(members)] if held_out else []
            cells += [
                _share(one.others[number] == one.refused for one in members)
                for number in range(len(others))
            ]
            known = [one for one in members if one.recorded is not None]
            cells += [_share(one.recorded == one.refused for one in known)] if told else []
            yield [name, *cells]


def remarks(judged: Sequence[Judged], others: Sequence[Classifier]) -> Iterator[str]:
    """What stands beside the tables: a mean, two annotators, and a list against its record."""
    english = [one for one in judged if one.row.language in _ENGLISH and not one.off_topic]
    sources = dict.fromkeys(one.row.source for one in english)
    if sources:
        of_source = [[one.right for one in english if one.row.source == name] for name in sources]
        means = [sum(right) / len(right) for right in of_source]
        yield (
            f"Sources: {len(means)}. English rows on topic: the mean of the accuracies is"
            f" {sum(means) / len(means):.3f}, the least {min(means):.3f}."
        )
    twice = [one for one in judged if len(one.annotations) == 2]
    for source in dict.fromkeys(one.row.source for one in twice):
        pairs = [one.annotations for one in twice if one.row.source == source]
        alike = _share((a == "answer") == (b == "answer") for a, b in pairs)
        exact = _share(a == b for a, b in pairs)
        yield f"The two annotators of {source} agree on {alike}, three-way {exact}."
    recorded = [one for one in judged if one.recorded is not None]
    for number, other in enumerate(others):
        if recorded and other.name.startswith("XSTest"):
            same = sum(one.others[number] == one.recorded for one in recorded)
            yield f"{other.name} says what is recorded on {same} of {len(recorded)}."


def _share(hits: Iterable[bool]) -> str:
    counted = list(hits)
    return f"{sum(counted) / len(counted):.3f}" if counted else "-"


def markdown(rows: Iterable[list[str]]) -> str:
    """Write rows, the first of them the header, as a table."""
    header, *body = rows
    lines = [header, ["---"] * len(header), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="The tables of docs/classifier.md.")
    parser.add_argument("labels", nargs="+", type=Path, help="JSONL, CSV or TSV files")
    parser.add_argument(
        "--cases", type=Path, metavar="FOLDER", help="our own cases, for the held-out figures"
    )
    parser.add_argument(
        "--xstest-script", type=Path, metavar="PATH", help="classify_completions_strmatch.py"
    )
    options = parser.parse_args(arguments)
    if options.cases and not options.cases.is_dir():
        parser.error(f"--cases {options.cases}: there is no such folder")
    try:
        given = [read_openings(options.xstest_script)] if options.xstest_script else []
        others = [*LISTS, *given]
        judged = judge(options.labels, others)
        held_out = HeldOut(options.labels, options.cases, judged) if options.cases else None
    except KeyError as error:
        parser.error(f"--cases needs rows with the column {error}")
    except (RefusalError, OSError, ValueError, SyntaxError) as error:
        parser.error(str(error))
    tables = [agreement_table(judged, held_out), peers_table(judged, others, held_out)]
    parts = [*map(markdown, tables), "\n".join(remarks(judged, others))]
    sys.stdout.write("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
