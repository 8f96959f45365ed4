"""Main clause from a subordinate one: "dass ich freitags keine Termine habe" is stored as "ich habe freitags keine
Termine". German and Dutch put the verb last after "dass" and "dat"; other languages keep its place.

Only certain clauses are reordered: one subject with a known end, one verb, no further clause.
"""

from __future__ import annotations

from collections.abc import Callable

from mnemic.language.sentences.disputes import without_dispute
from mnemic.language.text.pattern import Pattern, plain_letters

_OPENING = Pattern(
    r"(?i)^(?:(?:please|also|and|so|well|oh|hey|hi|hello|by the way|btw|ok|okay|just|fyi|por favor|y|además)\b[,:]?"
    r"\s+)+"
)
_LEFT_OPEN = Pattern(r"(?i)(?<=[\w'’\")])[\s,]+(?:and|or|but|und|oder|aber|et|ou|mais|pero)[\s,;:.–—-]*\Z")
"""A conjunction at the end: the clause that it joined is not stored."""

_DE_SUBJECT = Pattern(
    r"(?P<who>(?i:ich|du|er|sie|es|wir|ihr|man|das|dies)|(?i:mein|dein|sein|ihr|unser|euer|der|die|das|ein|kein|dieser"
    r"|diese|dieses)(?:e|er|es|en|em)? (?:[a-zäöüß]{3,20}(?:e|er|es|en) ){0,2}[A-ZÄÖÜ][\w-]*)(?= [^A-ZÄÖÜ\d])"
)
_NL_SUBJECT = Pattern(
    r"(?i)(?P<who>ik|jij|je|hij|zij|ze|wij|we|jullie|het|men|dat|(?:mijn|m'n|jouw|zijn|haar|onze|ons|de|het|een)"
    r" (?:(?:\w{2,16}e|oud-\w+) )?(?:\w*(?:vader|moeder|ouders|broer|zus|zusje|broertje|zoon|dochter|kind|kinderen|man"
    r"|vrouw|partner|vriend|vriendin|collega|baas|buurman|buurvrouw|oma|opa|oom|tante|neef|nicht|hond|kat|auto|fiets"
    r"|huis|team|bedrijf|naam|adres|nummer|verjaardag|trein|vlucht|afspraak|school|zaak)))(?= \w)"
)
_DE_AUXILIARY = Pattern(
    r"\b(?:bin|bist|ist|sind|seid|war|waren|habe|hab|hast|hat|haben|hatte|hatten|kann|kannst|können|muss|musst|müssen"
    r"|darf|darfst|dürfen|will|willst|wollen|soll|sollst|sollen|mag|magst|mögen|möchte|möchten|werde|wirst|wird|werden"
    r"|weiß|wissen)\b"
)
_NL_AUXILIARY = Pattern(
    r"\b(?:ben|bent|is|zijn|was|waren|heb|hebt|heeft|hebben|had|hadden|kan|kunt|kunnen|moet|moeten|mag|mogen|wil|wilt"
    r"|willen|zal|zult|zullen|word|wordt|worden|hoef|hoeft|hoeven)\b"
)
_NL_VERB = (
    "eet|eten|drink|drinkt|drinken|woon|woont|wonen|werk|werkt|werken|rook|rookt|roken|slaap|slaapt|slapen|leef|leeft"
    "|leven|hou|houd|houdt|houden|haat|haten|heet|heten|speel|speelt|spelen|studeer|studeert|studeren|gebruik|gebruikt"
    "|gebruiken|rij|rijd|rijdt|rijden|fiets|fietst|fietsen|loop|loopt|lopen|ga|gaat|gaan|kom|komt|komen|neem|neemt"
    "|nemen|vind|vindt|vinden|zoek|zoekt|zoeken|lees|leest|lezen|schrijf|schrijft|schrijven|spreek|spreekt|spreken"
    "|leer|leert|leren|koop|koopt|kopen|draag|draagt|dragen|zit|zitten|sta|staat|staan|lig|ligt|liggen|verdraag"
    "|verdraagt|verdragen|reis|reist|reizen|train|traint|trainen|begin|begint|beginnen|verhuis|verhuist|verhuizen"
)
_NL_ENDS = Pattern(rf" (?:{_NL_VERB})$")
_DE_PLURAL = frozenset({"wir"})
_DE_FIRST = frozenset({"ich"})
_DE_NO_VERB = frozenset("heute gerne alleine bitte lange danke ohne viele keine meine nicht oft jetzt seit".split())
_SEPARABLE = (
    "ab an auf aus bei ein fest fort her hin los mit nach vor weg weiter wieder zu zurück zusammen um unter über"
).split()
"""Prefixes that a verb leaves at the end of its clause ("anfange", "fange an"): such verbs are not moved."""
_LEADS = Pattern(r"(?i)\b(?:dass|daß|dat)\s*$")
_FURTHER = Pattern(
    r"[,;:]|\b(?:und|oder|aber|sondern|weil|wenn|dass|damit|ob|als ob|en|of|maar|omdat|want|dat|die|waar)\b"
)


