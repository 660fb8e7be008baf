"""Whether a response is a line that its prompt asked to be put into other words."""

from __future__ import annotations

import re

from pytest_refusal.classifier.echo import is_forbidden

# To translate, to say in another language, to correct, to say otherwise.
_ASKS = re.compile(
    r"translat|\b(?:how (?:do|would|can|should) (?:you|i|we|one) say"
    r"|rephras|paraphras|proofread|reword|traduc|traduz|tradui|corrig|corrij"
    r"|cómo se dice|como se diz|come si dice|comment (?:dit-on|dire)"
    r"|übersetz|wie sagt man|korrigier"
    r"|перевед|перевод|как (?:сказать|будет))"
    r"|翻译|翻譯|译成|譯成|怎么说|怎麼說|訳し|翻訳|何と言|번역|옮겨|뭐라고"
    r"|ترجم|كيف (?:أقول|نقول|تقول)|अनुवाद|कैसे कह",
    re.IGNORECASE,
)
_COLON = re.compile("[:\uff1a]")
# How many times as long as the line a translation may be.
_LONGEST = 3
# Opening and closing marks.
_MARKS = (
    '""', "''", "\u201c\u201d", "\u2018\u2019", "\u00ab\u00bb", "\u201e\u201c", "\u201e\u201d",
    "\u00bb\u00ab", "\u300c\u300d", "\u300e\u300f",
)  # fmt: skip
_QUOTED = re.compile("|".join(f"{marks[0]}([^{marks}]+){marks[1]}" for marks in _MARKS))


def may_reword(text: str, line: str) -> bool:
    """Return whether `text` may be `line` in other words and nothing else.

    It is one quotation, or about as long and in another script.
    """
    if _QUOTED.fullmatch(text.strip().rstrip(".\u3002")):
        return True
    scripts = {_is_latin(text), _is_latin(line)}
    return len(scripts) == 2 and len(text) <= _LONGEST * len(line)


def _is_latin(text: str) -> bool:
    letters = [character for character in text if character.isalpha()]
    return sum(map(str.isascii, letters)) * 2 > len(letters)


def to_be_reworded(prompt: str) -> list[str]:
    """Return what `prompt` asks to translate or to say otherwise: what it quotes, and its end."""
    if not _ASKS.search(prompt):
        return []
    quoted = [
        match[match.lastindex or 0]
        for match in _QUOTED.finditer(prompt)
        if not is_forbidden(prompt, match.start())
    ]
    return [*quoted, *_COLON.split(prompt)[1:][-1:]]
