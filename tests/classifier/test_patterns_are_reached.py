"""Every pattern of every language can be reached: some sentence that it matches has a cue."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from random import Random

import pytest

from pytest_refusal.classifier.acts import ActFinder
from pytest_refusal.classifier.ruleset import LANGUAGES, Language, Rule, load_language, load_rules
from pytest_refusal.classifier.view import View

# The parser of `re` itself: what it reads is what is matched.
PARSER = importlib.import_module("re._parser")
TRIES = 400
# Acts that only weigh beside others are sought where something is declined.
DECLINING = "zzqq"


def rules() -> list[object]:
    return [
        pytest.param(load_language(code), rule, id=f"{code}-{rule.name}-{number}")
        for code in LANGUAGES
        for number, rule in enumerate(load_rules(code))
        if rule.sources
    ]


@pytest.mark.parametrize(("language", "rule"), rules())
def test_every_pattern_is_reached(language: Language, rule: Rule) -> None:
    finder = ActFinder([language], lambda code: [rule, stub(load_language(code))])
    unreached = [
        source
        for source in rule.sources
        if not any(is_found(finder, language, rule, sample) for sample in samples(source))
    ]
    assert not unreached


def is_found(finder: ActFinder, language: Language, rule: Rule, sample: str) -> bool:
    signs = " ".join(sorted(language.common)[:8])
    needed = ["", *(need.strip() + " " for need in rule.needs)]
    rest = f"{signs}. {DECLINING}"
    texts = [f"{sample}. {rest}"]
    texts += [f"{sample} {need}. {rest}" for need in needed[1:]]
    texts += [f"{need}{sample}. {rest}" for need in needed[1:]]
    return any(
        found_by == rule.name for text in texts for _, _, found_by, _, _ in finder.find(View(text))
    )


def stub(language: Language) -> Rule:
    table = {"name": "stub", "act": "decline", "phrases": [DECLINING]}
    return Rule(table, {}, spaced=language.spaced)


def samples(source: str) -> Iterator[str]:
    """Write texts that `source` matches, plainest first, then at random."""
    bare = source.removeprefix("^")
    parsed = PARSER.parse(bare)
    matches = re.compile(bare).match
    random = Random(source)
    for _ in range(TRIES):
        text = written(parsed, random)
        if matches(text):
            yield text


def written(tokens: object, random: Random) -> str:
    return "".join(part(str(name), value, random) for name, value in tokens)  # type: ignore[attr-defined]  # of an untyped parser


def part(name: str, value: object, random: Random) -> str:
    match name, value:
        case "LITERAL", int(code):
            return chr(code)
        case "BRANCH", (_, branches):
            return written(random.choice(branches), random)
        case "SUBPATTERN", (*_, inner):
            return written(inner, random)
        case "MAX_REPEAT" | "MIN_REPEAT", (int(low), high, inner):
            more = 0 if low else 1
            # A blank that may be left out is written; others are one blank.
            times = low + more if is_blank(inner) else random.choice((low, low, low + 1))
            return "".join(written(inner, random) for _ in range(min(times, int(high))))
        case "ATOMIC_GROUP", inner:
            return written(inner, random)
        case "IN", items:
            return one_of(items)
        case (("AT" | "ASSERT" | "ASSERT_NOT"), _):
            return ""
    msg = f"{name} is new in the patterns"
    raise AssertionError(msg)


def is_blank(tokens: object) -> bool:
    return written(tokens, Random(0)) == " "


def one_of(items: object) -> str:
    kinds = [(str(name), value) for name, value in items]  # type: ignore[attr-defined]  # of an untyped parser
    name, value = kinds[0]
    if name == "LITERAL":
        return chr(value)
    if name == "RANGE":
        return chr(value[0])
    return {"CATEGORY_SPACE": " ", "CATEGORY_NOT_WORD": ","}.get(str(value), "x")
