"""Prompts to test items: the nodes, their ids and their markers."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Any

import pytest
from _pytest.pathlib import absolutepath, bestrelpath

from pytest_refusal.corpus.sources import CorpusFile
from pytest_refusal.escape import one_line, visible
from pytest_refusal.outcome import Trial
from pytest_refusal.plugin.asking import SKIP_TAG
from pytest_refusal.plugin.item import IN_PART, PromptItem
from pytest_refusal.plugin.node_ids import file_node_id, item_name, slug, unique_slugs
from pytest_refusal.plugin.run import RUN, CorpusPart, Run
from pytest_refusal.prompt import Prompt


def plan_part(
    file: CorpusFile,
    prompts: Sequence[Prompt],
    *,
    policies: Sequence[str],
    samples: int,
    names: Sequence[str] | None,
) -> CorpusPart:
    """Give each trial of one corpus its node id: prompt by prompt, then by policy, then sample."""
    node_id = file_node_id(file.name)
    prompt_slugs = unique_slugs(prompt.id for prompt in prompts)
    policy_slugs = unique_slugs(policies)
    trials = {}
    for prompt in prompts:
        for policy in policies:
            for sample in range(1, samples + 1):
                name = item_name(
                    prompt_slugs[prompt.id], policy_slugs[policy], sample=sample, samples=samples
                )
                full = f"{node_id}::{name}"
                trials[full] = Trial(prompt=prompt, policy=policy, sample=sample, node_id=full)
    return CorpusPart(
        file=file,
        node_id=node_id,
        trials=trials,
        names=None if names is None else frozenset(names),
    )


class CorpusCollection:
    """Adds the corpora of the run to what the session collects."""

    def __init__(self, run: Run) -> None:
        self._run = run

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Put our corpora behind whatever the arguments brought.

        They are no arguments of the session, since pytest would then walk down to them
        through folders that it ignores, such as a virtual environment.
        """
        report = yield
        if isinstance(collector, pytest.Session) and report.passed:
            report.result = [*report.result, *self._corpora(collector)]
        return report

    @pytest.hookimpl
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note whether prompts were left out; a worker of xdist, too, collects all of them."""
        left = {item.nodeid for item in session.items if isinstance(item, PromptItem)}
        session.stash[IN_PART] = len(left) < len(self._run.trials)

    def _corpora(self, session: pytest.Session) -> Iterator[Corpus]:
        for part in self._run.parts if self._run.as_items else ():
            # `-k` looks into names: a folder called "corpus" is no word of a prompt.
            name = part.node_id.rpartition("/")[2]
            yield Corpus.from_parent(
                session, name=name, path=part.file.path, nodeid=part.node_id, part=part
            )


class Corpus(pytest.Collector):
    """One corpus file. No `pytest.File`: `--lf` would look for it below rootdir."""

    def __init__(self, *, part: CorpusPart, **kwargs: Any) -> None:  # pytest's own keywords
        super().__init__(**kwargs)
        self._part = part

    def collect(self) -> Iterator[PromptItem]:
        """Yield an item for each selected trial."""
        run = self.config.stash[RUN]
        marks = Marks(self.config)
        start = len(self.nodeid) + 2
        chosen = self._part.names
        hooks = self.ihook
        path = bestrelpath(self.config.rootpath, absolutepath(visible(str(self.path))))
        for node_id, trial in self._part.trials.items():
            name = node_id[start:]
            if chosen is not None and not chosen & {name, name.partition("[")[0]}:
                continue
            item = PromptItem.from_parent(
                self,
                name=name,
                nodeid=node_id,
                trial=trial,
                run=run,
                hooks=hooks,
                path_from_root=path,
            )
            marks.put_on(item, trial.prompt)
            yield item


class Marks:
    """Marks for `-m` and `-k`, made once for each word."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        lines: Iterable[str] = config.getini("markers")
        # A category called "skip" or "timeout" must not act as that mark.
        self._taken = {line.partition(":")[0].partition("(")[0].strip() for line in lines}
        self._made: dict[str, pytest.MarkDecorator | None] = {}
        self._refusal = pytest.mark.refusal

    def of(self, prompt: Prompt) -> list[pytest.MarkDecorator]:
        """Return the marks of a prompt."""
        words = (prompt.label.value, prompt.category)
        marks = [self._refusal, *(mark for word in words if (mark := self._mark(word)))]
        if SKIP_TAG in prompt.tags:
            marks.append(pytest.mark.skip(reason=one_line(prompt.note or "tagged skip")))
        return marks

    def put_on(self, item: PromptItem, prompt: Prompt) -> None:
        """Mark an item; what cannot be a mark is still found by `-k`."""
        for mark in self.of(prompt):
            item.add_marker(mark)
        for word in (prompt.label.value, prompt.category):
            if self._mark(word) is None:
                item.extra_keyword_matches.add(word)

    def _mark(self, word: str) -> pytest.MarkDecorator | None:
        if word not in self._made:
            name = slug(word).lstrip("_")
            free = bool(name) and name not in self._taken
            if free:
                self._config.addinivalue_line("markers", f"{name}: prompts that are {name}.")
            self._made[word] = getattr(pytest.mark, name) if free else None
        return self._made[word]
