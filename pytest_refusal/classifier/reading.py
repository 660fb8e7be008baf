"""What of a response is to be judged: hidden reasoning and confidence tags are not.

All cutting keeps the length, so that an offset into what is judged is one into the response.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pytest_refusal.confidence import CONFIDENCE_TAG

# Opening and closing marks of hidden reasoning, all in lower case.
_REASONING = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<thoughts>", "</thoughts>"),
    ("<antthinking>", "</antthinking>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("[think]", "[/think]"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|start_thinking|>", "<|end_thinking|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
    ("<unused94>", "<unused95>"),
    ("<|channel>thought", "<channel|>"),
    ("<|channel|>analysis", "<|channel|>final<|message|>"),
    ("<|channel|>commentary", "<|channel|>final<|message|>"),
)
# One of these stands in every mark, so that most texts are done with after a few searches.
_SIGNS_OF_REASONING = (
    "think",
    "thought",
    "<reasoning>",
    "scratchpad>",
    "<|inner_",
    "<unused9",
    "<|channel|>",
)
# Marks of the chat format that some servers leave in the text.
_FORMAT_MARKS = (
    "<|channel|>final<|message|>",
    "<|start|>assistant",
    "<|im_start|>assistant",
    "<|im_end|>",
    "<|eot_id|>",
    "<|endoftext|>",
    "<|end|>",
    "<|return|>",
    "[/inst]",
    "<s>",
    "</s>",
)


class Reading(NamedTuple):
    """A response as it is judged.

    text: of the same length as the response; what is not judged is spaces.
    unfinished: hidden reasoning began and did not end.
    """

    text: str
    unfinished: bool = False

    @property
    def is_blank(self) -> bool:
        """Whether nothing is left to judge."""
        return not self.text or self.text.isspace()


def read(text: str) -> Reading:
    """Blank out of `text` what is hidden reasoning, a mark of the chat format or a tag."""
    unfinished = False
    if "[" in text and "[conf=" in text:
        text = CONFIDENCE_TAG.sub(_blank, text)
    if "<" in text or "[" in text or "◁" in text:
        lower = lower_in_place(text)
        if any(sign in lower for sign in _SIGNS_OF_REASONING):
            text, unfinished = _without_reasoning(text, lower)
            lower = lower_in_place(text)
        for mark in _FORMAT_MARKS:
            if mark in lower:
                text = _without_mark(text, lower, mark)
    return Reading(text=text, unfinished=unfinished)


def lower_in_place(text: str) -> str:
    """Return `text` in lower case and of the same length."""
    lower = text.lower()
    if len(lower) != len(text):
        # The one letter that becomes longer.
        lower = text.replace("\u0130", "i").lower()
    if len(lower) == len(text):
        return lower
    return "".join(low if len(low := character.lower()) == 1 else character for character in text)


def _without_reasoning(text: str, lower: str) -> tuple[str, bool]:
    for opening, closing in _REASONING:
        if opening not in lower and closing not in lower:
            continue
        pieces: list[str] = []
        done = 0
        # Some templates put the opening mark into the prompt: the response only closes it.
        first, end = lower.find(opening), lower.find(closing)
        if end >= 0 and not 0 <= first < end and _begins_line(lower, end):
            done = end + len(closing)
            pieces.append(" " * done)
        while (start := lower.find(opening, done)) >= 0:
            if not _begins_line(lower, start):
                pieces.append(text[done : start + len(opening)])
                done = start + len(opening)
                continue
            end = lower.find(closing, start)
            pieces.append(text[done:start])
            if end < 0:
                pieces.append(" " * (len(text) - start))
                return "".join(pieces), True
            done = end + len(closing)
            pieces.append(" " * (done - start))
        pieces.append(text[done:])
        text = "".join(pieces)
        lower = lower_in_place(text)
    return text, False


def _begins_line(lower: str, start: int) -> bool:
    # A mark within a sentence or in code is spoken about, not used.
    before = lower[max(start - 80, 0) : start]
    line = before.rpartition("\n")[2].strip()
    return not line or line.endswith(("|>", "<s>", "]"))


def _without_mark(text: str, lower: str, mark: str) -> str:
    pieces: list[str] = []
    done = 0
    while (start := lower.find(mark, done)) >= 0:
        pieces.append(text[done:start])
        done = start + len(mark)
        pieces.append(" " * len(mark))
    pieces.append(text[done:])
    return "".join(pieces)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])
