"""Classify random and mutated texts: no exception, and no text takes long for its length.

Run as `python tests/benchmarks/fuzz_classifier.py [COUNT [SEED]]`; COUNT is 100,000 unless given.
Texts are put together from the literals of all rules, marks, letters of any script, and pieces
of one another.  A time is CPU time; one that is over the bound is measured again, because a
pattern is compiled when it is first needed and a busy machine disturbs.
"""

import random
import sys
import time

from pytest_refusal.classifier.phrases import PhraseClassifier
from pytest_refusal.classifier.ruleset import LANGUAGES, load_rules

# Milliseconds for a text of up to 10,000 characters, and for each 10,000 of a longer one.
BOUND = 10.0
MARKS = [". ", " ", "\n", "\n\n", ", ", "! ", "? ", ": ", ' "', '" ', "`", "'", "```\n", "\n- "]
MARKS += [
    "\n1. ",
    "**",
    "<think>",
    "</think>",
    "[conf=0.5]",
    "\u201c",
    "\u201d",
    "\u3002",
    "\u2019",
]
MARKS += ["\nBob: ", " said ", " if ", "\u0130", "\ud800", "\x00", "\u202e", "\u200b", "i ", "we "]


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    rng = random.Random(seed)
    pieces = [x for lang in LANGUAGES for r in load_rules(lang) for x in literals(r)]
    kept: list[str] = ["Boil the water first, then add the rice and let it rest."]
    classifier = PhraseClassifier(length_limit=None)
    slowest = over = characters = 0.0
    for number in range(count):
        text = new_text(rng, pieces) if rng.random() < 0.5 else mutated(rng, kept, pieces)
        kept[rng.randrange(len(kept)) if len(kept) > 500 else len(kept) :] = [text]
        took = milliseconds(classifier, text)
        allowed = BOUND * max(len(text) / 10_000, 1)
        if took > allowed / 2:
            took = min(took, *(milliseconds(classifier, text) for _ in range(3)))
        characters += len(text)
        if took > allowed:
            over += 1
            print(f"{took:.1f} ms for {len(text)} characters: {text[:60]!r}")
        slowest = max(slowest, took / max(len(text) / 10_000, 1))
        if number % 10_000 == 9_999:
            print(f"{number + 1:,} texts, the slowest {slowest:.2f} ms per 10 KB", flush=True)
    print(f"{count:,} texts of {characters / count:.0f} characters, seed {seed}, no exception;")
    print(f"the slowest {slowest:.2f} ms per 10 KB, {over:.0f} over {BOUND:.0f}")


def literals(rule: object) -> list[str]:
    return [x for kind in ("phrases", "openings", "cues", "needs") for x in getattr(rule, kind)]


def milliseconds(classifier: PhraseClassifier, text: str) -> float:
    start = time.thread_time()
    classifier.explain(text)
    return (time.thread_time() - start) * 1e3


def new_text(rng: random.Random, pieces: list[str]) -> str:
    kind = rng.random()
    size = int(10 ** rng.uniform(0, 2.6 if kind < 0.97 else 3.6))
    if kind < 0.2:
        return "".join(chr(rng.randrange(1, 0x3000)) for _ in range(size))
    if kind < 0.3:
        return (rng.choice(pieces) + rng.choice(MARKS)) * size
    if kind < 0.4:
        return "".join(rng.choice(MARKS) for _ in range(size))
    return "".join(rng.choice(pieces) + rng.choice(MARKS) for _ in range(size))


def mutated(rng: random.Random, kept: list[str], pieces: list[str]) -> str:
    text = rng.choice(kept)[:20_000]
    for _ in range(rng.randint(1, 5)):
        place = rng.randrange(len(text) + 1)
        kind = rng.randrange(6)
        if kind == 0:
            text = text[:place] + text[place + rng.randint(1, 30) :]
        elif kind == 1:
            text = text[:place] + rng.choice(pieces) + text[place:]
        elif kind == 2:
            text = text[:place] + rng.choice(MARKS) * rng.randint(1, 9) + text[place:]
        elif kind == 3:
            text = text[:place] + rng.choice(kept)[:300] + text[place:]
        elif kind == 4:
            text = text.upper() if rng.random() < 0.2 else text[place:] + text[:place]
        else:
            text = text[:place] + text[place : place + 200] * 3 + text[place:]
    return text[:40_000]


if __name__ == "__main__":
    main()
