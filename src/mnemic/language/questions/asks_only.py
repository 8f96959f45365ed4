"""Messages of questions only: "Where do I work?" is no fact about its author.

A request that contains a fact ("Can you find a hotel for my trip to Rome?") is no such message.
"""

from __future__ import annotations

import re

from mnemic.language.text.pattern import Pattern

_READ = 200
"""Maximum number of characters of a mere question."""
_WORDS = 14
"""Maximum number of words of a mere question."""
_FOLLOW_UP = 3
"""Maximum number of words of a follow-up question ("And now?")."""
_SENTENCE = re.compile(r"[^.?!]+[.?!]*")
_WHICH = r"(?:who|whom|whose|what|where|when|which|how old|how tall|how many|how much|how long|how often)"
_ASKS = Pattern(
    rf"\A\W*(?:(?:and|so|but|again|ok|okay|hey|hi|please|remind me|tell me)\b,? )*(?:{_WHICH}(?: \w+){{0,2}}"
    r"(?:['’]s| is| are| was| were| am| do| does| did| have| has| had) (?:the )?(?:I|my|we|our|you|he|she|they|it|his"
    r"|her|their|[A-Z]\w+)\b"
    r"|(?:do|did|have) (?:you|I|we)\b(?: still| ever)?"
    r" (?:know|remember|recall|have|tell|told|say|said|mention|mentioned)\b"
    rf"|(?:what|who|where|when)(?:['’]s| is| are| was| were) (?:the |an? )?\w+|{_WHICH} (?:do|does|did) \w+)",
    re.IGNORECASE,
)
_ASKS_ELSEWHERE = Pattern(
    r"\A\W*(?:(?:und|et|y|e|en) )?(?:wo|wer|wem|wen|wann|wie|was|welche[rsnm]?|où|qui|quand|quel(?:le)?s?|comment"
    r"|combien|qu['’]est-ce|dónde|quién|cuándo|cuál(?:es)?|cómo|cuánt[oa]s?|qué|dove|chi|quando|qual[ei]?|come|quant[oiae]"
    r"|onde|quem|quais|como|o que|waar|wanneer|welke?|hoe|wat)\b",
    re.IGNORECASE,
)
_WANTS = Pattern(
    r"\b(?:can|could|would|should|shall|may|might|need|want|recommend\w*|suggest\w*|best|good|some|any|tips?|ideas?|if"
    r"|because|since|kann|soll\w*|könnte\w*|muss|brauche|puis|pourrai[st]|dois|devrais|puedo|debo|necesito|posso|devo"
    r"|preciso|kan|moet|zal|if)\b"
    r"|\bI(?:['’]m|['’]ve|['’]d)\b",
    re.IGNORECASE,
)
"""Matches words of a request, which states its author's purpose."""


def asks_only(text: str) -> bool:
    """Return True if `text` consists of questions that state nothing about their author."""
    text = text.strip()
    if not text or len(text) > _READ or _WANTS.search(text):
        return False
    return all(map(_asks, _SENTENCE.findall(text)))


def _asks(sentence: str) -> bool:
    words = len(sentence.split())
    is_marked = "?" in sentence
    if words > _WORDS:
        return False
    if is_marked and (words <= _FOLLOW_UP or _ASKS_ELSEWHERE.match(sentence)):
        return True
    return _ASKS.match(sentence) is not None and (is_marked or not sentence.rstrip().endswith((".", "!")))
