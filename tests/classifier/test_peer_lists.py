"""The lists of others judge as their projects do, and the page shows what the command prints."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pytest_refusal.prompt import Label, Message, Prompt, Role
from pytest_refusal.protocols import Classifier
from pytest_refusal.verdict import is_well_formed

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "tests" / "benchmarks"
SHARED = Path(os.environ.get("PYTEST_REFUSAL_SHARED", ROOT.parent / "shared"))
LABELS = SHARED / "data" / "refusal-labels"
SORRY = "I'm sorry, but I cannot provide that."
NAMES = (
    "first_list",
    "gcg_prefixes",
    "adaptive_prefixes",
    "garak_mitigation",
    "garak_prefixes",
    "promptfoo_is_refusal",
)


@pytest.fixture(scope="module")
def modules():
    # On the path no longer than it takes: coverage.py beside them has the name of a package.
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        return [importlib.import_module(name) for name in ("peer_lists", "agreement_tables")]


@pytest.fixture(scope="module")
def lists(modules):
    return modules[0]


@pytest.fixture(params=NAMES)
def peer(lists, request):
    return getattr(lists, request.param)


def declines(peer, text: str) -> bool:
    return peer.classify(text).declines


def test_every_list_is_a_classifier(lists, peer):
    assert isinstance(peer, Classifier)
    assert peer.name
    assert peer.version
    assert peer in lists.LISTS
    assert len(lists.LISTS) == len(NAMES)


def test_every_list_knows_the_commonest_refusal(peer):
    assert declines(peer, SORRY)
    assert not declines(peer, "Sure: press both keys for three seconds.")
    assert not declines(peer, "")


@pytest.mark.parametrize("before", ["", " \n", "\u0130stanbul. ", "\U0001f600 Well. "])
def test_evidence_is_the_phrase_and_where_it_stands(peer, before):
    text = f"{before}I cannot provide this, and I cannot assist with that."
    verdict = peer.classify(text)
    (found,) = verdict.evidence
    assert is_well_formed(verdict)
    assert found.offset == len(before)
    assert text[found.offset :].startswith(found.text)
    assert found.text.startswith("I cannot")
    assert found.rule in ("cannot-help", found.text, found.text.lower())


def test_apostrophes_count_as_the_project_counts_them(lists):
    curly, straight = "Well, I can\u2019t assist.", "Well, I can't assist."
    for name in NAMES:
        peer = getattr(lists, name)
        reads_both = name in ("promptfoo_is_refusal", "first_list")
        assert declines(peer, curly) == reads_both, name
        assert declines(peer, straight) == (name != "gcg_prefixes"), name


def test_capitals_count_as_the_project_counts_them(lists):
    counted = {name: declines(getattr(lists, name), "BUT I CANNOT PROVIDE THAT") for name in NAMES}
    capitals_matter = ("gcg_prefixes", "adaptive_prefixes")
    assert counted == {name: name not in capitals_matter for name in NAMES}


def test_promptfoo_takes_whole_words_and_garak_any(lists):
    assert not declines(lists.promptfoo_is_refusal, "Speaking as an airbnb host.")
    assert declines(lists.promptfoo_is_refusal, "As an airbnb host, and as an AI: hm.")
    assert not declines(lists.promptfoo_is_refusal, "It has an alias an ai_1 knows.")
    assert declines(lists.garak_prefixes, "Speaking as an airbnb host.")


def test_openings_count_at_the_beginning_only(lists):
    assert declines(lists.promptfoo_is_refusal, "\n Sorry about the wait. Here it is.")
    assert not declines(lists.promptfoo_is_refusal, "Here it is. Sorry about the wait.")
    assert declines(lists.garak_prefixes, "Here it is. Sorry about the wait.")


def test_first_list_leaves_out_what_the_prompt_says(lists):
    asked = Message(role=Role.USER, content="Translate: I cannot help you")
    prompt = Prompt(id="x", messages=(asked,), label=Label.SAFE)
    said = "It means: I cannot help you"
    assert not lists.first_list.classify(said, prompt=prompt).declines
    assert lists.first_list.classify(said).declines


def test_no_phrase_of_a_list_holds_another(lists):
    for peer in (lists.gcg_prefixes, lists.garak_mitigation, lists.garak_prefixes):
        for phrase in peer.anywhere:
            assert [one for one in peer.anywhere if one in phrase] == [phrase]


# Of 13, 29, 156 and 27 published ones, those that hold no other.
def test_number_of_phrases(lists):
    counted = [len(set(peer.anywhere)) for peer in lists.LISTS[1:5]]
    assert counted == [11, 23, 126, 17]
    assert all(len(set(peer.anywhere)) == len(peer.anywhere) for peer in lists.LISTS[1:])


@pytest.mark.parametrize(
    "piece", ["i cannot ", "cannot helpx ", "i'm so sorry ", "against my a ", " ", "a", "\u0130"]
)
def test_time_grows_with_the_length_and_no_faster(peer, piece):
    def least(size: int) -> float:
        text, best = (piece * size)[:size], 1e9
        for _ in range(3):
            start = time.process_time()
            peer.classify(text)
            best = min(best, time.process_time() - start)
        return best

    assert least(320_000) < 24 * max(least(40_000), 1e-3)  # linear is 8, quadratic 64


def test_agreement_takes_a_list_as_the_classifier(tmp_path):
    labels = write_labels(tmp_path / "mine.jsonl")
    chosen = ("--classifier", "peer_lists:garak_prefixes")
    printed = run("-m", "pytest_refusal.agreement", labels, *chosen)
    assert printed.startswith("classifier garak Prefixes 0.17.1\n")
    assert re.search(r"^mine +en +4 +0\.750 \[", printed, re.MULTILINE)


def test_tables_of_a_small_file(tmp_path):
    labels = write_labels(tmp_path / "mine.jsonl")
    script = tmp_path / "openings.py"
    script.write_text("def f(x):\n    return x.startswith(('no way', 'i cannot'))\n", "utf-8")
    printed = run(BENCHMARKS / "agreement_tables.py", labels, "--xstest-script", script)
    assert printed == (
        "| source | of which | language | n | accuracy | three-way |\n"
        "| --- | --- | --- | --- | --- | --- |\n"
        "| mine | all | en | 4 | 0.750 | 0.750 |\n"
        "| mine | one | en | 3 | 1.000 | 1.000 |\n"
        "| mine | two | en | 1 | 0.000 | 0.000 |\n"
        "| mine | on topic | en | 3 | 1.000 | 1.000 |\n"
        "| mine | all | de | 1 | 1.000 | 1.000 |\n"
        "\n"
        "| source | n | this classifier | our first list | GCG prefixes | adaptive-attacks prefixes"
        " | garak MitigationBypass | garak Prefixes | promptfoo is-refusal | XSTest's string match"
        " | XSTest's string match as recorded |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
        "| mine | 4 | 0.750 | 0.750 | 0.750 | 0.750 | 0.750 | 0.750 | 0.750 | 0.250 | 0.500 |\n"
        "| mine, on topic | 3 | 1.000 | 1.000 | 1.000 | 1.000 | 1.000 | 1.000 | 1.000 | 0.333"
        " | 0.500 |\n"
        "\n"
        "Sources: 1. English rows on topic: the mean of the accuracies is 1.000, the least 1.000.\n"
        "The two annotators of mine agree on 0.500, three-way 0.500.\n"
        "XSTest's string match says what is recorded on 2 of 2.\n"
    )


def test_what_cannot_be_read_is_said(tmp_path):
    labels = write_labels(tmp_path / "mine.jsonl")
    script = tmp_path / "none.py"
    script.write_text("print('no list here')\n", "utf-8")
    tables = BENCHMARKS / "agreement_tables.py"
    assert "no tuple of openings" in run(tables, labels, "--xstest-script", script, code=2)
    assert "there is no such folder" in run(tables, labels, "--cases", tmp_path / "x", code=2)
    assert "absent.jsonl" in run(tables, tmp_path / "absent.jsonl", code=2)
    assert "'label_origin'" in run(tables, labels, "--cases", ROOT / "tests", code=2)


def write_labels(path: Path) -> Path:
    english = {"source": "mine", "lang": "en", "model": "one"}
    recorded = {**english, "strmatch_label_raw": "1_full_compliance", "annotation_1": "answer"}
    rows = [
        {**recorded, "response": SORRY, "label": "refusal", "annotation_2": "partial"},
        {**recorded, "response": "Press both keys.", "label": "answer", "annotation_2": "answer"},
        {**english, "response": f"{SORRY} I can't help with that request.", "label": "refusal"},
        {
            **english,
            "response": "Bread is made of flour.",
            "label": "refusal",
            "model": "two",
            "note": "non-sequitur: bread",
        },
        {**english, "response": "Nimm zwei Eier.", "label": "answer", "lang": "de"},
    ]
    lines = map(json.dumps, rows)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def run(*command: str | Path, code: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        env={**os.environ, "PYTHONPATH": str(BENCHMARKS)},
        cwd=BENCHMARKS,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


# By the title in docs/classifier.md: the file, and the row of it that the command prints.
PRINTED = {
    "XSTest, GPT-4 (en)": ("xstest", "gpt4"),
    "XSTest, Llama 2 (en)": ("xstest", "llama2orig"),
    "XSTest replication, GPT-4o mini (en)": ("xstest-replication", "gpt4o-mini"),
    "XSTest replication, Llama 3 (en)": ("xstest-replication", "llama3.0"),
    "Do-Not-Answer (en)": ("do-not-answer", "all"),
    "Latent Jailbreak (en)": ("latent-jailbreak/P1_prefix", "all"),
    "Latent Jailbreak (zh)": ("latent-jailbreak/P1_prefix", "all"),
    "Political compass opinions (en)": ("llm-values-pct", "all"),
    "lm-refusal-eval (en)": ("lm-refusal-eval", "all"),
    "PyRIT scorer set (en)": ("pyrit/refusal.csv", "all"),
    "chatgpt-refusals (en)": ("chatgpt-refusals/quora_insincere_hand_labeled", "all"),
    "K-OverRefusal, GPT-5.5 (ko)": ("k-overrefusal/xstest-ko", "gpt-5.5"),
    "K-OverRefusal, EXAONE 4.0 (ko)": ("k-overrefusal/xstest-ko", "EXAONE-4.0-32B"),
}


@pytest.fixture(scope="module")
def page() -> str:
    return (ROOT / "docs" / "classifier.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def tables(modules, page):
    if not LABELS.is_dir():
        pytest.skip(f"the labelled responses are not at {LABELS}")  # they are not ours to ship
    lists, module = modules
    files = re.findall(r"LABELS/([\w.-]+\.jsonl)", page.partition("agreement_tables.py")[2])
    judged = module.judge([LABELS / name for name in dict.fromkeys(files)], lists.LISTS)
    return {
        "people": list(module.agreement_table(judged, None)),
        "peers": list(module.peers_table(judged, lists.LISTS, None)),
    }


def rows_of(page: str, heading: str) -> list[list[str]]:
    section = page.partition(f"{heading}\n")[2]
    table = re.search(r"(?:^\|.*\n)+", section, re.MULTILINE)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[0].splitlines()]


def test_page_shows_what_people_agree_to(tables, page):
    printed = {tuple(row[:3]): row[3:] for row in tables["people"]}
    for title, n, accuracy, _, three_way, *_ in rows_of(page, "## Agreement with people")[2:]:
        key = (*PRINTED[title], title[-3:-1])
        assert printed[key] == [n, accuracy, three_way or printed[key][2]], title


def test_page_shows_what_the_lists_reach(tables, page):
    header, *printed = tables["peers"]
    shown = rows_of(page, "### Beside other rules")
    names, rows = shown[0], shown[2:]
    # Held-out figures take half a minute, and XSTest's list is not here.
    here = [name for name in names if name in header]
    assert here == [name for name in header if not name.endswith("as recorded")]
    assert len(rows) == 9
    recorded = dict(zip(header, printed[0], strict=True))["XSTest's string match as recorded"]
    assert dict(zip(names, rows[0], strict=True))["XSTest's string match"] == recorded
    for row in rows:
        cells = dict(zip(names, row, strict=True))
        (own,) = [line for line in printed if line[0] == cells["source"]]
        assert [cells[name] for name in here] == [
            cell for name, cell in zip(header, own, strict=True) if name in here
        ]
