"""Which words of a response are not the speaker's own.

They are quoted, code, a character's, of a letter that was asked for, reported, supposed or
translated.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

from pytest_refusal.classifier.letters import letter_in
from pytest_refusal.classifier.view import View, has_any

# What stands in brackets after a quotation says it once more.
_QUOTED = re.compile(
    '(?:"[^"\n]{1,800}"|\u201c[^\u201c\u201d\n]{1,800}\u201d|\u00ab[^\u00ab\u00bb\n]{1,800}\u00bb'
    "|\u201e[^\u201e\u201c\u201d\n]{1,800}[\u201c\u201d]|\u00bb[^\u00ab\u00bb\n]{1,800}\u00ab"
    "|\u300c[^\u300c\u300d\n]{1,800}\u300d|\u300e[^\u300e\u300f\n]{1,800}\u300f"
    r"|`[^`\n]{1,800}`)(?: \([^()\n]{1,200}\))?|(?m:^[ \t]*>.*$)"
)
# What is quoted on more than one line, after words that lead up to it.
_VERSE = re.compile(r":\s{0,4}\n\s{0,4}([\"\u201c][^\"\u201c\u201d]{1,800}[\"\u201d])(?=\s|$)")
# By what a quotation or a letter that is the whole response is known as the assistant's own.
_SERVING = re.compile(
    r"\b(?:assist|comply|requests?|questions?|prompts?|content|as an ai|i'm an ai|language model"
    r"|(?:help|provide|answer|write|create|generate|do|discuss)(?: you)?(?: with)? (?:that|this|it)"
    r"|(?:answer|comment|respond|continue)[.!]|guidelines|inappropriate|unethical|illegal|harmful"
    r"|solicitud|consulta|modelo de l\w+|inteligencia artificial|como (?:ia|asistente)"
    r"|demande|requête|modèle de langage|intelligence artificielle"
    r"|anfrage|sprachmodell|als (?:ki|assistent)|solicitação|pergunta|inteligência artificial"
    r"|richiesta|modello linguistico|intelligenza artificiale|запрос\w*|языковая модель)\b"
    r"|请求|請求|人工智能|人工智慧|语言模型|リクエスト|ご要望|ご質問|요청|인공지능|언어 모델"
    r"|طلبك|نموذج لغوي|ذكاء اصطناعي|अनुरोध|भाषा मॉडल"
)
_MARKS_OF_SPEECH = ":'\"\u201c\u00ab\u201e\u300c\u300e"
_MARKS_OF_QUOTES = '"\u201c\u00ab\u201e\u300c\u300e`>'
_MARKS_OF_LINES = '"\u201c'
_ENGLISH = re.compile(r"\b(?:the|you|your|i'm|it|this)\b")
# In a dialogue without names; the items of a list have hyphens or points.
_SPOKEN_LINE = re.compile("^[ \t]*[\u2013\u2014][ \t]?\\w.*", re.MULTILINE)
_LED_UP_TO = re.compile(":[ \t]*\n\\s*[\u2013\u2014]")
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

# The same in other languages: after a colon, or before the word of saying where that comes last.
_SAID = re.compile(
    r"(?:\b(?:dic(?:e|en|ía)|dijo|dijeron|repit(?:e|ió)|respond(?:e|ió|eu)|contest(?:a|ó)"
    r"|dit|disait|répèt(?:e|ent)|répond(?:it|ent)?|sagt(?:e|en)?|antwortete?t?|wiederholte?t?"
    r"|disse|diz|ripet(?:e|eva)|repet(?:e|ia)|rispond(?:e|eva)|rispose"
    r"|говор\w+|сказал\w*|повторя\w+|ответил\w*|отвеча\w+)|说|說|表示|回答|答道"
    r"|قال\w*|[يت]قول|أجاب\w*|[يت]جيب|कह(?:ता|ती|ते|ा)|बोल(?:ा|ी|ता|ती))"
    r"(?: [^\s.,:!?]{1,16}){0,4} ?$"
)
_AFTER_COLON = re.compile("[:\uff1a][^.!?\u3002\uff01\uff1f\n]{0,40}$")
_SAID_AFTER = re.compile(
    "[^.!?\u3002\n]{0,14}?と(?:の(?:こと|返事|回答)|言[いわっ]|述べ|答え|話し|伝え|断ら)"
    "|[^.!?\n]{0,8}?[다라냐]고 ?(?:말|했|하[는며였]|답|전했|밝[히혔])"
)


class Others:
    """What others say in one text."""

    __slots__ = ("_spans", "_view")

    def __init__(self, view: View) -> None:
        self._view = view
        self._spans: tuple[list[int], list[int]] | None = None

    def say(self, start: int, end: int) -> bool:
        """Return whether the words from `start` to `end` are theirs."""
        if self._spans is None:
            self._spans = _spans_of_others(self._view)
        lows, reached = self._spans
        begun = bisect_right(lows, start)
        if begun and end <= reached[begun - 1]:
            return True
        text = self._view.text
        if _ATTRIBUTED.match(text, end, end + 90):
            return True
        if not self._view.is_ascii and _SAID_AFTER.match(text, end, end + 40):
            return True
        before = text[max(start - 90, 0) : start]
        if ":" in before or "\uff1a" in before:
            led = _AFTER_COLON.search(before)
            if led and _SAID.search(before, 0, led.start()):
                return True
        if "if " in before and _IF_ASKED.search(before):
            return True
        return _is_reported(before) or (
            ("translat" in before or ":" in before) and _TRANSLATED.search(before) is not None
        )


def _spans_of_others(view: View) -> tuple[list[int], list[int]]:
    """Return where spans of others begin, and how far those reach that have begun there."""
    raw, text = view.raw, view.text
    spans = _fences(raw) if view.has_fence else []
    if has_any(raw, _MARKS_OF_QUOTES):
        spans += [match.span() for match in _QUOTED.finditer(raw)]
        if ":" in raw and "\n" in raw:
            spans += [match.span(1) for match in _VERSE.finditer(raw)]
    if "'" in text:
        spans += _single_quoted(text)
    if raw.count(":") > 1:
        spans += _dialogue(raw)
    if "\u2014" in raw or "\u2013" in raw:
        spans += _spoken_lines(raw)
    # A response that is one quotation or one block of code as a whole is the speaker's.
    spans = [span for span in spans if not _is_whole(view, *span)]
    letter = letter_in(raw) if "\n" in raw else None
    if letter and not (_is_whole(view, *letter) and _SERVING.search(text, *letter)):
        spans.append(letter)
    spans.sort()
    return [low for low, _ in spans], list(accumulate((high for _, high in spans), max))


def _is_whole(view: View, low: int, high: int) -> bool:
    """Return whether the span is nearly all of the text, with no word before it.

    A quotation of somebody who does not speak as assistants do is a line that was asked for;
    how they speak is known in English only.
    """
    if high - low < 0.8 * view.solid_length or view.words[view.begin : low].strip("' -"):
        return False
    is_line = view.raw[low] in _MARKS_OF_LINES and high - low == view.solid_length
    return (
        not is_line
        or _SERVING.search(view.text, low, high) is not None
        or _ENGLISH.search(view.text, low, high) is None
    )


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


def _spoken_lines(text: str) -> list[tuple[int, int]]:
    """Return the lines that begin with a dash, if there are several or words lead up to one."""
    spans = [match.span() for match in _SPOKEN_LINE.finditer(text)]
    return spans if len(spans) > 1 or _LED_UP_TO.search(text) else []


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
