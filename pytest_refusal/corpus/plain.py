"""A prompt as the fields of a file. No I/O."""

from __future__ import annotations

from pytest_refusal.prompt import UNCATEGORISED, Prompt, Role

#: The fields that are worth saying once where they are the same throughout.
DEFAULTABLE_ONCE = ("label", "source", "language")


def plain_fields(prompt: Prompt) -> dict[str, object]:
    """Return what a file in our own form says of a prompt; what is not there is left out."""
    only = prompt.messages[0]
    fields: dict[str, object] = {
        "id": prompt.id,
        "prompt": (
            [{"role": m.role.value, "content": m.content} for m in prompt.messages]
            if prompt.is_conversation or only.role is not Role.USER
            else only.content
        ),
        "label": prompt.label.value,
        "category": None if prompt.category == UNCATEGORISED else prompt.category,
        "severity": prompt.severity,
        "source": prompt.source,
        "tags": list(prompt.tags) or None,
        "note": prompt.note,
        "taxonomy": prompt.taxonomy,
        "pair": prompt.pair,
        "language": prompt.language,
    }
    return {name: value for name, value in fields.items() if value is not None}
