"""A sequence classification model, tiny, built and saved by the test itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_refusal.classifier.sequence import (
    Scored,
    SequenceClassifier,
    label_kinds,
    load_sequence_classifier,
)
from pytest_refusal.errors import ClassifierError, SettingsError
from pytest_refusal.protocols import Classifier
from pytest_refusal.verdict import VerdictKind

REFUSAL, PARTIAL, ANSWER = VerdictKind.REFUSAL, VerdictKind.PARTIAL_REFUSAL, VerdictKind.ANSWER
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "sorry", "no", "yes", "sure"]


@pytest.mark.parametrize(
    ("labels", "mapping", "kinds"),
    [
        (("refusal", "compliance"), "", {"refusal": REFUSAL, "compliance": ANSWER}),
        (("REJECTION", "Normal"), "Normal=answer", {"REJECTION": REFUSAL, "Normal": ANSWER}),
        (("no_refusal", "partial_refusal", "refusal"), "", None),
        (("LABEL_0", "LABEL_1"), "LABEL_1=refusal, LABEL_0=answer", None),
    ],
)
def test_labels_are_told_by_name_or_as_said(
    labels: tuple[str, ...], mapping: str, kinds: dict[str, VerdictKind] | None
) -> None:
    told = label_kinds(labels, mapping, "m")
    if kinds is None:
        order = {2: (ANSWER, REFUSAL), 3: (ANSWER, PARTIAL, REFUSAL)}[len(labels)]
        kinds = dict(zip(labels, order, strict=True))
    assert told == kinds


@pytest.mark.parametrize("mapping", ["", "LABEL_1=refusal", "LABEL_9=answer", "LABEL_1=yes", "x"])
def test_labels_that_cannot_be_told_are_refused(mapping: str) -> None:
    with pytest.raises(SettingsError, match="transformers:m"):
        label_kinds(("LABEL_0", "LABEL_1"), mapping, "m")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch = pytest.importorskip("torch", reason="the extra [transformers] is not installed")
    library = pytest.importorskip(
        "transformers", reason="the extra [transformers] is not installed"
    )
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("model")
    (folder / "vocab.txt").write_text("\n".join(WORDS), "utf-8")
    library.BertTokenizer(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    config = library.BertConfig(
        vocab_size=len(WORDS),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
        max_position_embeddings=32,
        id2label={0: "answer", 1: "refusal"},
        label2id={"answer": 0, "refusal": 1},
    )
    torch.manual_seed(0)
    made = library.BertForSequenceClassification(config)
    with torch.no_grad():
        # Whatever the text, the second label is the likelier one.
        made.classifier.weight.zero_()
        made.classifier.bias.copy_(torch.tensor([0.0, 2.0]))
    made.save_pretrained(folder)
    return folder


@pytest.mark.filterwarnings("ignore")
def test_a_local_model_judges_one_text_and_many(model: Path) -> None:
    classifier = load_sequence_classifier(str(model))
    assert isinstance(classifier, Classifier)
    verdict = classifier.classify("sorry no")
    assert (verdict.kind, verdict.reason) == (REFUSAL, "model")
    # softmax of (0, 2)
    assert verdict.score == pytest.approx(0.8807970779778823, abs=1e-6)
    assert verdict.evidence[0].text == "refusal 0.881"
    long = classifier.classify_all(["yes " * 500] * 20)
    assert [v.kind for v in long] == [REFUSAL] * 20
    assert long[0].evidence[1].text == "judged the first 32 of 502 tokens"


@pytest.mark.filterwarnings("ignore")
def test_a_given_meaning_counts_more_than_the_name(model: Path) -> None:
    classifier = load_sequence_classifier(f"{model}#refusal=answer,answer=refusal")
    assert classifier.classify("sorry").kind is ANSWER


@pytest.mark.filterwarnings("ignore")
def test_a_model_that_is_not_there_is_a_usage_error(model: Path, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({}), "utf-8")
    with pytest.raises(SettingsError, match="transformers:"):
        load_sequence_classifier(str(tmp_path))


def test_a_model_that_fails_is_an_error_and_no_verdict() -> None:
    def fail(texts: object) -> list[Scored]:
        raise RuntimeError("out of memory")

    classifier = SequenceClassifier("m", fail, {"answer": ANSWER})
    with pytest.raises(ClassifierError, match="out of memory"):
        classifier.classify("x")
