"""Write prompts as TOML that a person would write. No I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pytest_refusal.corpus.faults import quoted
from pytest_refusal.corpus.plain import DEFAULTABLE_ONCE, plain_fields
from pytest_refusal.errors import CorpusError
from pytest_refusal.prompt import Prompt

_ESCAPED = re.compile('[\x00-\x08\x0b-\x1f\x7f"\\\\]')
_ESCAPED_IN_LINES = re.compile('[\x00-\x08\x0b-\x1f\x7f\\\\]|"(?="")|"$')
_NAMED = {'"': '\\"', "\\": "\\\\", "\r": "\\r", "\f": "\\f", "\b": "\\b"}


def to_toml(prompts: Sequence[Prompt]) -> str:
    """Write prompts, with what all of them share under `[defaults]`.

    Raises CorpusError for what TOML cannot hold.
    """
    rows = [plain_fields(prompt) for prompt in prompts]
    shared = _shared(rows)
    parts = ["[defaults]\n" + _lines(shared)] if shared else []
    for row in rows:
        own = {name: value for name, value in row.items() if name not in shared}
        parts.append("[[prompt]]\n" + _lines(own))
    text = "\n".join(parts)
    _check_encodable(text)
    return text


def _shared(rows: Sequence[Mapping[str, object]]) -> dict[str, object]:
    if len(rows) < 2:
        return {}
    first = rows[0]
    return {
        name: first[name]
        for name in DEFAULTABLE_ONCE
        if name in first and all(row.get(name) == first[name] for row in rows)
    }


def _lines(fields: Mapping[str, object]) -> str:
    return "".join(f"{name} = {_value(value)}\n" for name, value in fields.items())


def _value(value: object) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        messages = "".join(f"  {_inline(message)},\n" for message in value)
        return f"[\n{messages}]"
    if isinstance(value, list):
        return f"[{', '.join(_text(str(item)) for item in value)}]"
    return str(value)


def _inline(message: Mapping[str, str]) -> str:
    return f"{{ role = {_text(message['role'])}, content = {_text(message['content'])} }}"


def _text(text: str) -> str:
    if "\n" not in text:
        return f'"{_ESCAPED.sub(_escape, text).replace(chr(9), chr(92) + "t")}"'
    return f'"""\n{_ESCAPED_IN_LINES.sub(_escape, text)}"""'


def _escape(match: re.Match[str]) -> str:
    sign = match[0]
    return _NAMED.get(sign) or f"\\u{ord(sign):04X}"


def _check_encodable(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        what = f"a prompt has {quoted(text[error.start])}, which TOML cannot hold; write JSONL"
        raise CorpusError([what]) from error
