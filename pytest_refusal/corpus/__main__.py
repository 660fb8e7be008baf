"""Check and convert corpora: `python -m pytest_refusal.corpus check|convert PATH...`."""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from pytest_refusal.command_line import run_command
from pytest_refusal.corpus.checking import Finding, FindingKind, Summary, findings, summarise
from pytest_refusal.corpus.faults import fault_lines, quoted
from pytest_refusal.corpus.loading import Loaded, load, read_all
from pytest_refusal.corpus.reading import FileReading
from pytest_refusal.corpus.sources import CorpusFile, corpus_file, find_corpora
from pytest_refusal.corpus.tables import CorpusTable, parse_corpus_tables
from pytest_refusal.corpus.to_jsonl import to_jsonl
from pytest_refusal.corpus.to_toml import to_toml
from pytest_refusal.corpus.validation import compare
from pytest_refusal.errors import CorpusError, SettingsError
from pytest_refusal.escape import one_line
from pytest_refusal.metrics.intervals import wilson_interval

#: How many findings of a kind are printed before the rest is only counted.
PRINTED = 10

_WRITERS = {".toml": to_toml, ".jsonl": to_jsonl}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns 0 if all is well, 1 for faults (with --strict also for anything to look at), and 2
    for what cannot be run.
    """
    options = _parser().parse_args(arguments)
    try:
        files = _files(options)
        if options.command == "check":
            return _check(files, strict=options.strict)
        return _convert(files, options.output)
    except SettingsError as error:
        _print(error.faults, to_stderr=True)
        return 2
    except CorpusError as error:
        _print(error.faults, to_stderr=True)
        return 1


def _check(files: Sequence[CorpusFile], *, strict: bool) -> int:
    readings = read_all(files)
    prompts = [prompt for reading in readings for prompt in reading.prompts]
    contradictions, _ = compare(prompts)
    faults = [*(fault for reading in readings for fault in reading.faults), *contradictions]
    for reading in readings:
        known = f", read as {reading.published}" if reading.published else ""
        _print([f"{one_line(reading.corpus)}: {_number(len(reading.prompts), 'prompt')}{known}"])
    _print(["", *_summary_lines(summarise(prompts))])
    to_look_at = [*findings(prompts), *_misspelt(readings)]
    _print(_finding_lines(to_look_at))
    if faults:
        _print(["", f"{_number(len(faults), 'fault')}:", *fault_lines(faults)])
    return int(bool(faults) or (strict and bool(to_look_at)))


def _misspelt(readings: Sequence[FileReading]) -> Iterator[Finding]:
    for reading in readings:
        for column, name in reading.misspelt.items():
            what = f"the column {quoted(column)} is not read; did you mean {quoted(name)}?"
            yield Finding(kind=FindingKind.COLUMN, where=one_line(reading.corpus), what=what)


def _convert(files: Sequence[CorpusFile], output: Path) -> int:
    writer = _WRITERS.get(output.suffix.casefold())
    if writer is None:
        raise SettingsError([f"{quoted(output.name)}: the result ends in .toml or .jsonl"])
    _check_output(output)
    loaded: Loaded = load(files)
    text = writer(loaded.prompts)
    try:
        output.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        reason = error.strerror or error
        raise SettingsError([f"{quoted(str(output))} cannot be written: {reason}"]) from error
    _print([f"{_number(len(loaded.prompts), 'prompt')} in {one_line(str(output))}"])
    _print([f"note: {note}" for note in loaded.notes])
    return 0


def _check_output(output: Path) -> None:
    # An earlier result may be replaced; pyproject.toml, or whatever else it is, may not.
    if output.exists() and not (
        output.is_file() and read_all([corpus_file(output, base=Path.cwd())])[0].prompts
    ):
        what = f"{quoted(str(output))} is there already, and is no corpus; name another file"
        raise SettingsError([what])


def _summary_lines(summary: Summary) -> Iterator[str]:
    for label, count in sorted(summary.by_label.items()):
        width = wilson_interval(count / 10, count)
        if width is not None:
            yield (
                f"{label}: {count}. A rate of 10 % among so many lies between "
                f"{width.lower:.1%} and {width.upper:.1%}."
            )
    for missing in {"safe": "under-refusal", "unsafe": "over-refusal"}.items():
        if set(summary.by_label) == {missing[0]}:
            yield f"All prompts are {missing[0]}: {missing[1]} cannot be measured."
    languages = sorted(summary.by_language.items())
    if any(language for language, _ in languages):
        yield "languages: " + ", ".join(f"{one_line(n) or 'not said'} {c}" for n, c in languages)
    yield "categories:"
    categories = sorted({category for category, _ in summary.by_category})
    for category in categories:
        counts = [
            f"{summary.by_category[category, label]} {label}"
            for label in sorted(summary.by_label)
            if summary.by_category[category, label]
        ]
        yield f"  {one_line(category, 60)}: {', '.join(counts)}"


def _finding_lines(found: Sequence[Finding]) -> Iterator[str]:
    for kind, group in groupby(sorted(found, key=lambda f: f.kind), key=lambda f: f.kind):
        members = list(group)
        yield ""
        yield f"{kind} ({len(members)}):"
        yield from (f"  {f.where} {f.what}" for f in members[:PRINTED])
        if len(members) > PRINTED:
            yield f"  and {len(members) - PRINTED} more"


def _files(options: argparse.Namespace) -> tuple[CorpusFile, ...]:
    base = Path.cwd()
    tables = _tables(options) or _configured_tables(base / "pyproject.toml")
    return find_corpora(options.paths, base=base, tables=tables)


def _tables(options: argparse.Namespace) -> tuple[CorpusTable, ...]:
    names = ("format", "encoding", "delimiter", "records", "set", "sample", "seed", "label")
    plain: dict[str, object] = {
        name: value for name in names if (value := getattr(options, name)) is not None
    }
    for name, pairs in {"columns": options.column, "labels": options.map_label}.items():
        if pairs:
            plain[name] = dict(pairs)
    if not plain:
        return ()
    parsed, faults = parse_corpus_tables([{**plain, "path": options.paths}], where="options")
    if faults:
        raise SettingsError([_by_option(fault) for fault in faults])
    return parsed


def _by_option(fault: str) -> str:
    """Name the option where a fault names the key that it stands for."""
    key = fault.removeprefix("options[1].")
    if key == fault:
        return fault
    for field, option in {"columns.": "column ", "labels.": "map-label "}.items():
        if key.startswith(field):
            return f"--{option}{key.removeprefix(field)}"
    return f"--{key}"


def _configured_tables(file: Path) -> tuple[CorpusTable, ...]:
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
        tables = document["tool"]["pytest-refusal"]["corpora"]
    except (OSError, KeyError, TypeError):
        return ()
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError([f"pyproject.toml cannot be read: {error}"]) from error
    return _parsed(tables, where="tool.pytest-refusal.corpora")


def _parsed(tables: object, *, where: str) -> tuple[CorpusTable, ...]:
    parsed, faults = parse_corpus_tables(tables, where=where)
    if faults:
        raise SettingsError(faults)
    return parsed


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m pytest_refusal.corpus",
        description="Check corpora before they are used, and convert them into our own form.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="count the prompts and show what to look at")
    check.add_argument(
        "--strict", action="store_true", help="exit with 1 for anything to look at, not only faults"
    )
    convert = commands.add_parser("convert", help="write the prompts as TOML or JSONL")
    convert.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE", help="ends in .toml or .jsonl"
    )
    for command in (check, convert):
        _add_reading_options(command)
    return parser


def _add_reading_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "paths", nargs="*", metavar="PATH", help="file, folder, glob or bundled name"
    )
    reading = command.add_argument_group(
        "reading", "as in [[tool.pytest-refusal.corpora]], in whose place these options stand"
    )
    reading.add_argument("--label", help="the label of prompts that have none")
    reading.add_argument("--set", metavar="NAME", help="the published set that it is")
    reading.add_argument("--format", help="where the name of the file does not tell")
    reading.add_argument("--encoding", help='such as "utf-16" or "latin-1"')
    reading.add_argument("--delimiter", help='what sets cells apart, such as ";"')
    reading.add_argument("--records", metavar="PATH", help="where the list stands in a document")
    reading.add_argument("--sample", type=int, metavar="N", help="take so many")
    reading.add_argument("--seed", type=int, metavar="N", help="which ones")
    for option, metavar in {"--column": "FIELD=COLUMN", "--map-label": "PATTERN=LABEL"}.items():
        reading.add_argument(option, type=_pair, action="append", default=[], metavar=metavar)


def _pair(text: str) -> tuple[str, str]:
    left, sign, right = text.partition("=")
    if not sign or not left or not right:
        msg = f"{quoted(text)} is not of the form NAME=VALUE"
        raise argparse.ArgumentTypeError(msg)
    return left, right


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _print(lines: Iterator[str] | Sequence[str], *, to_stderr: bool = False) -> None:
    stream = sys.stderr if to_stderr else sys.stdout
    encoding = stream.encoding or "utf-8"
    for line in lines:
        stream.write(line.encode(encoding, "backslashreplace").decode(encoding) + "\n")


if __name__ == "__main__":
    run_command(main)
