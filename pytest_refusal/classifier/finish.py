"""Why a provider stopped: its finish reasons, and what each means here.

Values are compared without regard to case, since gateways mix the spellings of providers.
What is not in the table is unknown, and never taken for "finished".
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class FinishKind(StrEnum):
    """What a finish reason means."""

    FINISHED = "finished"
    CUT_OFF = "cut_off"
    TOOL_CALL = "tool_call"
    BLOCKED = "blocked"
    BROKEN = "broken"
    NOT_ABOUT_SAFETY = "not_about_safety"


_WORDS: Mapping[FinishKind, str] = {
    FinishKind.FINISHED: "stop end_turn stop_sequence complete eos",
    FinishKind.CUT_OFF: (
        "length max_tokens model_length model_context_window_exceeded continuation"
        " max_output_tokens max_messages"
    ),
    FinishKind.TOOL_CALL: "tool_calls function_call tool_use tool_call",
    FinishKind.BLOCKED: (
        "content_filter refusal guardrail_intervened content_filtered safety prohibited_content"
        " blocklist spii model_armor escalation error_toxic sensitive"
    ),
    FinishKind.BROKEN: (
        "error abort repetition timeout error_limit user_cancel malformed_response"
        " malformed_function_call unexpected_tool_call too_many_tool_calls"
        " missing_thought_signature malformed_model_output malformed_tool_use"
        " insufficient_system_resource network_error pause_turn load steered"
    ),
    FinishKind.NOT_ABOUT_SAFETY: (
        "recitation language other pup_limited_disabled finish_reason_unspecified no_image"
        " image_safety image_prohibited_content image_recitation image_other"
    ),
}

# Gemini's numbers, as far as both of its interfaces give them the same meaning.
_GEMINI_NUMBERS: Mapping[str, FinishKind] = {
    "0": FinishKind.NOT_ABOUT_SAFETY,
    "1": FinishKind.FINISHED,
    "2": FinishKind.CUT_OFF,
    "3": FinishKind.BLOCKED,
    "4": FinishKind.NOT_ABOUT_SAFETY,
    "5": FinishKind.NOT_ABOUT_SAFETY,
}

#: Every finish reason that is known, in lower case.
FINISH_REASONS: Mapping[str, FinishKind] = {
    **{word: kind for kind, words in _WORDS.items() for word in words.split()},
    **_GEMINI_NUMBERS,
}


def finish_kind(word: str, own: Mapping[str, FinishKind]) -> FinishKind | None:
    """Look up a provider's word, first in the user's `own` table; None if it is unknown."""
    folded = word.strip().casefold()
    for key, kind in own.items():
        if key.strip().casefold() == folded:
            return kind
    known = FINISH_REASONS.get(folded)
    if known is None and folded.startswith("image_"):
        return FinishKind.NOT_ABOUT_SAFETY
    return known
