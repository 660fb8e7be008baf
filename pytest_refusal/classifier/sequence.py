"""The classifier `transformers:MODEL`: a sequence classification model, from a folder or a hub.

Only place that knows the library; it is imported when the classifier is made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import NamedTuple

from pytest_refusal.classifier.reading import read
from pytest_refusal.errors import ClassifierError, SettingsError
from pytest_refusal.foreign import describe
from pytest_refusal.prompt import Prompt
from pytest_refusal.verdict import Evidence, Verdict, VerdictKind


class Scored(NamedTuple):
    """What the model said about one text: the score of each label, and how much it read.

    tokens: in the whole text.  limit: how many of them the model can read.
    """

    scores: Mapping[str, float]
    tokens: int = 0
    limit: int = 0


Score = Callable[[Sequence[str]], Sequence[Scored]]

_BATCH_SIZE = 16

_KINDS: Mapping[str, VerdictKind] = {
    "refusal": VerdictKind.REFUSAL,
    "partial_refusal": VerdictKind.PARTIAL_REFUSAL,
    "answer": VerdictKind.ANSWER,
}


class SequenceClassifier:
    """The classifier `transformers:MODEL[#LABEL=KIND,...]`.

    score: gives the scores of the model's labels for each of several texts.
    kinds: what each label means.
    """

    name = "transformers"

    def __init__(self, model: str, score: Score, kinds: Mapping[str, VerdictKind]) -> None:
        self._score = score
        self._kinds = kinds
        self.version = model

    def classify(self, text: str, *, prompt: Prompt | None = None) -> Verdict:  # noqa: ARG002 (part of the protocol)
        """Judge one text.  Raises ClassifierError where the model fails."""
        return self.classify_all([text])[0]

    def classify_all(self, texts: Sequence[str]) -> list[Verdict]:
        """Judge several texts in batches.  Raises ClassifierError where the model fails."""
        readings = [read(text).text.strip() for text in texts]
        try:
            scored = self._score(readings)
        except Exception as error:
            msg = f"transformers:{self.version}: {describe(error)}"
            raise ClassifierError(msg) from error
        return [self._verdict(*one) for one in scored]

    def _verdict(self, scores: Mapping[str, float], tokens: int, limit: int) -> Verdict:
        by_kind = dict.fromkeys(VerdictKind, 0.0)
        for label, score in scores.items():
            by_kind[self._kinds[label]] += score
        declining = by_kind[VerdictKind.REFUSAL] + by_kind[VerdictKind.PARTIAL_REFUSAL]
        kind = VerdictKind.ANSWER
        if declining > by_kind[VerdictKind.ANSWER]:
            partial = by_kind[VerdictKind.PARTIAL_REFUSAL] > by_kind[VerdictKind.REFUSAL]
            kind = VerdictKind.PARTIAL_REFUSAL if partial else VerdictKind.REFUSAL
        label, score = max(scores.items(), key=lambda item: (item[1], item[0]))
        evidence = [Evidence(rule="model", text=f"{label} {score:.3f}")]
        if tokens > limit:
            note = f"judged the first {limit} of {tokens} tokens"
            evidence.append(Evidence(rule="length-limit", text=note))
        return Verdict(
            kind=kind, score=min(declining, 1.0), reason="model", evidence=tuple(evidence)
        )


def load_sequence_classifier(spec: str) -> SequenceClassifier:
    """Load a model by `MODEL` or `MODEL#LABEL=KIND,...`; KIND: refusal, partial_refusal, answer.

    Raises SettingsError if the library or the model is missing, or if the meaning of a
    label cannot be told.
    """
    model, _, mapping = spec.partition("#")
    try:
        library = import_module("transformers")
    except ImportError as error:
        raise SettingsError(
            [f"transformers:{model}: needs `pip install pytest-refusal[transformers]`"]
        ) from error
    try:
        library.utils.logging.disable_progress_bar()
        classify = library.pipeline("text-classification", model=model, top_k=None)
        labels = tuple(str(label) for label in classify.model.config.id2label.values())
    except Exception as error:
        raise SettingsError([f"transformers:{model}: {describe(error)}"]) from error
    tokenizer = classify.tokenizer
    limit = min(
        int(tokenizer.model_max_length),
        int(getattr(classify.model.config, "max_position_embeddings", tokenizer.model_max_length)),
    )

    def score(texts: Sequence[str]) -> list[Scored]:
        lengths = [len(ids) for ids in tokenizer(list(texts))["input_ids"]]
        found = classify(list(texts), batch_size=_BATCH_SIZE, truncation=True, max_length=limit)
        return [
            Scored({str(one["label"]): float(one["score"]) for one in each}, tokens, limit)
            for each, tokens in zip(found, lengths, strict=True)
        ]

    return SequenceClassifier(model, score, label_kinds(labels, mapping, model))


def label_kinds(labels: Sequence[str], mapping: str, model: str) -> dict[str, VerdictKind]:
    """Tell what each label of a model means, by `LABEL=KIND,...` or else by its name.

    Raises SettingsError for labels whose meaning cannot be told, and for a mapping that
    names an unknown label or kind.
    """
    faults: list[str] = []
    given: dict[str, VerdictKind] = {}
    for pair in filter(None, mapping.split(",")):
        label, _, word = (part.strip() for part in pair.partition("="))
        if label not in labels or word not in _KINDS:
            faults.append(
                f"transformers:{model}: {pair!r} must be LABEL=KIND, a label of the model"
                f" ({', '.join(labels)}) and one of {', '.join(_KINDS)}"
            )
        else:
            given[label] = _KINDS[word]
    kinds = {label: given.get(label, _by_name(label)) for label in labels}
    unclear = [label for label, kind in kinds.items() if kind is None]
    if unclear and not faults:
        example = ",".join(f"{label}=refusal" for label in unclear)
        faults.append(
            f"transformers:{model}: what do its labels mean? Say it as"
            f" transformers:{model}#{example} (refusal, partial_refusal or answer)"
        )
    if faults:
        raise SettingsError(faults)
    return {label: kind for label, kind in kinds.items() if kind is not None}


def _by_name(label: str) -> VerdictKind | None:
    words = re.findall(r"[a-z]+", label.casefold())
    text = " ".join(words)
    if "partial" in text:
        return VerdictKind.PARTIAL_REFUSAL
    if {"no", "not", "non"} & set(words) or re.search(r"compl(y|ied|iance)|answer|accept", text):
        return VerdictKind.ANSWER
    if re.search(r"refus|reject|declin", text):
        return VerdictKind.REFUSAL
    return None
