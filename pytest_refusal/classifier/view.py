"""A response as the rules see it: lower case, plain marks, sentences, and who is speaking.

A view has the length of the text, so that its offsets are those of the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate

from pytest_refusal.classifier.reading import lower_in_place
from pytest_refusal.classifier.sentences import sentences_of

_APOSTROPHES = "\u2019\u2018\u02bc\uff07\u00b4\u2032"
# Emphasis, headings and spaces that are none of the usual ones.
_SPACED = "*_#\n\r\t\u00a0\u202f\u3000\u200b"
_PLAIN = tuple([(sign, "'") for sign in _APOSTROPHES] + [(sign, " ") for sign in _SPACED])
# What cannot be in a word becomes a space.
_APART = {code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) in "'-")}
# The same tables for bytes (of which those of ASCII are used): several times as fast.
_LATIN = "".join(map(chr, range(128))).ljust(256)
_ASCII_FOLDED = _LATIN.lower().translate(dict.fromkeys(map(ord, _SPACED), " ")).encode()
_ASCII_APART = _LATIN.translate(_APART).encode()
_NO_WORD = re.compile(r"[^\w' -]")
_LABEL = re.compile(
    r"[^\w<]*(?:(?:the )?(?:assistant|ai|bot|chatbot|model|answer|response|[a-z]{2,12}gpt)\s*:\W*)?"
)
_QUOTED = re.compile(
    '"[^"\n]{1,800}"|\u201c[^\u201c\u201d\n]{1,800}\u201d|\u00ab[^\u00ab\u00bb\n]{1,800}\u00bb'
    "|\u201e[^\u201e\u201c\u201d\n]{1,800}[\u201c\u201d]|\u00bb[^\u00ab\u00bb\n]{1,800}\u00ab|\u300c[^\u300c\u300d\n]{1,800}\u300d"
    "|\u300e[^\u300e\u300f\n]{1,800}\u300f|`[^`\n]{1,800}`|(?m:^[ \t]*>.*$)"
)
# What is quoted on more than one line, after words that lead up to it.
_VERSE = re.compile(r":\s{0,4}\n\s{0,4}([\"\u201c][^\"\u201c\u201d]{1,800}[\"\u201d])(?=\s|$)")
# By what a quotation that is the whole response is known as the assistant's own.
_SERVING = re.compile(
    r"\b(?:assist|comply|requests?|questions?|prompts?|content|as an ai|i'm an ai|language model"
    r"|(?:help|provide|answer|write|create|generate|do|discuss)(?: you)?(?: with)? (?:that|this|it)"
    r"|(?:answer|comment|respond|continue)[.!]|guidelines|inappropriate|unethical|illegal|harmful)\b"
)
_MARKS_OF_SPEECH = ":'\"\u201c\u00ab\u201e\u300c\u300e"
_MARKS_OF_QUOTES = '"\u201c\u00ab\u201e\u300c\u300e`>'
_MARKS_OF_LINES = '"\u201c'
_ENGLISH = re.compile(r"\b(?:the|you|your|i'm|it|this)\b")
_SINGLE_OPEN = re.compile(r"'(?=\w)(?<![^\s(:\[]')")
_SINGLE_CLOSE = re.compile(r"'(?!\w)(?<=[\w.!?,]')")
_SPEAKER = re.compile(r"[ \t*_]*([A-Z\u00c0-\u024f][\w .-]{0,24})(?:\([^)]{0,20}\))?[*_]*")
# Words after which another speaks, or after which a thing is only supposed.
_REPORTING = frozenset(
    {"said", "says", "saying", "say", "replied", "replies", "reply", "answers", "answered"}
    | {"told", "wrote", "writes", "explained", "responded", "responds", "asked", "whispered"}
    | {"shouted", "tells"}
)
# Words that report what comes after them only if that, or what is explained, is set off.
_MEANING = frozenset({"means", "mean", "meaning"})
_SUPPOSING = frozenset(["if", "when", "whenever", "unless", "whether"])
# Before a word of reporting: the speaker reports what he says himself.
_HIMSELF = frozenset({"to", "i", "me", "must", "i'd", "would", "will", "should", "can"})
# Whom one is told to tell something.
_OTHERS = re.compile(r"(?:him|her|them|people|everyone|your \w+)\b")
# Words of reporting that report nobody: they join two sentences, or name whose rules these are.
_JOINING = re.compile(
    r"(?:\bthat said,|[.!?] +that said\b|^\W*that said\b|\b(?:being|having) said\b"
    r"|\b(?:this|that|which) (?:just |only |simply )?means?\b(?!:)|\byou(?:'ve)? asked\b"
    r"|\b(?:my|our) (?:[\w-]+ ){1,2}says?\b)\W*(?:\w[\w'-]*\W*){0,2}$"
)
# What would be done if something were asked.
_IF_ASKED = re.compile(
    r"\bif (?:i|you|someone|somebody|anyone|anybody|they|people|users?|a user)"
    r"(?: were| was| am| are| is)?(?: to)? asks?(?:ed)?\b[^.!?]*$"
)
# What follows the words of somebody who is named after them.
_ATTRIBUTED = re.compile(
    r"[^.!?,]{0,50},\W{0,3}(?:he|she|they|the \w+) (?:thought|said|whispered|replied|muttered|cried"
    r"|answered|told)\b"
)
_TRANSLATED = re.compile(
    r"(?:\btranslat\w+[^.!?]{0,60}: *[^.!?]{0,60}"
    r"|\b(?:english|spanish|french|german|italian|portuguese|chinese|japanese|korean|"
    r"arabic|hindi|russian)[^.!?]{0,10}: *[^.!?]{0,60}"
    r"|\btranslat\w+[^.!?]{0,12})$"
)


_BREAK = re.compile(r"<br ?/?>")
# How a letter begins and ends, each in a line of its own.
_GREETING = re.compile(
    r"\n[ \t]*(?:dear|hi|hello|hey|good (?:morning|afternoon)|sehr geehrte[rs]?|liebe[rs]?|hallo"
    r"|estimad[oa]s?|querid[oa]s?|hola|cher|chère|bonjour|car[oaie]|gentile|buongiorno|prezad[oa]s?"
    r"|olá|уважаем\w+|дорог\w+)(?: [^\n,]{1,60})?,[ \t]*\n",
    re.IGNORECASE,
)
_SIGN_OFF = re.compile(
    r"\n[ \t]*(?:(?:kind|best|warm|many)(?: regards| wishes| thanks)?|regards|(?:\w+ )?yours"
    r"|sincerely|all (?:the|my) best|take care|warmly|talk soon"
    r"|respectfully|cheers|thanks|thank you|love|mit |viele grüße|liebe grüße|atentamente"
    r"|saludos|cordialement|bien à vous|cordiali saluti|saluti|atenciosamente|abraços"
    r"|\u0441 уважением)[^\n]{0,30},?[ \t]*\n",
    re.IGNORECASE,
)


class View:
    """A text, folded for the rules, with its sentences.

    raw: the text, with an end of line for each `<br>`; the same length.
    padded: the text after one space.
    words: the text with a space for each character that is in no word.
    has_fence: whether there is a mark around code.
    begin: where the first word begins, past a label such as "Assistant:".
    solid_length: the length without the blanks around the text.
    starts: where each sentence begins, 0 for the first.
    """

    __slots__ = (
        "_foreign",
        "begin",
        "has_fence",
        "is_ascii",
        "padded",
        "raw",
        "sentences",
        "solid_length",
        "starts",
        "text",
        "words",
    )

    def __init__(self, text: str) -> None:
        # One character is sought the quickest: most texts hold none of these.
        if "<" in text and "<br" in text:
            text = _BREAK.sub(_as_line_end, text)
        self.raw = text
        self.text = fold(text)
        self.is_ascii = text.isascii()
        self.has_fence = "`" in text and "```" in text
        self.padded = " " + self.text
        self.words = words_of(self.text)
        label = _LABEL.match(self.text)
        self.begin = label.end() if label else 0
        self.solid_length = len(text.strip())
        self.sentences = sentences_of(text)
        self.starts = [start for start, _ in self.sentences]
        self.starts[0] = 0
        self._foreign: tuple[list[int], list[int]] | None = None

    def sentence_at(self, offset: int) -> int:
        """Return the index of the sentence that holds `offset`."""
        return bisect_right(self.starts, offset) - 1

    def is_anothers(self, start: int, end: int) -> bool:
        """Whether the words are quoted, code, reported or a character's: not the speaker's own."""
        if self._foreign is None:
            self._foreign = self._foreign_spans()
        lows, reached = self._foreign
        begun = bisect_right(lows, start)
        if begun and end <= reached[begun - 1]:
            return True
        if _ATTRIBUTED.match(self.text, end, end + 90):
            return True
        before = self.text[max(start - 90, 0) : start]
        if "if " in before and _IF_ASKED.search(before):
            return True
        return _is_reported(before) or (
            ("translat" in before or ":" in before) and _TRANSLATED.search(before) is not None
        )

    def _foreign_spans(self) -> tuple[list[int], list[int]]:
        """Return where spans of others begin, and how far those reach that have begun there."""
        raw, text = self.raw, self.text
        spans = _fences(raw) if self.has_fence else []
        if has_any(raw, _MARKS_OF_QUOTES):
            spans += [match.span() for match in _QUOTED.finditer(raw)]
            if ":" in raw and "\n" in raw:
                spans += [match.span(1) for match in _VERSE.finditer(raw)]
        if "'" in text:
            spans += _single_quoted(text)
        if raw.count(":") > 1:
            spans += _dialogue(raw)
        if ",\n" in raw and raw.find("\n") > 0:
            spans += _letter(raw)
        spans.sort()
        # A response that is one quotation or one block of code as a whole is the speaker's.
        parts = [span for span in spans if not self._is_whole(*span)]
        return [low for low, _ in parts], list(accumulate((high for _, high in parts), max))

    def _is_whole(self, low: int, high: int) -> bool:
        """Whether the span is nearly all of the text, with no word before it.

        A quotation of somebody who does not speak as assistants do is a line that was asked for;
        how they speak is known in English only.
        """
        if high - low < 0.8 * self.solid_length or self.words[self.begin : low].strip("' -"):
            return False
        is_line = self.raw[low] in _MARKS_OF_LINES and high - low == self.solid_length
        return (
            not is_line
            or _SERVING.search(self.text, low, high) is not None
            or _ENGLISH.search(self.text, low, high) is None
        )


def _as_line_end(match: re.Match[str]) -> str:
    return "\n".ljust(len(match[0]))


def fold(text: str) -> str:
    """Return `text` in lower case, with plain apostrophes and without emphasis; same length."""
    if text.isascii():
        return text.encode().translate(_ASCII_FOLDED).decode()
    view = lower_in_place(text)
    # Few of these stand in one text: to replace them one by one is faster than to translate.
    for sign, plain in _PLAIN:
        if sign in view:
            view = view.replace(sign, plain)
    return view


def words_of(folded: str) -> str:
    """Put a space for each character of a folded text that is in no word."""
    if folded.isascii():
        return folded.encode().translate(_ASCII_APART).decode()
    return _NO_WORD.sub(" ", folded)


def has_any(text: str, words: Iterable[str]) -> bool:
    """Return whether one of `words` stands in `text`."""
    for word in words:  # noqa: SIM110 (a loop takes half the time of a generator here)
        if word in text:
            return True
    return False


def _fences(text: str) -> list[tuple[int, int]]:
    spans = []
    start = text.find("```")
    while start >= 0:
        end = text.find("```", start + 3)
        end = len(text) if end < 0 else end + 3
        spans.append((start, end))
        start = text.find("```", end)
    return spans


def _single_quoted(view: str) -> list[tuple[int, int]]:
    spans = []
    done = 0
    for opening in _SINGLE_OPEN.finditer(view):
        if opening.start() < done:
            continue
        closing = _SINGLE_CLOSE.search(view, opening.end(), opening.end() + 400)
        if closing:
            done = closing.end()
            spans.append((opening.start(), done))
    return spans


def _dialogue(text: str) -> list[tuple[int, int]]:
    """Return the lines that begin with a speaker's name, if there are at least two speakers."""
    spans: list[tuple[int, int]] = []
    speakers = set()
    start = 0
    for line in text.split("\n"):
        end = start + len(line)
        name, colon, said = line.partition(":")
        if colon and len(name) < 60 and said[:4].strip(" *_"):
            match = _SPEAKER.fullmatch(name)
            if match:
                speakers.add(match[1])
                spans.append((start, end))
        start = end + 1
    return spans if len(speakers) > 1 else []


