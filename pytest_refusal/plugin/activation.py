"""Options and the project file to a run that is ready: checked whole, before collection.

Everything that can be wrong is found here, in the controller as in each worker, and becomes
one usage error that lists it all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest

from pytest_refusal.corpus.loading import Loaded, load
from pytest_refusal.corpus.sources import CorpusFile, find_corpora
from pytest_refusal.errors import CorpusError, ReportError, SettingsError
from pytest_refusal.escape import visible
from pytest_refusal.metrics.audit import HumanLabel
from pytest_refusal.plugin.arguments import (
    Arguments,
    absent_paths,
    named_from_rootdir,
    take_corpora,
    typed_policy,
)
from pytest_refusal.plugin.arrivals import Arrivals
from pytest_refusal.plugin.asking import AskingOptions, open_asking, read_asking_options
from pytest_refusal.plugin.audit import labels_given, requested_audit
from pytest_refusal.plugin.baselines import baselines_given, selects_part
from pytest_refusal.plugin.collection import CorpusCollection, plan_part
from pytest_refusal.plugin.fixtures import OWN_TESTS
from pytest_refusal.plugin.github import GitHubReport
from pytest_refusal.plugin.hooked import hooked_classifiers, hooked_policies
from pytest_refusal.plugin.live_line import LiveLine, wants_live_line
from pytest_refusal.plugin.outcome_reports import OutcomeReports, SafeReasons
from pytest_refusal.plugin.own_tests import OwnTests
from pytest_refusal.plugin.project_file import ProjectTable
from pytest_refusal.plugin.run import RUN, CorpusPart, Run, is_worker
from pytest_refusal.plugin.session import RefusalSession
from pytest_refusal.plugin.sharing import SharedOutcomes
from pytest_refusal.plugin.terminal import TerminalReport
from pytest_refusal.plugin.trial_ids import TrialIds
from pytest_refusal.plugin.written_files import overwriting, read_back, reports_and_history
from pytest_refusal.plugin.xdist import ControllerSide, WorkerSide
from pytest_refusal.prompt import Prompt
from pytest_refusal.protocols import Classifier, Policy
from pytest_refusal.registry import (
    build_classifier,
    build_policies,
    faults_of_unused,
    known_policies,
    why_no_policy,
)
from pytest_refusal.report.baseline import Baseline
from pytest_refusal.reporting import policy_notes
from pytest_refusal.settings import TABLE, Overrides, Settings, read_settings
from pytest_refusal.table_reader import closest
from pytest_refusal.useless_ceilings import useless_ceilings

# Options of pytest under which no test runs; those of a plugin may be absent.
_ASK_NOBODY = ("collectonly", "setuponly", "setupplan")


def activate(config: pytest.Config, project: ProjectTable) -> None:
    """Prepare the run and register what carries it out.

    Raises UsageError with every fault of settings, corpora, policies and report paths.
    """
    try:
        run = _prepare(config, project, read_asking_options(config))
    except SettingsError as error:
        raise pytest.UsageError(*map(visible, error.faults)) from None
    ids = TrialIds(run.parts, run.trials)
    config.stash[RUN] = run
    config.stash[OWN_TESTS] = own_tests = OwnTests(config, run, ids)
    register = config.pluginmanager.register
    register(own_tests, "refusal-own-tests")
    register(CorpusCollection(run), "refusal-collection")
    register(OutcomeReports(config, run), "refusal-outcomes")
    register(SafeReasons(), "refusal-reasons")
    if is_worker(config):
        register(WorkerSide(config, run, ids), "refusal-worker")
        return
    arrivals = Arrivals(run, ids)
    register(arrivals, "refusal-arrivals")
    session = RefusalSession(config, run, arrivals)
    register(session, "refusal-session")
    register(TerminalReport(config, run, arrivals, session), "refusal-terminal")
    register(ControllerSide(config, run, arrivals, ids), "refusal-controller")
    if wants_live_line(config):
        register(LiveLine(config, run, arrivals), "refusal-live-line")
    if config.option.refusal_github or run.settings.github:
        register(GitHubReport(config, run, session), "refusal-github")


def _prepare(config: pytest.Config, project: ProjectTable, how: AskingOptions) -> Run:
    option = config.option
    settings = read_settings(
        project.table,
        base=project.source.parent if project.source else config.rootpath,
        source=project.source,
        overrides=Overrides(
            policies=tuple(option.refusal_policy),
            ceilings=tuple(option.refusal_ceiling),
            classifier=option.refusal_classifier,
            samples=option.refusal_samples,
        ),
    )
    faults: list[str] = []
    with _gathering(faults):
        hooked = hooked_policies(config)
    if faults:
        raise SettingsError(faults)
    baselines: Mapping[str, Baseline] = {}
    labels: Mapping[str, tuple[HumanLabel, ...]] = {}
    policies: dict[str, Policy] = {}
    classifiers: dict[str, Classifier] = {}
    configured: tuple[CorpusFile, ...] = ()
    with _gathering(faults):
        policies = build_policies(settings.policies, settings, hooked=hooked, offline=how.offline)
    with _gathering(faults):
        own = hooked_classifiers(config)
        classifiers = {
            name: build_classifier(settings, name, hooked=own, judges=hooked, offline=how.offline)
            for name in settings.policies
        }
    with _gathering(faults):
        configured = tuple(
            named_from_rootdir(file, config.rootpath)
            for file in find_corpora(
                settings.corpus_entries, base=settings.base, tables=settings.corpora
            )
        )
    with _gathering(faults):
        labels = labels_given(config, settings)
    faults += _unknown_policies(settings, hooked)
    reports, history = reports_and_history(config, faults)
    audit = requested_audit(config, faults)
    arguments = take_corpora(config, configured)
    as_items = bool(arguments.files)
    if not as_items and typed_policy(config):
        faults += absent_paths(config, arguments, configured)
    with _gathering(faults):
        baselines = baselines_given(config, settings, is_whole=_rules_on_all(config, arguments))
    # Tests of people's own may ask all the same.
    files = arguments.files or configured
    # A ceiling holds for all that is configured, also where the arguments name less.
    named = configured if settings.corpus_entries else ()
    loaded = Loaded(prompts=(), notes=())
    with _gathering(faults):
        loaded = load(tuple(dict.fromkeys((*files, *named))))
    faults += overwriting(
        {
            "--refusal-report": reports,
            "--refusal-history": [history] if history else [],
            "--refusal-audit": [audit.path] if audit else [],
            "--refusal-record": [how.record_to] if how.record_to else [],
        },
        {
            "is a corpus of this run": [file.path for file in (*files, *configured)],
            "holds the configuration": [project.source] if project.source else [],
            **read_back(config, settings),
        },
    )
    if faults:
        raise SettingsError(faults)
    by_corpus: dict[str, list[Prompt]] = defaultdict(list)
    for prompt in loaded.prompts:
        by_corpus[prompt.corpus].append(prompt)
    faults += useless_ceilings(settings, loaded.prompts)
    parts = tuple(
        plan_part(
            file,
            by_corpus[file.name],
            policies=settings.policies,
            samples=settings.samples,
            names=arguments.names.get(file),
        )
        for file in files
    )
    faults += [fault for part in parts for fault in _unknown_names(part)]
    if faults:
        raise SettingsError(faults)
    asking = open_asking(config, how, settings=settings, policies=policies, classifiers=classifiers)
    config.args[:] = arguments.others
    by_run = {file.name for file in files}
    prompts = tuple(prompt for file in files for prompt in by_corpus[file.name])
    return Run(
        settings=settings,
        parts=parts,
        prompts=prompts,
        readings=loaded.readings,
        trials={node_id: trial for part in parts for node_id, trial in part.trials.items()},
        as_items=as_items,
        narrowed=_is_narrowed(config, arguments),
        shared=SharedOutcomes(),
        policies=policies,
        classifiers=classifiers,
        baselines=baselines,
        labels=labels,
        asking=asking,
        report_paths=reports,
        audit=audit,
        dry=_is_dry(config),
        history_path=history,
        redact=option.refusal_redact,
        gate_partial=option.refusal_gate_partial,
        must_evaluate=typed_policy(config),
        notes=(
            *(str(note) for note in loaded.notes if by_run.intersection(note.corpora)),
            *policy_notes(policies.values()),
        ),
    )


def _is_dry(config: pytest.Config) -> bool:
    return any(getattr(config.option, name, False) for name in _ASK_NOBODY)


def _rules_on_all(config: pytest.Config, arguments: Arguments) -> bool:
    if not arguments.files or _is_dry(config):
        return False
    in_part = _is_narrowed(config, arguments) or selects_part(config)
    return bool(config.option.refusal_gate_partial) or not in_part


def _is_narrowed(config: pytest.Config, arguments: Arguments) -> bool:
    if arguments.files:
        return any(names is not None for names in arguments.names.values())
    # `--lf` leaves tests of a folder out without a word.
    return bool(getattr(config.option, "lf", False)) or any(
        "::" in argument for argument in arguments.others
    )


@contextmanager
def _gathering(faults: list[str]) -> Iterator[None]:
    """Go on after what cannot be used, so that all faults are told at once."""
    try:
        yield
    except (SettingsError, CorpusError, ReportError) as error:
        faults += error.faults


def _unknown_policies(settings: Settings, hooked: Mapping[str, object]) -> list[str]:
    known = {*known_policies(settings, hooked), *settings.policies}
    faults = faults_of_unused(settings)
    faults += [
        f"{TABLE}.policies.{name}: {why}"
        for name, own in settings.policy_settings.items()
        if not own.options
        and name not in known
        and (why := why_no_policy(name, settings, known)) is not None
    ]
    faults += [
        f"--refusal-ceiling {override.ceiling.name}[{override.policy}]: this policy is not in the"
        f" run{closest(override.policy, settings.policies)} (it has {', '.join(settings.policies)})"
        for override in settings.overrides
        if override.policy is not None and override.policy not in settings.policies
    ]
    return faults


def _unknown_names(part: CorpusPart) -> list[str]:
    if part.names is None:
        return []
    start = len(part.node_id) + 2
    full = [node_id[start:] for node_id in part.trials]
    known = {*full, *(name.partition("[")[0] for name in full)}
    return [
        f"{part.node_id}::{name}: there is no such prompt in this run{closest(name, known)}"
        for name in sorted(part.names)
        if name not in known
    ]
