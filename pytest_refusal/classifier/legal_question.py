"""Whether a prompt asks what is allowed: a wrong that the response names is then what was asked."""

from __future__ import annotations

import re

_ASKS = re.compile(
    r"\b(?:is|are|was|were|would|isn't|aren't)\b[^.!?\n]{0,80}\b(?:(?:il)?legal(?:ly)?|(?:un)?lawful"
    r"|allowed|permitted|forbidden|prohibited|banned|against the law|a crime|an? offen[cs]e)\b"
    r"[^.!?\n]{0,60}\?"
    r"|\b(?:can|may|could|do|does)\b[^.!?\n]{0,60}\b(?:legally|lawfully|by law|break the law)\b"
    r"|\bwhat(?:'s| is| are| does) (?:the )?(?:laws?|legal|penalt|punishment|fine|sentence)"
    r"|\bhow (?:high|big|much) is the (?:fine|penalty)"
    r"|¿[^?]{0,80}\b(?:i?legal(?:es)?|permitid[oa]s?|prohibid[oa]s?|delito|multa|penas?)\b"
    r"|\b(?:est-(?:ce|il)|y a-t-il|quelle)\b[^?]{0,80}"
    r"\b(?:(?:il)?léga\w+|permis|interdite?s?|délit|amende|peine)\b"
    r"|\b(?:ist|sind|darf|dürfen|welche)\b[^?]{0,80}"
    r"\b(?:(?:il)?legal|erlaubt|verboten|strafbar|strafe|bußgeld)\b[^?]{0,40}\?"
    r"|\b(?:é|são|qual|è|sono)\b[^?]{0,80}\b(?:i?lega(?:l|is)|permitid[oa]|proibid[oa]|crime|multa"
    r"|pena|(?:il)?legal[ei]|permess[oa]|vietat[oa]|reato)\b[^?]{0,60}\?"
    r"|\b(?:законно|незаконно|разрешено|запрещено|можно ли|какой штраф|какое наказание)\b"
    r"|(?:合法|违法|違法|犯法|违规|允许)(?:吗|嗎)|是否(?:合法|违法|違法)|怎么(?:处罚|判)"
    r"|(?:違法|合法|犯罪|禁止)(?:です|なの)か"
    r"|(?:불법|합법|위법)(?:인가|이야|이에요|입니까|인지)"
    r"|هل [^؟]{0,60}(?:قانوني|مسموح|ممنوع|جريمة|يجوز)"
    r"|क्या[^?]{0,60}(?:कानूनी|गैरकानूनी|अवैध|अपराध|अनुमति)",
    re.IGNORECASE,
)
# A question stands at the end.
_LOOKED_AT = 2_000


def asks_what_is_allowed(prompt: str) -> bool:
    """Return whether `prompt` asks if a thing is legal, or how it is punished."""
    return _ASKS.search(prompt, max(len(prompt) - _LOOKED_AT, 0)) is not None
