"""The conversations of other people's files, in our own form. No I/O."""

from __future__ import annotations

_ROLES = {
    "human": "user",
    "developer": "system",
    "gpt": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "bot": "assistant",
}


def messages_of(value: object) -> object:
    """Return a prompt with its messages as `{role, content}`; what is no list is left as it is.

    Known are lists of texts, which are the user's, messages with `from` and `value`, further
    keys beside the two, and contents in parts, of which the text parts are joined.
    """
    if not isinstance(value, list):
        return value
    if len(value) == 1 and isinstance(value[0], str):
        return value[0]
    return [_message(item) for item in value]


def _message(value: object) -> object:
    if isinstance(value, str):
        return {"role": "user", "content": value}
    if not isinstance(value, dict):
        return value
    role = value.get("role", value.get("from"))
    content = value.get("content", value.get("value"))
    known = _ROLES.get(role, role) if isinstance(role, str) else role
    return {"role": known, "content": _text_of(content)}


def _text_of(content: object) -> object:
    if not isinstance(content, list):
        return content
    parts = [part.get("text") if isinstance(part, dict) else part for part in content]
    # A part that is no text, such as an image, cannot be left out without changing the prompt.
    texts = [part for part in parts if isinstance(part, str)]
    return "\n".join(texts) if len(texts) == len(parts) else content
