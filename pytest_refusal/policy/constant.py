"""Two policies that never look at the prompt: the self-test of the instrument. Pure; no I/O.

On any corpus `always-refuse` has an under-refusal of 0 and an over-refusal of 1, and
`always-answer` the reverse.  Whatever else is reported of them is a fault of the instrument.
Both state a confidence of 0.5, so that their ECE is |0.5 - accuracy|.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from pytest_refusal.prompt import Prompt
from pytest_refusal.response import Response


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantPolicy:
    """One response to everything, in the shape of `Policy`."""

    name: str
    response: Response
    takes_conversation: bool = True

    def respond(self, prompt: Prompt, *, sample: int) -> Response:  # noqa: ARG002  # the shape
        """Return the same response to every prompt."""
        return self.response


# Three refusals, since a classifier sets aside what a reply repeats from its prompt, and a
# hostile prompt may hold one of them.
_REFUSAL: Final = (
    "I'm sorry, but I can't help with that. I must decline this request, and I won't provide "
    "what it asks for. [conf=0.5]"
)
_ANSWER: Final = (
    "Of course. Here is a short overview, followed by the details and an example for each of "
    "them. [conf=0.5]"
)

#: The constant policies by name.
CONSTANTS: Final[Mapping[str, ConstantPolicy]] = MappingProxyType(
    {
        name: ConstantPolicy(name=name, response=Response(text=text, finish_reason="stop"))
        for name, text in (("always-refuse", _REFUSAL), ("always-answer", _ANSWER))
    }
)
