"""A name to what it names: built in, configured, from a hook, or `module:attribute`.

Built-in kinds are named by dotted path; only the chosen one is imported.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from pytest_refusal import foreign
from pytest_refusal.errors import ClassifierError, RefusalError, SettingsError
from pytest_refusal.protocols import Classifier, Policy
from pytest_refusal.settings import TABLE, Settings
from pytest_refusal.table_reader import TableReader, closest

if TYPE_CHECKING:
    from pytest_refusal.execution.judging import Judge
    from pytest_refusal.policy.tables import PolicyTable
    from pytest_refusal.prompt import Prompt
    from pytest_refusal.protocols import AskingClassifier, Steps
    from pytest_refusal.response import Response

#: Built-in policies: a name, and the mapping of names to policies that holds it.
BUILT_IN_POLICIES: Mapping[str, str] = {
    "strict": "pytest_refusal.policy.mock:MOCKS",
    "over-cautious": "pytest_refusal.policy.mock:MOCKS",
    "leaky": "pytest_refusal.policy.mock:MOCKS",
    "length": "pytest_refusal.policy.mock:MOCKS",
    "always-refuse": "pytest_refusal.policy.constant:CONSTANTS",
    "always-answer": "pytest_refusal.policy.constant:CONSTANTS",
}

# What no hook has given.
_NONE: Mapping[str, object] = MappingProxyType({})
BUILT_IN_CLASSIFIERS = ("phrases", "judge:POLICY", "cascade:POLICY", "transformers:MODEL")


def build_policies(
    specs: Sequence[str],
    settings: Settings,
    *,
    hooked: Mapping[str, object],
    offline: bool = False,
) -> dict[str, Policy]:
    """Build each policy of the run by its name or spec, in the order given.

    hooked: policies by name from `pytest_refusal_policies`.  offline: nobody will be asked
    over a network, so that neither keys nor client libraries are needed.
    Raises SettingsError with the faults of all of them.
    """
    faults: list[str] = []
    built: dict[str, Policy] = {}
    for spec in specs:
        try:
            built[spec] = _build_policy(spec, settings, hooked, offline=offline)
        except SettingsError as error:
            faults += error.faults
        except RefusalError as error:
            faults.append(_named_once(spec, str(error)))
    if faults:
        raise SettingsError(faults)
    return built


def _named_once(spec: str, told: str) -> str:
    """Begin a message with the policy, whose name may stand there already."""
    if told.startswith(f"policy {spec!r}"):
        return told
    return f"policy {told}" if told.startswith(repr(spec)) else f"policy {spec!r}: {told}"


def _build_policy(
    spec: str, settings: Settings, hooked: Mapping[str, object], *, offline: bool
) -> Policy:
    configured = settings.policy_settings.get(spec)
    if configured is not None and configured.options:
        return _configured_policy(spec, configured.options, settings, offline=offline)
    if spec in hooked:
        return _wrapped(hooked[spec], spec)
    if spec in BUILT_IN_POLICIES:
        module, attribute = BUILT_IN_POLICIES[spec].split(":")
        policies: Mapping[str, Policy] = getattr(import_module(module), attribute)
        return policies[spec]
    if ":" in spec:
        return _build_by_spec(spec, spec, settings, offline=offline)
    from pytest_refusal.policy.likely_function import likely_function

    known = known_policies(settings, hooked)
    models = [f"{kind}:MODEL" for kind in _BY_MODEL]
    hint = likely_function(spec, _own_modules(settings)) or closest(spec, [*known, *models])
    raise SettingsError(
        [
            f"policy {spec!r} is not known{hint} (known: {', '.join([*known, *models])};"
            " or module:attribute for a Python function, recorded:PATH for recorded responses)"
        ]
    )


def _build_by_spec(
    spec: str, name: str, settings: Settings, *, offline: bool, threads: int | None = None
) -> Policy:
    kind, _, rest = spec.partition(":")
    if kind in _BY_MODEL and rest:
        from pytest_refusal.policy.tables import model_from_spec

        table = model_from_spec(spec)
        if table is not None:
            return _remote(table, settings, offline=offline)
    if kind == "recorded":
        from pytest_refusal.policy.recorded import RecordedPolicy

        return RecordedPolicy.read(settings.base / rest, name=name)
    from pytest_refusal.policy.loading import AbsentFunctionError

    try:
        function = _load(spec, settings)
    except AbsentFunctionError as error:
        meant = get_close_matches(kind, (*_BY_MODEL, "recorded"), n=1)
        if not meant or not rest:
            raise
        msg = f'{error}; did you mean "{meant[0]}:{rest}"?'
        raise AbsentFunctionError(msg) from error
    return _wrapped(function, name, threads)


def known_policies(settings: Settings, hooked: Mapping[str, object]) -> tuple[str, ...]:
    """Return every name that can be given without a file or a module, sorted."""
    configured = {name for name, own in settings.policy_settings.items() if own.options}
    return tuple(sorted({*BUILT_IN_POLICIES, *configured, *hooked}))


def why_no_policy(name: str, settings: Settings, known: Iterable[str]) -> str | None:
    """Say why a name that is set, and not in the run, names no policy; None if it may name one.

    A module that is there and cannot be imported may be meant for another machine.
    """
    kind, colon, rest = name.partition(":")
    if not colon:
        return f"there is no such policy{closest(name, known)} (give it a `type` to make one)"
    if rest and kind in (*_BY_MODEL, "recorded"):
        return None
    from pytest_refusal.policy.loading import AbsentFunctionError

    try:
        _load(name, settings)
    except AbsentFunctionError as error:
        return f"there is no such policy: {str(error).removeprefix(f'{name!r}: ')}"
    except RefusalError:
        return None
    return None


def build_classifier(
    settings: Settings,
    policy: str,
    *,
    hooked: Mapping[str, object] = _NONE,
    judges: Mapping[str, object] = _NONE,
    offline: bool = False,
) -> Classifier:
    """Build the classifier that judges the responses of one policy.

    hooked: classifiers by name from `pytest_refusal_classifiers`.  judges: policies by name
    from `pytest_refusal_policies`, which may judge as well as any other.  offline: no judge
    will be asked over a network.
    Raises SettingsError if it is not known or does not have the shape of one.
    """
    spec = settings.classifier
    if spec == "phrases":
        from pytest_refusal.classifier.phrases import PhraseClassifier

        return PhraseClassifier(extra_phrases=settings.phrases_of(policy))
    kind, colon, rest = spec.partition(":")
    if kind == "transformers" and rest:
        from pytest_refusal.classifier.sequence import load_sequence_classifier

        return load_sequence_classifier(rest)
    if kind in ("judge", "cascade"):
        return _judging_classifier(kind, rest, settings, policy, judges, offline=offline)
    if spec in hooked:
        return _made(hooked[spec], spec, settings.classifier_from)
    if colon:
        return _made(_load_classifier(spec, settings), spec, settings.classifier_from)
    known = (*BUILT_IN_CLASSIFIERS, *sorted(hooked))
    raise SettingsError(
        [
            f"{settings.classifier_from}: {spec!r} is not known{closest(spec, known)}"
            f" (known: {', '.join(known)}; or module:attribute for one of your own)"
        ]
    )


def judges_of(
    classifiers: Mapping[str, Classifier],
    begin: Callable[[AskingClassifier, Prompt, Response], Steps[object]],
) -> dict[str, Judge]:
    """Find who is asked about responses, by the names of the classifiers; most ask nobody.

    begin: how the judgement of a response to a prompt begins.
    """
    from pytest_refusal.classifier.cascade import CascadeClassifier
    from pytest_refusal.classifier.judge import JudgeClassifier, is_usable_reply
    from pytest_refusal.execution.judging import Judge

    return {
        name: Judge(
            name=classifier.judge,
            policy=classifier.policy,
            steps=partial(begin, classifier),
            is_usable=is_usable_reply,
            may_pass=classifier.may_pass,
        )
        for name, classifier in classifiers.items()
        if isinstance(classifier, JudgeClassifier | CascadeClassifier)
        and classifier.policy is not None
    }


def close_classifier(classifier: Classifier) -> None:
    """End what a classifier holds open, such as the connections of a judge."""
    close = getattr(classifier, "close", None)
    if callable(close):
        close()


def _judging_classifier(
    kind: str,
    judge: str,
    settings: Settings,
    policy: str,
    judges: Mapping[str, object],
    *,
    offline: bool,
) -> Classifier:
    from pytest_refusal.classifier.cascade import CascadeClassifier
    from pytest_refusal.classifier.judge import JudgeClassifier
    from pytest_refusal.classifier.phrases import PhraseClassifier
    from pytest_refusal.execution.asking import AskError, ask
    from pytest_refusal.execution.loop import BackgroundLoop

    if not judge:
        raise SettingsError(
            [f"{settings.classifier_from}: {kind!r} needs the policy that judges, as {kind}:POLICY"]
        )
    asked = _build_policy(judge, settings, judges, offline=offline)
    # For texts that are judged one by one; a run asks in steps, and on a loop of its own.
    loop = BackgroundLoop()
    atexit.register(loop.close)

    def ask_judge(prompt: Prompt) -> Response:
        try:
            return ask(asked, prompt, sample=1, loop=loop)
        except AskError as error:
            msg = f"judge {judge}: {error}"
            raise ClassifierError(msg) from error

    judging = JudgeClassifier(ask_judge, judge=judge, policy=asked, close=loop.close)
    if kind == "judge":
        return judging
    phrases = PhraseClassifier(extra_phrases=settings.phrases_of(policy))
    return CascadeClassifier(phrases, judging)


def _load_classifier(spec: str, settings: Settings) -> object:
    try:
        return _load(spec, settings)
    except RefusalError as error:
        raise SettingsError([f"{settings.classifier_from}: {error}"]) from error


def _made(given: object, spec: str, where: str) -> Classifier:
    try:
        made = given() if isinstance(given, type) else given
    except Exception as error:  # the class is somebody else's
        raise SettingsError([f"{where}: {spec!r} failed: {foreign.describe(error)}"]) from error
    if isinstance(made, Classifier):
        return made
    raise SettingsError(
        [
            f"{where}: {spec!r} is no classifier: it needs `name`, `version` and"
            " `classify(text, *, prompt=None) -> Verdict`"
        ]
    )


def _wrapped(thing: object, name: str, threads: int | None = None) -> Policy:
    """Make a policy of a callable, on threads if the configuration or the callable asks for it."""
    from pytest_refusal.policy.function import policy_from, threads_of

    policy = policy_from(thing, name=name)
    threads = threads or threads_of(thing, name=name)
    if threads == 0:
        return policy
    from pytest_refusal.execution.asking import is_async
    from pytest_refusal.execution.threads import ThreadedPolicy

    if is_async(policy):
        raise SettingsError([f"policy {name!r}: threads are for sync callables; it is async"])
    return ThreadedPolicy(policy, threads=threads)


def _load(spec: str, settings: Settings) -> object:
    from pytest_refusal.policy.loading import load_function

    return load_function(spec, search=_own_modules(settings))


def _own_modules(settings: Settings) -> tuple[Path, ...]:
    """Say where a user's own modules lie: beside the configuration, and where pytest was called."""
    return settings.base, Path.cwd()


