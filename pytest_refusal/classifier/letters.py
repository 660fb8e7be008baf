"""Letters and mails that a response writes for somebody: what they decline is his to decline.

They are known by a line of greeting and one of parting.
"""

from __future__ import annotations

import re

# They fill a line, with no more than a name.
_GREETINGS = (
    "dear|hi|hello|hey|good (?:morning|afternoon|evening)|to whom it may concern",
    "(?:muy )?estimad[oa]s?|querid[oa]s?|hola|buen[oa]s (?:días|tardes)",
    "ch(?:er|ère)s?|bonjour|madame|monsieur|coucou|salut",
    "sehr geehrte[rs]?|liebe[rs]?|hallo|guten (?:tag|morgen)",
    "prezad[oa]s?|car[oaie]s?|ex(?:celentíssim|m)[oa]s?|olá|oi|bo[am] (?:dia|tarde)",
    "gentil(?:e|i|issim[oaie])|egregi[oa]?|ciao|buongiorno|spettabile",
    r"уважаем\w+|дорог\w+|здравствуйте|привет|добрый день",
    "尊敬的|敬爱的|敬愛的|亲爱的|親愛的",
    r"عزيز\w*|السيدة?|الأستاذة?|حضرة|مرحب\w*|السلام عليكم",
    "प्रिय|आदरणीय|माननीय|नमस्ते",
)
_AFTER_A_NAME = "様|さん|殿|先生|님께?|씨께|에게"
_PARTINGS = (
    r"(?:kind|best|warm|many)(?: regards| wishes| thanks)?|regards|(?:\w+ )?yours|sincerely",
    "all (?:the|my) best|take care|warmly|talk soon|respectfully|cheers|thanks|thank you|love",
    "atentamente|(?:un )?saludos?|(?:un )?(?:fuerte )?abrazos?|besos|con cariño|cordialmente",
    "(?:bien )?cordialement|bien à (?:vous|toi)|bises",
    r"(?:je vous prie d'|veuillez )agréer[^\n]{0,60}",
    r"mit (?:\w+ ){1,3}gr(?:ü|ue)(?:ß|ss)en|(?:\w+ )?gr(?:ü|ue)(?:ß|ss)e|alles liebe",
    "atenciosamente|(?:um )?abraços?|(?:com os )?(?:melhores )?cumprimentos",
    "(?:cordiali |distinti )?saluti|un (?:caro )?(?:saluto|abbraccio)",
    "с уважением|с наилучшими|искренне|обнимаю|всего доброго",  # noqa: RUF001 (Cyrillic)
    "此致|祝好|顺祝|順祝|敬上|敬具|何卒よろしく|よろしくお願い|감사합니다",
    "مع (?:خالص|أطيب|فائق|التحية)|تحياتي|وتفضلوا|المخلص",
    "सादर|भवदीय|शुभकामनाओं",
)
# Up to the end of the line there may be short forms, but no sentence.
_GREETING = re.compile(
    rf"\n[ \t]*(?:(?:{'|'.join(_GREETINGS)})(?![\w'])(?![^\n]*\w{{5}}\.)"
    r"[^\n,:!?\uff0c\uff1a]{0,60}[,:\uff0c\uff1a]"
    rf"|[\w ]{{1,16}}(?:{_AFTER_A_NAME})[,:\uff0c\uff1a\u3001]?)[ \t]*\n",
    re.IGNORECASE,
)
_PARTING = re.compile(rf"\n[ \t]*(?:{'|'.join(_PARTINGS)})[^\n]{{0,30}}(?:\n|$)", re.IGNORECASE)


def letter_in(text: str) -> tuple[int, int] | None:
    """Return where a letter stands in `text`, from its greeting to its parting."""
    # Only names of other scripts greet without a mark; most texts are done with here.
    if text.isascii() and ",\n" not in text and ":\n" not in text:
        return None
    # A line is found the quickest by the end of the one before.
    lines = "\n" + text
    greeting = _GREETING.search(lines)
    parting = _PARTING.search(lines, greeting.end() - 1) if greeting else None
    return (greeting.start(), parting.end() - 1) if greeting and parting else None
