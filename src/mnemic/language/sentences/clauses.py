"""Splitting of a message into sentences and clauses with positions, in time linear in the length of the text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mnemic.language.text.pattern import Pattern

AFTER_ORDINALS = (
    "Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember|Klasse|Stock|Stockwerk|"
    "Etage|Liga|Semester|Schuljahr|Lehrjahr|Schicht|Platz|Geburtstag|Hochzeitstag|Quartal|Halbjahr|Monat|Woche|Kind|"
    "Schwangerschaftswoche|Rang|Reihe|Versuch|Auflage|Bezirk|Stunde"
)
"""Nouns that follow an ordinal number, as alternatives of a pattern."""


_END = Pattern(r"(?<![.!?…])[.!?…]++[\"'”’)\]]*+(?=\s|$)|[。！？]++|\n++")
_ABBREVIATION = Pattern(
    r"(?:^|[\s(])(?:dr|mr|mrs|ms|st|sr|sra|srta|jr|prof|vs|etc|e\.g|i\.e|a\.m|p\.m|no|approx|dept|inc|ltd|[a-z])\.$",
    re.IGNORECASE,
)
_ORDINAL = Pattern(
    rf"\d\.\s(?:{AFTER_ORDINALS})\b",
    re.IGNORECASE,
)
"""An ordinal number in German spelling: "am 3. Mai", "2. Klasse"."""
_SHORT_DATE = Pattern(r"(?<!\d)\d{1,2}\.\d{1,2}\.\s{1,3}[a-zäöü]")
"""A date in German spelling within a sentence: "bis 3.1. dorthin"."""
_DATE_BACK = 5
"""Number of characters of such a date before its last full stop."""
LONGEST_NOUN = 24
"""Maximum number of characters from a full stop to the end of such a noun."""
_SUBJECT = (
    r"(?:i(?!\s{1,3}(?:at|in|for|from|on|near|to|with)\b)|i'm|i’m|i've|i’ve|i'd|i’d|i'll|i’ll|im|my|mine|we|we're|we've|we'll|our|he|she|they|it|that's|"
    r"maybe|perhaps|"
    r"please|remember|note|always|never|don't|do not|from now on|use|keep|write|reply|answer|respond|call me|send|"
    r"avoid|skip|ignore|leave out|"
    r"can you|could you|would you|will you|what|which|where|when|who|how|why|is there|are there|do you|"
    r"find|book|show|tell|give|yo|mi|mis|me|soy|estoy|tengo|vivo|trabajo|prefiero|recuerda|siempre|nunca|usa|"
    r"escribe|responde|mantén|manten)"
)
_BREAK = Pattern(
    r"(?:;|—|(?<!\s)\s++[–—-]{1,2}(?=\s))\s*+"
    rf"|,\s++(?:(?:and|but|so|then|also|or|y|pero|e)\s++)?(?={_SUBJECT}\b)"
    rf"|(?<!\s)\s++(?:and|but|(?<!make it\s)(?<!makes it\s)(?<!made it\s)so|because|since|y|pero|porque)\s++"
    rf"(?:(?:also|then|también)\s++)?(?={_SUBJECT}\b)"
    # "Loud but okay" is one clause.
    r"|(?<!\s)\s++(?:but|pero)\s++(?=\S++\s++\S++\s++\S)",
    re.IGNORECASE,
)


_TAG = Pattern(
    r"(?<=\w)(?:\s?[,.–—-])?\s{1,2}¿?(?:ok(?:ay)?|got (?:it|that)|alright|all right|understood|deal|please|pls|thanks|"
    r"(?:will|would|could|can) (?:you|u)|bitte|verstanden|in ordnung|d'accord|compris|s'il (?:te|vous) plaît|"
    r"vale|entendido|por favor|va bene|capito|per favore|tá(?: bom)?|combinado|oké|goed|begrepen|alsjeblieft)"
    r"\s?\?+[\"'”’)]*\Z",
    re.IGNORECASE,
)
"""Ends an order or a statement, which its question mark does not make a question: "I love jazz, got it?"."""
_QUESTION_COMMA = Pattern(
    r",\s++(?:(?:and|but|so|or|y|pero|und|aber|et|mais|e|ma|mas|en|maar|dus)\s++)?"
    r"(?=¿|any\b|(?:wh(?:at|ich|ere|en|o|om|ose|y)|how)(?:['’](?:s|re|d))?\b"
    r"|(?:can|could|should|shall|may|might|will|would|do|does|did|is|are|am|was|were|have|has)(?:n['’]t)?\s"
    r"(?:i|you|we|he|she|it|they|there|this|that|these|those|my|your|our|his|her|their|the|an?|any|some)\b"
    r"|(?:was|welche[rsnm]?|wer|wie|wo|wann|warum|womit|kann|könn(?:t)?en?|darf|soll(?:te)?|muss|gibt|geht)\s"
    r"|(?:qué|cuál(?:es)?|cómo|dónde|cuándo|puedo|puedes|debo|hay|qual|quais|como|onde|quando|posso|devo)\s"
    r"|(?:est-ce|qu['’]est|quel(?:le)?s?|comment|où|quand|pourquoi|puis-je|est-il|peux-tu|pouvez-vous|dois-je)\b"
    r"|(?:che|cosa|quale|come|dove|perché|wat|welke?|waar|wanneer|hoe|waarom|kan|mag|moet)\s)",
    re.IGNORECASE,
)
"""The comma before a question's own words, of which none stands at the beginning of a statement's second part: what
is told before it is told: "I'm on warfarin, can I take ibuprofen?".
"""
_REQUESTED = Pattern(r"(?:can|could|would|will) (?:you|u)\b", re.IGNORECASE)
_TOLD = Pattern(r"(?:i|i['’](?:m|ve)|my|we|we['’](?:re|ve)|our)\s", re.IGNORECASE)
_ASKING = Pattern(r"(?:what|which|where|when|who|how|why)\b", re.IGNORECASE)
"""Words that begin a clause in a question; in other sentences they continue the clause before them."""


LOOK_BACK_CHARS = 200
"""How far a rule about a clause looks back: more than a connective and what it joins take."""


@dataclass(frozen=True, slots=True)
class Clause:
    """Clause: its text and position, its sentence and the sentence's position, and its index in the sentence (from 0);
    `asks` is True if it is a question: the last clause of a sentence that ends in a question mark, or the request
    before it.
    """

    text: str
    start: int
    end: int
    sentence: str
    sentence_start: int
    position: int
    asks: bool

    @property
    def words_before(self) -> str:
        """The end of what stands before the clause in its sentence. Only so much, as every clause of a text without a
        full stop would otherwise read all of the text before it.
        """
        start = self.start - self.sentence_start
        return self.sentence[max(0, start - LOOK_BACK_CHARS) : start]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the position in the message of the clause's characters `start` to `end`."""
        return self.start + start, self.start + end