def _configured_policy(
    name: str, options: Mapping[str, object], settings: Settings, *, offline: bool
) -> Policy:
    if options.get("type") in _REMOTE:
        return _configured_remote(name, options, settings, offline=offline)
    spec, threads = _local_spec(name, options)
    return _build_by_spec(spec, name, settings, offline=offline, threads=threads)


def faults_of_unused(settings: Settings) -> list[str]:
    """Check the tables of policies that are not in the run; nothing is imported or opened."""
    faults: list[str] = []
    judge = settings.classifier.partition(":")[2]
    for name, own in settings.policy_settings.items():
        if not own.options or name in (*settings.policies, judge):
            continue  # said where it is built
        try:
            if own.options.get("type") in _REMOTE:
                _remote_table(name, own.options)
            else:
                _local_spec(name, own.options)
        except SettingsError as error:
            faults += error.faults
    return faults


def _local_spec(name: str, options: Mapping[str, object]) -> tuple[str, int | None]:
    """Read what a policy that asks nobody is made from: its spec and its threads."""
    where = f"{TABLE}.policies.{name}"
    kind = options.get("type")
    kinds = (*_OPTION_OF, *_REMOTE)
    if not isinstance(kind, str) or kind not in kinds:
        known = ", ".join(f'"{kind}"' for kind in kinds)
        hint = closest(kind, kinds) if isinstance(kind, str) else ""
        raise SettingsError([f"{where}.type: must be one of {known}, not {kind!r}{hint}"])
    reader = TableReader(options, where)
    reader.text("type")
    value = reader.text(_OPTION_OF[kind], needed=True)
    threads = None
    if kind == "function":
        threads = reader.integer("threads", None, low=1, high=1000)
    reader.refuse_unknown()
    if reader.faults:
        raise SettingsError(reader.faults)
    return (f"recorded:{value}" if kind == "recorded" else str(value)), threads


