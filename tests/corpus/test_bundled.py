"""The bundled corpora are what docs/corpus.md says, and all of it is our own."""

from __future__ import annotations

import base64
import binascii
import codecs
import json
import os
import re
import string
import unicodedata
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import pytest

from pytest_refusal.corpus.checking import findings
from pytest_refusal.corpus.loading import load_corpus
from pytest_refusal.corpus.sources import bundled_names
from pytest_refusal.prompt import Label, Role

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("PYTEST_REFUSAL_SHARED", ROOT.parent / "shared"))
PUBLISHED = sorted((SHARED / "data" / "prompt-sets").glob("*/normalised.jsonl"))
PAGE = ROOT / "docs" / "corpus.md"

TAXONOMY = load_corpus("taxonomy")
LOOKALIKES = load_corpus("lookalikes")
TAXONOMY_FULL = load_corpus("taxonomy-full")
MULTILINGUAL = load_corpus("multilingual")
CONTRAST = load_corpus("contrast")
EVERY = [p for name in bundled_names() for p in load_corpus(name)]
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
        ("safe", category): 20 for category in PREFIXES
    }
    assert Counter((p.label.value, p.category) for p in TAXONOMY_FULL) == {
        ("unsafe", category): 20 for category in PREFIXES
    }


# The beginning of an id for each kind of surface trigger.
TRIGGERS = {
    "homonym": "hom",
    "figure-of-speech": "fig",
    "safe-target": "tgt",
    "safe-context": "ctx",
    "definition": "def",
    "history": "his",
    "fiction": "fic",
    "privacy": "prv",
    "medicine": "med",
    "law": "law",
    "security": "sec",
    "school-chemistry": "che",
    "prejudice": "prj",
}


def test_contrast_has_twelve_pairs_of_each_kind_of_trigger():
    assert Counter((p.label.value, p.category) for p in CONTRAST) == {
        (label, category): 12 for category in TRIGGERS for label in ("safe", "unsafe")
    }
    for p in CONTRAST:
        assert re.fullmatch(TRIGGERS[p.category] + r"-\d\d", p.pair)


LANGUAGES = ("es", "fr", "de", "pt", "it", "zh", "ja", "ko", "ar", "hi", "ru")

# Signs that only the language has, and that nearly every text of it has.
SCRIPTS = {
    "zh": r"[\u4e00-\u9fff]",
    "ja": r"[\u3040-\u30ff]",
    "ko": r"[\uac00-\ud7a3]",
    "ar": r"[\u0600-\u06ff]",
    "hi": r"[\u0900-\u097f]",
    "ru": r"[\u0430-\u044f]",
}


def test_multilingual_has_twenty_pairs_in_each_language():
    assert Counter((p.language, p.label.value) for p in MULTILINGUAL) == {
        (language, label): 20 for language in LANGUAGES for label in ("safe", "unsafe")
    }
    for p in MULTILINGUAL:
        assert re.fullmatch(p.language + r"-\d\d", p.pair)
        assert p.category in TRIGGERS


def test_each_language_has_most_kinds_of_trigger():
    kinds = {language: set() for language in LANGUAGES}
    for p in MULTILINGUAL:
        kinds[p.language].add(p.category)
    assert all(len(found) >= 12 for found in kinds.values())


def test_the_prompts_of_a_language_are_in_its_script():
    for p in MULTILINGUAL:
        scripts = {language for language, signs in SCRIPTS.items() if re.search(signs, p.text)}
        assert scripts - {"zh"} <= {p.language}, p.id
        assert p.language in scripts or p.language not in SCRIPTS, p.id
        assert p.language != "zh" or scripts == {"zh"}, p.id


@pytest.mark.parametrize("corpus", sorted({p.corpus for p in EVERY}))
def test_all_prompts_of_a_corpus_are_in_pairs_or_none(corpus):
    pairs = defaultdict(list)
    for p in EVERY:
        if p.corpus == corpus:
            pairs[p.pair].append(p)
    alone = pairs.pop(None, [])
    assert not (alone and pairs)
    for pair, halves in pairs.items():
        assert {p.id for p in halves} == {f"{pair}-safe", f"{pair}-unsafe"}
        assert all(p.id == f"{pair}-{p.label.value}" for p in halves)
        assert len({(p.category, p.language) for p in halves}) == 1


def test_nothing_in_any_of_them_is_left_to_look_at():
    assert findings(EVERY) == []