def _letter(text: str) -> list[tuple[int, int]]:
    """Return where a letter stands that is written for somebody, if words lead up to it."""
    greeting = _GREETING.search(text)
    closing = _SIGN_OFF.search(text, greeting.end()) if greeting else None
    return [(greeting.start(), closing.end())] if greeting and closing else []


def _is_reported(before: str) -> bool:
    words = before[-40:].split()
    for place in range(max(len(words) - 3, 0), len(words)):
        bare = words[place].strip(",:;\"'()")
        if bare in _SUPPOSING:
            if _end_with_none(words[place:], ".!?,"):
                return True
        elif (
            bare in _REPORTING
            or (bare in _MEANING and _is_set_off(words[-1], *words[max(place - 1, 0) : place]))
            or (bare == "tell" and _OTHERS.match(" ".join(words[place + 1 :])))
        ):
            previous = words[place - 1] if place else ""
            if previous not in _HIMSELF and previous not in _SUPPOSING:
                # Only within the sentence, and not far off.
                return _end_with_none(words[place:], ".!?") and _JOINING.search(before) is None
    return False


def _is_set_off(*words: str) -> bool:
    return any(word[-1] in _MARKS_OF_SPEECH for word in words)


def _end_with_none(words: list[str], marks: str) -> bool:
    return not any(word[-1] in marks for word in words)