def _configured_remote(
    name: str, options: Mapping[str, object], settings: Settings, *, offline: bool
) -> Policy:
    return _remote(_remote_table(name, options), settings, offline=offline)


def _remote_table(name: str, options: Mapping[str, object]) -> PolicyTable:
    from pytest_refusal.policy.tables import parse_policy_table

    table, faults = parse_policy_table(name, options, where=f"{TABLE}.policies.{name}")
    if table is None:
        raise SettingsError(faults)
    return table


def _remote(table: PolicyTable, settings: Settings, *, offline: bool) -> Policy:
    """Make a policy of one request a call, and put what asks again, at a pace, around it."""
    from pytest_refusal.execution.meter import Tariff
    from pytest_refusal.execution.retry import RetryingPolicy
    from pytest_refusal.policy.build import build_remote

    prices = table.prices
    tariff = None
    if prices is not None:
        tariff = Tariff(
            input_per_million=prices.input_per_million,
            output_per_million=prices.output_per_million,
        )
    transport = table.transport
    return RetryingPolicy(
        build_remote(table, base=settings.base, environ=os.environ, offline=offline),
        retries=transport.retries,
        concurrency=transport.concurrency,
        timeout_s=transport.timeout_s,
        asks_confidence=table.asks_confidence,
        asks_by_token=table.asks_by_token,
        tariff=tariff,
    )


#: The types of configured policies that are asked over a network.
_REMOTE = ("openai", "openai-responses", "anthropic", "gemini", "http", "litellm")

#: Those of them that need no table: the kind and a model say it all.
_BY_MODEL = tuple(kind for kind in _REMOTE if kind != "http")

#: The key that says what a configured policy of this type is made from.
_OPTION_OF = {"function": "target", "recorded": "path"}