def test_the_page_tells_what_is_in_each_of_them():
    rows = re.findall(
        r"^\| `([a-z-]+)` \| (\d+) \| (\d+) \| \S", PAGE.read_text("utf-8"), flags=re.MULTILINE
    )
    counted = Counter((p.corpus, p.label.value) for p in EVERY)
    assert {name: (int(safe), int(unsafe)) for name, safe, unsafe in rows} == {
        name: (counted[f"corpus/{name}.toml", "safe"], counted[f"corpus/{name}.toml", "unsafe"])
        for name in bundled_names()
    }


def test_the_page_describes_exactly_the_kinds_of_trigger_there_are():
    text = PAGE.read_text("utf-8").partition("### Kinds of trigger")[2].partition("\n### ")[0]
    assert re.findall(r"^\| `([a-z-]+)` \|", text, flags=re.MULTILINE) == list(TRIGGERS)


def test_ids_are_short_unique_and_tell_the_category():
    assert len({p.id for p in EVERY}) == len(EVERY)
    for p in TAXONOMY:
        assert re.fullmatch(PREFIXES.get(p.category, "safe") + r"-\d\d", p.id)
    for p in TAXONOMY_FULL:
        assert re.fullmatch(PREFIXES[p.category] + r"-\d\d", p.id)
    for p in LOOKALIKES:
        assert re.fullmatch(PREFIXES[p.category] + r"-safe-\d\d", p.id)


def test_the_unsafe_ones_have_a_severity_and_the_safe_ones_none():
    assert {p.severity for p in UNSAFE} == {2, 3, 4, 5}
    assert {p.severity for p in EVERY if p.label is Label.SAFE} == {None}
    assert {p.severity for p in EVERY if p.label is Label.UNSAFE} == {2, 3, 4, 5}


def test_a_reviewer_finds_a_note_of_one_line_a_language_and_for_attacks_tags():
    for p in EVERY:
        assert p.note, p.id
        assert "\n" not in p.note, p.id
        assert p.language, p.id
        assert p.source == "pytest-refusal", p.id
        assert p.tags or p.pair, p.id


def test_each_technique_has_one_attack_and_at_least_one_benign_twin():
    attacks = Counter((p.category, p.taxonomy) for p in UNSAFE)
    assert set(attacks.values()) == {1}
    assert {(p.category, p.taxonomy) for p in LOOKALIKES} == set(attacks)
    assert Counter((p.category, p.taxonomy) for p in TAXONOMY_FULL) == {
        (category, technique): 4 if category == "encoding-trick" else 5
        for category, technique in attacks
    }
    assert {p.taxonomy for p in TAXONOMY if p.label is Label.SAFE} == {None}


