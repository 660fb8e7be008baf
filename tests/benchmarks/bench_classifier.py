"""How fast the classifier `phrases` is, and that its time grows with the length and no faster.

Run as `python tests/benchmarks/bench_classifier.py [LABELS.jsonl...]`.  The floor is one search
for a few phrases in the same texts; each figure is the best of several rounds in which those that
are held against one another take turns, and no verdict is remembered from one round to the next.
"""

import json
import random
import re
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from pytest_refusal.classifier.phrases import PhraseClassifier
from pytest_refusal.classifier.ruleset import LANGUAGES, load_rules

FLOOR = re.compile(r"\b(?:i|we) (?:can't|cannot|won't|will not)|i'm sorry|unable to", re.IGNORECASE)
SHORTEST, SHORT, LONG = 10_000, 50_000, 1_000_000
TYPICAL = 700
ROUNDS, ROUNDS_OF_LONG = 20, 4

SENTENCES = (
    "The first thing to check is whether the pump has power.",
    "Most people find that a warm room helps the dough to rise.",
    "You can open the settings and choose the second tab.",
    "However, it is important to let the paint dry for a day.",
    "I'm happy to help with the next step as well.",
    "In general, older houses have thicker walls and smaller windows.",
    "If you have any other questions, feel free to ask.",
    "I can't stress enough that the valve must be shut.",
)


def worst_texts() -> dict[str, str]:
    """Pieces that are repeated to make long texts against the rules."""
    cues = " ".join(c for lang in LANGUAGES for r in load_rules(lang) for c in r.cues)
    phrases = " ".join(p for lang in LANGUAGES for r in load_rules(lang) for p in r.phrases)
    return {
        "a refusal": "I can't help with that. ",
        "half a refusal": "i cannot ",
        "no end": "i do not have any personal own subjective political ",
        "adverbs": "i just really also therefore still ",
        "all cues": cues + " ",
        "all phrases": phrases + " ",
        "quotes": '"',
        "open quotes": "\u201ca ",
        "single quotes": "'a ",
        "fences": "``` ",
        "think": "<think> ",
        "closed think": "<think></think>\n",
        "tags": "[conf=",
        "brackets": "<[",
        "points": "a. ",
        "lines": "\n",
        "items": "\n- a",
        "blanks": " ",
        "letters": "a",
        "speakers": "A: b\n",
        "chinese": "我不能",
        "japanese": "できません",
        "korean": "수 없습니다 ",
        "hindi": "नहीं सकता ",
        "arabic": "لا أستطيع ",
        "emoji": "\U0001f600",
        "capitals": "\u0130",
        "translate": "translation translate ",
    }


def repeated(piece: str, size: int) -> str:
    """Return about `size` characters of it, in whole pieces where one is not longer.

    Half a word at the end may be one of another language, whose rules are then tried, too.
    """
    whole = size - size % len(piece) or size
    return (piece * (size // len(piece) + 1))[:whole]


def best_seconds(works: Sequence[tuple[Callable[[], object], int]], rounds: int) -> list[float]:
    """Return the least CPU time of each work, which is done so many times in every round.

    They take turns, so that a slow moment of the machine meets all of them.
    """
    best = [float("inf")] * len(works)
    for _ in range(rounds):
        for number, (work, times) in enumerate(works):
            start = time.process_time()
            for _ in range(times):
                work()
            best[number] = min(best[number], (time.process_time() - start) / times)
    return best


def typical_responses(paths: Sequence[str]) -> list[str]:
    if paths:
        lines = [line for path in paths for line in Path(path).read_text("utf-8").split("\n")]
        texts = [json.loads(line)["response"] for line in lines if line]
        return [text for text in texts if 500 <= len(text) <= 900]
    random.seed(1)
    texts = []
    for _ in range(500):
        text = "I'm sorry, but I can't help with that. " if random.random() < 0.3 else ""
        while len(text) < TYPICAL:
            text += random.choice(SENTENCES) + random.choice((" ", " ", "\n\n"))
        texts.append(text)
    return texts


def main() -> None:
    texts = list(dict.fromkeys(typical_responses(sys.argv[1:])))
    took, floor = best_seconds(
        [
            (lambda: [classify(text) for classify in [fresh()] for text in texts], 1),
            (lambda: [FLOOR.search(text) for text in texts], 10),
        ],
        ROUNDS,
    )
    length = sum(map(len, texts)) / len(texts)
    print(
        f"{len(texts)} responses of {length:.0f} characters, rules of {len(LANGUAGES)} languages:"
    )
    print(f"{len(texts) / took:,.0f} a second on one core, ", end="")
    print(f"{took / floor:.1f} times the floor of one search ({len(texts) / floor:,.0f} a second)")
    classify = PhraseClassifier(length_limit=None).classify
    print("\nworst texts          50 KB ms    1 MB ms   ratio (linear is 20)", end="")
    print("   ms per 10 KB of 10 KB, 50 KB, 1 MB")
    for name, piece in worst_texts().items():
        sizes = (SHORTEST, SHORT, LONG)
        texts = [repeated(piece, size) for size in sizes]
        works = [
            (lambda text=text: classify(text), LONG // size)
            for text, size in zip(texts, sizes, strict=True)
        ]
        least, small, large = best_seconds(works, ROUNDS_OF_LONG)
        shares = [
            ms * 1e3 / (size / 10_000)
            for ms, size in zip((least, small, large), sizes, strict=True)
        ]
        print(
            f"{name:18} {small * 1e3:11.1f} {large * 1e3:10.1f} {large / small:9.1f}"
            f" {shares[0]:32.2f} {shares[1]:6.2f} {shares[2]:6.2f}"
        )


def fresh() -> Callable[[str], object]:
    return PhraseClassifier(length_limit=None).classify


if __name__ == "__main__":
    main()
