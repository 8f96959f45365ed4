"""Texts that try to take an assistant over: to override its instructions, to reveal them, or to send secrets away.

Such a text is no fact about a person, no matter who wrote it. Many later conversations read a memory, so one with such
a text is not stored until a person has reviewed it.
"""

from __future__ import annotations

from functools import lru_cache

from mnemic.language.text.pattern import Pattern

_AT_THE_BEGINNING = (
    r"(?:^|[.!?:;,\"'“(\n>*-] ?"
    r"|\b(?:please|now|and|then|to|must|should|you|from now on|henceforth|bitte|und|por favor|et) )"
)
_EARLIER = r"(?:previous|prior|above|preceding|earlier|existing|original|initial|system|safety|your|all|any|former)"
_RULES = r"(?:instructions?|prompts?|rules|guidelines|directives|guardrails|polic(?:y|ies)|restrictions|programming)"
_SECRETS = r"(?:passwords?|passwörter|api[ -]?keys?|credentials|secrets|access tokens?|private keys?|contraseñas"
_SECRETS += r"|mots de passe|senhas|wachtwoorden)"
_ELSEWHERE = r"(?:https?://|www\.|[\w.+-]{1,64}@[\w-]{1,64}\.|\[EMAIL)"

_ORDERS = (
    Pattern(
        rf"{_AT_THE_BEGINNING}(?:ignore|disregard|forget|override|bypass|discard|drop) (?:\w+ ){{0,3}}{_EARLIER} "
        rf"(?:\w+ ){{0,3}}{_RULES}\b",
        2,
    ),
    Pattern(r"\b(?:ignore|disregard|forget) (?:everything|all)(?: that)? (?:above|before this|you were told)\b", 2),
    Pattern(
        r"\b(?:reveal|print|show|repeat|output|display|disclose|leak|give)(?: me)? (?:\w+ ){0,2}"
        r"(?:system|hidden|developer|secret|initial) (?:prompts?|instructions?|messages?)\b",
        2,
    ),
    Pattern(r"\byou are (?:now|no longer) (?:\w+ ){0,4}(?:DAN|jailbroken|unrestricted|unfiltered|bound by)\b", 2),
    Pattern(r"\b(?:enable|enter|activate|you are (?:now )?in) (?:\w+ )?(?:developer|god|jailbreak|dan) mode\b", 2),
    Pattern(
        rf"\b(?:send|forward|e-?mail|post|upload|exfiltrate|leak|transmit|sende|schicke|envía|envoie|invia|stuur)\b"
        rf"[^.!?\n]{{0,60}}\b{_SECRETS}\b[^!?\n]{{0,60}}{_ELSEWHERE}",
        2,
    ),
    Pattern(r"<\|(?:im_start|im_end|system|endoftext|start_header_id)\|?>|\[/?INST\]|<</?SYS>>", 2),
    Pattern(
        r"\b(?:ignorier\w*|vergiss|vergesst|missachte\w*) (?:\w+ ){0,3}"
        r"(?:vorherig|bisherig|früher|obig|vorangegangen)\w* (?:\w+ ){0,2}"
        r"(?:anweisungen|instruktionen|regeln|vorgaben|befehle)\b",
        2,
    ),
    Pattern(
        r"\b(?:ignore[rz]?|oublie[rz]?) (?:\w+ ){0,3}(?:instructions|consignes|règles|directives) "
        r"(?:\w+ ){0,2}(?:précédentes|antérieures|ci-dessus|d'avant)",
        2,
    ),
    Pattern(
        r"\b(?:ignora|ignore|ignorad|olvida|olvide) (?:\w+ ){0,3}(?:instrucciones|órdenes|reglas|indicaciones) "
        r"(?:\w+ ){0,2}(?:anteriores|previas)\b",
        2,
    ),
    Pattern(
        r"\b(?:ignora|ignorate|dimentica|dimenticate) (?:\w+ ){0,3}(?:istruzioni|regole|indicazioni) "
        r"(?:\w+ ){0,2}precedenti\b",
        2,
    ),
    Pattern(
        r"\b(?:ignore|ignora|esqueça|esquece) (?:\w+ ){0,3}(?:instruções|regras|orientações) "
        r"(?:\w+ ){0,2}(?:anteriores|prévias)\b",
        2,
    ),
    Pattern(
        r"\b(?:negeer|vergeet) (?:\w+ ){0,3}(?:vorige|eerdere|voorgaande|bovenstaande) (?:\w+ ){0,2}"
        r"(?:instructies|regels|opdrachten|aanwijzingen)\b",
        2,
    ),
)  # fmt: skip
_READ = 8_000
"""Maximum number of characters of a text that are read."""


@lru_cache(maxsize=256)
def gives_orders_to_override(text: str) -> bool:
    """Return True if a text orders an assistant to override or reveal its instructions, or to send secrets away."""
    return any(order.search(text[:_READ]) for order in _ORDERS)