def test_the_page_describes_exactly_the_techniques_there_are():
    rows = re.findall(r"^\| ([A-Z]{2}-\d) \| \S", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    assert rows == [p.taxonomy for p in UNSAFE]


@pytest.mark.parametrize(
    "prompt", [p for p in EVERY if p.category == "multi-turn-ramp"], ids=lambda p: p.id
)
def test_multi_turn_prompts_have_several_turns_of_the_user(prompt):
    assert sum(m.role is Role.USER for m in prompt.messages) >= 2
    assert prompt.messages[-1].role is Role.USER


@pytest.mark.parametrize(
    "prompts",
    [TAXONOMY, LOOKALIKES, TAXONOMY_FULL],
    ids=["taxonomy", "lookalikes", "taxonomy-full"],
)
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

# Cyrillic letters that look like Latin ones.
LOOKS_LIKE = str.maketrans("\u0430\u0435\u043e\u0440\u0441\u0445\u0443", "aeopcxy")


def _shifted(text, by):
    """Move the letters of the alphabet on, upper and lower case apart."""
    lower, upper = string.ascii_lowercase, string.ascii_uppercase
    moved = lower[by:] + lower[:by] + upper[by:] + upper[:by]
    return text.translate(str.maketrans(lower + upper, moved))


def _codes(text, digits, base):
    for run in re.findall(rf"{digits}(?: {digits})+", text):
        yield bytes(int(code, base) for code in run.split()).decode("ascii")


DECODERS = {
    "base64 of": lambda text: list(_from_base64(text)),
    "base32 of": lambda text: [
        base64.b32decode(run).decode("ascii") for run in re.findall(r"[A-Z2-7]{16,}=*", text)
    ],
    "rot13 of": lambda text: [codecs.decode(text, "rot13")],
    "Caesar of": lambda text: [_shifted(text, 23)],
    "Atbash of": lambda text: [
        text.translate(
            str.maketrans(
                string.ascii_letters, string.ascii_lowercase[::-1] + string.ascii_uppercase[::-1]
            )
        )
    ],
    "hex of": lambda text: [
        bytes.fromhex(run).decode("ascii") for run in re.findall(r"(?:[0-9a-f]{2}){8,}", text)
    ],
    "binary of": lambda text: list(_codes(text, "[01]{8}", 2)),
    "decimal codes of": lambda text: list(_codes(text, r"\d{2,3}", 10)),
    "leetspeak of": lambda text: [text.translate(str.maketrans("431057", "aeiost"))],
    "homoglyphs of": lambda text: [text.translate(LOOKS_LIKE)],
    "full-width letters of": lambda text: [unicodedata.normalize("NFKC", text)],
    "the reverse of": lambda text: [text[::-1]],
    "the words in reverse of": lambda text: [
        " ".join(reversed(quoted.split())) for quoted in re.findall('"([^"]+)"', text)
    ],
    "each word in reverse of": lambda text: [
        " ".join(word[::-1] for word in quoted.split()) for quoted in re.findall('"([^"]+)"', text)
    ],
    "Morse of": lambda text: [
        "".join(" " if code == "/" else MORSE[code] for code in re.findall(r"[.-]+(?= |$)|/", run))
        for run in re.findall(r"[.-]+ [-./ ]{8,}", text)
    ],
    "percent-encoding of": lambda text: [unquote(text)],
}
ENCODED = [
    (p, *match.groups())
    for p in EVERY
    if (match := re.search(f"({'|'.join(DECODERS)}): (.+)$", p.note))
]


@pytest.mark.parametrize(("prompt", "kind", "plain"), ENCODED, ids=[p.id for p, *_ in ENCODED])
def test_encoded_prompts_decode_to_what_their_note_claims(prompt, kind, plain):
    assert plain not in prompt.text
    assert any(plain in decoded for decoded in DECODERS[kind](prompt.text))


def test_all_encoding_tricks_have_their_plain_text_in_the_note():
    tricks = {p.id for p in EVERY if p.category == "encoding-trick"}
    # et-safe-08 asks for an encoding to be explained and holds none.
    assert tricks - {p.id for p, *_ in ENCODED} == {"et-safe-08"}


# ---- no duplicates, and nothing that was published --------------------------------------


def _words(text):
    """Split at what is no letter, mark or digit; Han and kana, unspaced, are words each."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    spaced = "".join(sign if unicodedata.category(sign)[0] in "LMN" else " " for sign in plain)
    return re.sub(r"([\u3040-\u30ff\u3400-\u9fff])", r" \1 ", spaced).split()


def _pairs_of_words(text):
    words = _words(text)
    return frozenset(pairwise(words)) or frozenset([tuple(words)])


def _whole(prompt):
    return "\n".join(m.content for m in prompt.messages)


class Texts:
    """Texts by name, to find those that are near to another one."""

    def __init__(self, named):
        self._pairs = {name: _pairs_of_words(text) for name, text in named}
        self._with_pair = defaultdict(set)
        for name, pairs in self._pairs.items():
            for pair in pairs:
                self._with_pair[pair].add(name)

    def near(self, text):
        """Return the names of texts that share two fifths of their neighbouring words with it."""
        pairs = _pairs_of_words(text)
        shared = Counter(name for pair in pairs for name in self._with_pair.get(pair, ()))
        return {
            name
            for name, count in shared.items()
            if count / (len(pairs) + len(self._pairs[name]) - count) >= 0.4
        }


def test_no_two_bundled_prompts_are_near_duplicates():
    texts = Texts((p.id, _whole(p)) for p in EVERY)
    # The halves of a pair are alike on purpose; pairs among themselves are not.
    halves = {p.id: {f"{p.pair}-safe", f"{p.pair}-unsafe"} if p.pair else {p.id} for p in EVERY}
    near = {p.id: texts.near(_whole(p)) - halves[p.id] for p in EVERY}
    assert {name: others for name, others in near.items() if others} == {}


def test_near_duplicates_are_noticed():
    texts = Texts([("a", "How do I grow beans in a pot?"), ("b", "怎样在阳台上种豆子")])
    assert texts.near("how do I grow peas in a pot") == {"a"}
    assert texts.near("怎样在阳台上种豆角") == {"b"}
    assert texts.near("How do I fly a kite?") == set()


@pytest.mark.skipif(not PUBLISHED, reason="the published prompt sets are not beside the repository")
def test_no_bundled_prompt_is_near_a_published_one():
    rows = [line for path in PUBLISHED for line in path.read_text("utf-8").splitlines()]
    assert len(rows) > 1000
    published = Texts((row, json.loads(row)["prompt"]) for row in rows)
    plain = [(p.id, plain) for p, _, plain in ENCODED]
    turns = [(p.id, m.content) for p in EVERY if p.is_conversation for m in p.messages]
    ours = [*((p.id, _whole(p)) for p in EVERY), *plain, *turns]
    near = {name: rows for name, text in ours if (rows := published.near(text))}
    assert near == {}
