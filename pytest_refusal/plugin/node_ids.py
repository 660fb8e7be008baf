"""Node ids of prompts: short, unique, stable, and safe in every shell and file."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping

from pytest_refusal.escape import visible

_PLAIN = re.compile(r"[A-Za-z0-9._-]{1,44}", re.ASCII)
_OTHER = re.compile(r"[^A-Za-z0-9._-]+", re.ASCII)


def slug(text: str, *, digits: int = 8) -> str:
    """Return `text` if it is plain and short, else a plain form of it with a hash of it."""
    if _PLAIN.fullmatch(text):
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:digits]
    plain = _OTHER.sub("-", text[:200]).strip("-.")[:35]
    return f"{plain}-{digest}" if plain else digest


def unique_slugs(texts: Iterable[str]) -> Mapping[str, str]:
    """Return a slug for each text; plain texts keep theirs, whatever else is there."""
    distinct = list(dict.fromkeys(texts))
    slugs = {text: text for text in distinct if _PLAIN.fullmatch(text)}
    taken = set(slugs)
    for text in distinct:
        if text in slugs:
            continue
        # An id may look like the slug of another; a longer hash tells them apart.
        digits = 8
        while (candidate := slug(text, digits=digits)) in taken:
            digits += 8
        slugs[text] = candidate
        taken.add(candidate)
    return slugs


def item_name(prompt_slug: str, policy_slug: str, *, sample: int, samples: int) -> str:
    """Return `rp-01[strict]`, with the sample where there are several: `rp-01[strict#2]`."""
    suffix = f"#{sample}" if samples > 1 else ""
    return f"{prompt_slug}[{policy_slug}{suffix}]"


def file_node_id(name: str) -> str:
    """Return the node id of a corpus file from its short name."""
    safe = visible(name).replace("::", "--")
    return safe if safe == name else f"{safe}-{slug(name)[-8:]}"