def in_main_order(opening: str, said: str) -> str:
    """Return the text after an `opening` ("Remember that"), as a main clause if "dass" or "dat" introduced it."""
    return main_clause(said) if _LEADS.search(opening) else said


def main_clause(text: str) -> str:
    """Return a German or Dutch clause after "dass" or "dat" in the order of a main clause; `text` unchanged if that
    order is not certain.
    """
    body = text.rstrip(" .!")
    tail = text[len(body) :]
    turned = _turn_clause(body, _DE_SUBJECT, _german_verb) or _turn_clause(body, _NL_SUBJECT, _dutch_verb)
    return f"{turned}{tail}" if turned else text


def _turn_clause(body: str, subjects: Pattern, verb_of: Callable[[str, str], tuple[int, int] | None]) -> str | None:
    subject = subjects.match(body)
    if subject is None:
        return None
    rest = body[subject.end() :].strip()
    if _FURTHER.search(plain_letters(rest).lower()):
        return None
    place = verb_of(subject["who"], rest)
    if place is None:
        return None
    start, end = place
    others = f"{rest[:start].rstrip()} {rest[end:].lstrip()}".strip()
    return f"{body[: subject.end()]} {rest[start:end]} {others}".rstrip()


def _only_match(pattern: Pattern, rest: str) -> tuple[int, int] | None:
    """Return the span of the only match of a pattern."""
    found = list(pattern.finditer(rest))
    return found[0].span() if len(found) == 1 else None


def _german_verb(who: str, rest: str) -> tuple[int, int] | None:
    auxiliary = _only_match(_DE_AUXILIARY, rest)
    if auxiliary is not None or _DE_AUXILIARY.search(rest):
        return auxiliary
    start = rest.rfind(" ") + 1
    last = rest[start:]
    person = who.split(maxsplit=1)[0].lower()
    ending = "e" if person in _DE_FIRST else "n" if person in _DE_PLURAL else "t"
    if not last.islower() or not last.endswith(ending) or last in _DE_NO_VERB:
        return None
    return None if last.startswith(tuple(_SEPARABLE)) else (start, len(rest))


def _dutch_verb(_: str, rest: str) -> tuple[int, int] | None:
    auxiliary = _only_match(_NL_AUXILIARY, rest)
    if auxiliary is not None:
        return auxiliary
    verb = _NL_ENDS.search(f" {rest}")
    return None if verb is None else (verb.start(), verb.end() - 1)


def as_sentence(text: str) -> str:
    """Return the words as a sentence: without opening words, capitalised, with a full stop."""
    content = without_dispute(_OPENING.sub("", text.strip())).strip(" ,;:-–—")
    content = _LEFT_OPEN.sub("", content)
    if not content:
        return ""
    content = content[0].upper() + content[1:]
    return content if content[-1] in '.!?。！？…"”' else content + "."
