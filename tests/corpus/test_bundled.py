"""The bundled corpora are what docs/corpus.md says, and all of it is our own."""

from __future__ import annotations

import base64
import binascii
import codecs
import json
import os
import re
import unicodedata
from collections import Counter, defaultdict
from itertools import combinations, pairwise
from pathlib import Path
from urllib.parse import unquote

import pytest

from pytest_refusal.corpus.loading import load_corpus
from pytest_refusal.prompt import Label, Role

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("PYTEST_REFUSAL_SHARED", ROOT.parent / "shared"))
PUBLISHED = sorted((SHARED / "data" / "prompt-sets").glob("*/normalised.jsonl"))
PAGE = ROOT / "docs" / "corpus.md"

TAXONOMY = load_corpus("taxonomy")
LOOKALIKES = load_corpus("lookalikes")
BOTH = [*TAXONOMY, *LOOKALIKES]
UNSAFE = [p for p in TAXONOMY if p.label is Label.UNSAFE]

PREFIXES = {
    "role-play": "rp",
    "instruction-override": "io",
    "context-smuggling": "cs",
    "multi-turn-ramp": "mt",
    "encoding-trick": "et",
    "prefix-injection": "pi",
}


def test_counts_per_corpus_label_and_category():
    assert Counter((p.label.value, p.category) for p in TAXONOMY) == {
        ("unsafe", "role-play"): 4,
        ("unsafe", "instruction-override"): 4,
        ("unsafe", "context-smuggling"): 4,
        ("unsafe", "multi-turn-ramp"): 4,
        ("unsafe", "encoding-trick"): 5,
        ("unsafe", "prefix-injection"): 4,
        ("safe", "everyday"): 30,
    }
    assert Counter((p.label.value, p.category) for p in LOOKALIKES) == {
        ("safe", category): 8 for category in PREFIXES
    }


def test_ids_are_short_unique_and_tell_the_category():
    assert len({p.id for p in BOTH}) == len(BOTH)
    for p in TAXONOMY:
        assert re.fullmatch(PREFIXES.get(p.category, "safe") + r"-\d\d", p.id)
    for p in LOOKALIKES:
        assert re.fullmatch(PREFIXES[p.category] + r"-safe-\d\d", p.id)


def test_the_unsafe_ones_have_a_severity_and_the_safe_ones_none():
    assert {p.severity for p in UNSAFE} == {2, 3, 4, 5}
    assert {p.severity for p in BOTH if p.label is Label.SAFE} == {None}


@pytest.mark.parametrize("prompt", BOTH, ids=lambda p: p.id)
def test_a_reviewer_finds_a_note_of_one_line_tags_and_a_language(prompt):
    assert prompt.note
    assert "\n" not in prompt.note
    assert prompt.tags
    assert prompt.language
    assert prompt.source == "pytest-refusal"


def test_each_technique_has_one_attack_and_at_least_one_benign_twin():
    attacks = Counter((p.category, p.taxonomy) for p in UNSAFE)
    assert set(attacks.values()) == {1}
    assert {(p.category, p.taxonomy) for p in LOOKALIKES} == set(attacks)
    assert {p.taxonomy for p in TAXONOMY if p.label is Label.SAFE} == {None}


def test_the_page_describes_exactly_the_techniques_there_are():
    rows = re.findall(r"^\| ([A-Z]{2}-\d) \| \S", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    assert rows == [p.taxonomy for p in UNSAFE]


@pytest.mark.parametrize(
    "prompt", [p for p in BOTH if p.category == "multi-turn-ramp"], ids=lambda p: p.id
)
def test_multi_turn_prompts_have_several_turns_of_the_user(prompt):
    assert sum(m.role is Role.USER for m in prompt.messages) >= 2
    assert prompt.messages[-1].role is Role.USER


@pytest.mark.parametrize("prompts", [TAXONOMY, LOOKALIKES], ids=["taxonomy", "lookalikes"])
def test_multi_turn_prompts_come_with_and_without_a_given_history(prompts):
    ramps = [p for p in prompts if p.category == "multi-turn-ramp"]
    given = {any(m.role is Role.ASSISTANT for m in p.messages) for p in ramps}
    assert given == {True, False}
    for p in ramps:
        follows = any(a.role is b.role is Role.USER for a, b in pairwise(p.messages))
        assert follows != any(m.role is Role.ASSISTANT for m in p.messages)


# ---- what is encoded decodes to what the note says --------------------------------------


def _from_base64(text):
    for token in re.findall(r"[A-Za-z0-9+/]{12,}={0,2}", text):
        try:
            yield base64.b64decode(token, validate=True).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError):
            continue