def sentences(text: str) -> list[tuple[int, int]]:
    """Return the sentences of `text` as (start, end), white space trimmed, closing punctuation included."""
    found, start = [], 0
    for mark in _END.finditer(text):
        if mark[0] == "." and _ABBREVIATION.search(text, max(start, mark.start() - 8), mark.end()):
            continue
        if mark[0] == "." and _ORDINAL.search(text, max(start, mark.start() - 1), mark.end() + LONGEST_NOUN):
            continue
        if mark[0] == "." and _SHORT_DATE.search(text, max(start, mark.start() - _DATE_BACK), mark.end() + 4):
            continue
        found.append((start, mark.end()))
        start = mark.end()
    found.append((start, len(text)))
    return [span for span in (_trim_span(text, *pair) for pair in found) if span[0] < span[1]]


def clauses(text: str) -> list[Clause]:
    """Return the clauses of `text` in order. A new clause begins at a new subject or order, not at every comma."""
    found = []
    for first, last in sentences(text):
        start = first
        pieces = []
        sentence = text[first:last]
        question = sentence.rstrip("\"'”’) ").endswith(("?", "？"))
        for gap in _BREAK.finditer(text, first, last):
            if not question and gap[0].startswith(",") and _ASKING.match(text, gap.end()):
                continue
            pieces.append((start, gap.start()))
            start = gap.end()
        if question and (asking := _QUESTION_COMMA.search(text, start, last)) is not None:
            pieces.append((start, asking.start()))
            start = asking.end()
        tag = _TAG.search(sentence) if question else None
        if tag is not None and first + tag.start() > start:
            pieces.append((start, first + tag.start()))
            start = first + tag.end() - len(tag[0].lstrip(" ,.–—-¿"))
        pieces.append((start, last))
        trimmed = [span for span in (_trim_span(text, *piece) for piece in pieces) if span[0] < span[1]]
        asked = len(trimmed) - 1
        # "Can you check this recipe, my daughter can't have dairy?"
        if question and asked and _REQUESTED.match(sentence) and _TOLD.match(text, trimmed[-1][0]):
            asked, (told, _) = 0, trimmed[-1]
            trimmed[-1] = told, told + len(text[told:last].rstrip(" ?？"))
        found += [
            Clause(text[start:end], start, end, sentence, first, number, question and number == asked)
            for number, (start, end) in enumerate(trimmed)
        ]
    return found


def is_tag(sentence: str) -> bool:
    """Return True if only a tag makes a sentence a question: "Remember it, ok?"."""
    return _TAG.search(sentence) is not None


def clause_around(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the clauses around the characters `start` to `end`, as one span."""
    touched = [clause for clause in clauses(text) if clause.start < end and clause.end > start]
    return (touched[0].start, touched[-1].end) if touched else (start, end)


def _trim_span(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())