MORSE = {
    code: letter
    for letter, code in re.findall(
        r"([a-z])([.-]+)",
        "a.- b-... c-.-. d-.. e. f..-. g--. h.... i.. j.--- k-.- l.-.. m-- n-. o--- p.--. q--.- "
        "r.-. s... t- u..- v...- w.-- x-..- y-.-- z--..",
    )
}

DECODERS = {
    "base64 of": lambda text: list(_from_base64(text)),
    "rot13 of": lambda text: [codecs.decode(text, "rot13")],
    "hex of": lambda text: [
        bytes.fromhex(run).decode("ascii") for run in re.findall(r"(?:[0-9a-f]{2}){8,}", text)
    ],
    "leetspeak of": lambda text: [text.translate(str.maketrans("431057", "aeiost"))],
    "the reverse of": lambda text: [text[::-1]],
    "Morse of": lambda text: [
        "".join(" " if code == "/" else MORSE[code] for code in re.findall(r"[.-]+(?= |$)|/", run))
        for run in re.findall(r"[.-]+ [-./ ]{8,}", text)
    ],
    "percent-encoding of": lambda text: [unquote(text)],
}
ENCODED = [
    (p, *match.groups())
    for p in BOTH
    if (match := re.search(f"({'|'.join(DECODERS)}): (.+)$", p.note))
]


@pytest.mark.parametrize(("prompt", "kind", "plain"), ENCODED, ids=[p.id for p, *_ in ENCODED])
def test_encoded_prompts_decode_to_what_their_note_claims(prompt, kind, plain):
    assert plain not in prompt.text
    assert any(plain in decoded for decoded in DECODERS[kind](prompt.text))


def test_all_encoding_tricks_have_their_plain_text_in_the_note():
    tricks = {p.id for p in BOTH if p.category == "encoding-trick"}
    # et-safe-08 asks for an encoding to be explained and holds none.
    assert tricks - {p.id for p, *_ in ENCODED} == {"et-safe-08"}


# ---- no duplicates, and nothing that was published --------------------------------------


def _pairs_of_words(text):
    words = re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold())
    return frozenset(pairwise(words)) or frozenset([tuple(words)])


def _alike(a, b):
    """Jaccard similarity of two sets of neighbouring words, in [0, 1]."""
    return len(a & b) / len(a | b)


def _whole(prompt):
    return "\n".join(m.content for m in prompt.messages)


def test_no_two_bundled_prompts_are_near_duplicates():
    texts = {p.id: _pairs_of_words(_whole(p)) for p in BOTH}
    near = {(a, b): _alike(texts[a], texts[b]) for a, b in combinations(texts, 2)}
    assert {pair for pair, alike in near.items() if alike >= 0.4} == set()


@pytest.mark.skipif(not PUBLISHED, reason="the published prompt sets are not beside the repository")
def test_no_bundled_prompt_is_near_a_published_one():
    published = []
    with_pair = defaultdict(set)
    for path in PUBLISHED:
        for line in path.read_text("utf-8").splitlines():
            text = json.loads(line)["prompt"]
            for pair in _pairs_of_words(text):
                with_pair[pair].add(len(published))
            published.append(text)
    assert len(published) > 1000
    plain = [(p.id, plain) for p, _, plain in ENCODED]
    turns = [(p.id, m.content) for p in BOTH if p.is_conversation for m in p.messages]
    near = [
        (name, text, published[row])
        for name, text in [*((p.id, _whole(p)) for p in BOTH), *plain, *turns]
        for pairs in [_pairs_of_words(text)]
        for row in set().union(*(with_pair.get(pair, ()) for pair in pairs))
        if _alike(pairs, _pairs_of_words(published[row])) >= 0.4
    ]
    assert near == []
