"""Typed facts: the values that a clause gives for keys, by the tables of patterns."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mnemic.language.lexicon import no_places
from mnemic.language.sentences.exclusion_rules import NEGATED, WISH
from mnemic.language.sentences.tables import Rule, english, spanish, tidy
from mnemic.language.text.analyse import terms
from mnemic.language.text.normalise import plain
from mnemic.language.text.pattern import Pattern
from mnemic.language.text.stated_values import values_in
from mnemic.policy.key_rules import Policy

_TYPED = (*english.RULES, *spanish.RULES)
_REJECTED_ALTERNATIVE = Pattern(
    r"\s(?:over|rather than|instead of|not|but not|en lugar de|en vez de)\s.*|(?<!prefer)(?<!prefiero)\s(?:to|"
    r"a)\s(?:the\s)?"
    r"(?:window|aisle|middle|morning|afternoon|evening|night|early|late)\b.*",
    re.IGNORECASE,
)
_CONDITION = Pattern(
    r"\b(?:on|for|when|whenever|if|unless|except|only|during|with|under|over|while|bei|wenn|für|pour|quand|sur|"
    r"para|cuando|en|"
    r"per|quando|su|em|voor|als|bij) (?:the |my |an? )?(?:long|short|longer|night|domestic|international|"
    r"business|work|family|"
    r"weekends?|holidays?|flights? (?:over|under|longer|shorter)|trips?|kids|anything)\b",
    re.IGNORECASE,
)
"""A circumstance that a value alone would lose ("aisle on short flights")."""
_LIMITED = Pattern(
    r"\b(?:only|just) (?:for )?(?:this|today|tonight|tomorrow)\b|\bfor (?:the|these) (?:next|coming) (?:\w+ )?"
    r"(?:days?|nights?|weeks?|months?|weekend)\b|\bfor (?:the time being|this (?:week|month|weekend|trip|time))\b"
    r"|\b(?:nur|bloss) (?:fur )?(?:heute|morgen|dies\w+)\b"
    r"|\bfur die nachsten (?:\w+ )?(?:tage|wochen|monate)\b|\b(?:seulement|juste|uniquement) (?:pour )?(?:ce|cette"
    r"|aujourd'hui|ces)\b|\bpour les (?:\w+ )?prochain\w+ (?:jours|semaines|mois)\b|\b(?:solo|solamente) (?:por )?"
    r"(?:est[ea]|hoy)\b|\b(?:durante|por) l[oa]s proxim[oa]s \w+ (?:dias|semanas|meses)\b"
    r"|\bsolo (?:per )?(?:oggi|quest\w+)"
    r"|\bper (?:i|le) prossim[ei] \w+ (?:giorni|settimane|mesi)\b|\b(?:so|apenas) (?:por )?(?:hoje|est[ea])\b"
    r"|\bn[oa]s proxim[oa]s \w+ (?:dias|semanas|meses)\b|\balleen (?:vandaag|deze|dit)\b"
    r"|\bde komende \w+ (?:dagen|weken|maanden)\b"
)
"""Matches words that limit a statement to a short time."""
_COMPANY = Pattern(r"(?:with|mit|avec|con|com|met)\b", re.IGNORECASE)
"""Begins a circumstance that is no condition of who one is: "I moved to York with the kids"."""
_LIST = Pattern(r"(?:(?<!\s)\s++)?,\s*(?:and |or |y |o )?|(?<!\s)\s++(?:and|or|y|o|&) ", re.IGNORECASE)
_SAME_EVERYWHERE = re.compile(
    r" (?:now|these days|at the moment|right now|currently|though|btw|by the way)$", re.IGNORECASE
)
_FORBIDDEN = re.compile(
    r"\b(?:don't|do not|never|stop|not|no longer|can't|cannot|won't)"
    r"(?: (?:ever|please|you|again|want|need|to|just)){0,3}\s*$"
    r"|(?<![^\s])(?:(?:ya )?no|nunca|jamás|tampoco)(?: (?:me|nos|lo|la))?\s+$",
    re.IGNORECASE,
)
"""Before a fact it negates it, or makes it unwanted: "Don't ever call me darling", "Ya no vivo en Lugo"."""
_NO_VALUE = re.compile(r"(?:not|never|no longer|anything but|isn't|aren't)\b", re.IGNORECASE)
_NAMELESS = re.compile(r"^(?:ones?|those|the ones?|called|named|when|that|because) ?", re.IGNORECASE)
_NAMES = re.compile(r"(?<=[a-z,] )[A-ZÀ-Þ][\w'-]+")
_LONG_AGO = re.compile(
    r"(?i)\b(?:when (?:i|we) (?:was|were)|as an? (?:child|kid|baby|toddler|teenager|student)|back in (?:19|20)\d\d"
    r"|cuando (?:era|tenía|éramos)|de (?:niñ[oa]|pequeñ[oa]))\b"
)
"""Matches a move to a place in another time of life, where the person need not live now."""
_LIGHT = frozenset(
    terms(
        "i me my mine we us our you your he she it they am is are was be been have has had do does "
        "did the a an and or of "
        "in on at to for with as from by that this so but not no please always really prefer like "
        "love live work want name "
        "use used get take just also only now favourite favorite "
        "colour very seat flight time city home call keep make write "
        "answer reply channel tier plan "
        "yo mi mis me vivo vivimos en trabajo trabajamos llamo es un una el la de para prefiero"
    )
)
"""Words that a key already contains, or that mean little."""


def typed_facts(text: str, lasting: bool, policy: Policy) -> Iterator[tuple[Rule, str, str]]:
    """Yield the typed facts of a clause as (rule, key, value), one per key (several if the key has several values).

    If policy accepts statements without a key, a value that depends on a condition or is true for a short time only is
    left to the whole statement.
    """
    # "Tea rather than coffee" must not give coffee, but its conditions are part of the whole.
    whole, text = text, _REJECTED_ALTERNATIVE.sub("", text) or text
    in_company = False
    if policy.allows_keyless:
        conditions = list(_CONDITION.finditer(whole))
        in_company = bool(conditions)
        if any(_COMPANY.match(one[0]) is None for one in conditions) or _LIMITED.search(plain(whole)):
            return
    if not in_company:
        yield from _favourite(whole)
    yield from _by_rules(whole, text, lasting, policy, in_company=in_company)


def _by_rules(
    whole: str, text: str, lasting: bool, policy: Policy, *, in_company: bool
) -> Iterator[tuple[Rule, str, str]]:
    """Yield the facts that the tables read; in company only those that identify a person."""
    # Several rules may read one key from a clause; the first in the table wins.
    taken: set[str] = set()
    for rule in _TYPED:
        if rule.key is None or rule.key in taken or (rule.lasting and not lasting):
            continue
        if in_company and rule.category != "identity":
            continue
        if rule.wish and (not (lasting or WISH.search(text)) or NEGATED.search(text)):
            continue
        if rule.key == "home_city" and _LONG_AGO.search(whole):
            continue
        values = [value for value in _values(rule, text) if value and not _is_no_place(rule.key, value)]
        # Several values go under a key only where an operator asks for that: else the whole sentence is kept.
        asked = rule.key in (policy.keys or {}) and policy.rule(rule.key).on_change == "accumulate"
        if not values or (rule.many and not asked):
            continue
        # After the checks, so that a rule without a usable value leaves the key to the next one.
        taken.add(rule.key)
        for value in values if rule.many else values[:1]:
            yield rule, rule.key, value


def says_more(statement: str, values: list[str], *, least: int = 2) -> bool:
    """Return True if a statement has more content than the values that were read of it: `least` words, or a name ("I
    work at Aldi and live in Bonn").
    """
    names = set(terms(" ".join(values))) | _LIGHT
    besides = {term for term in terms(statement) if term not in names and len(term) > 1}
    return len(besides) >= least or not besides.isdisjoint(terms(" ".join(_NAMES.findall(statement))))


def _favourite(text: str) -> Iterator[tuple[Rule, str, str]]:
    found = english.FAVOURITE.search(text)
    if found is None:
        return
    # "Now" and "though" belong to the sentence, not to the value.
    value = _SAME_EVERYWHERE.sub("", tidy(found["v"]))
    if not (_NAMELESS.match(value) or _NO_VALUE.match(value)) and not re.search(
        r"\b(?:ones?|pieces|things?)$", found["k"]
    ):
        key = "favorite_" + "_".join(found["k"].lower().replace("colour", "color").split())
        yield Rule(pattern=english.FAVOURITE, category="preference"), key, value


def _is_no_place(key: str, value: str) -> bool:
    """Return True if one "moves to" a product, an employer or a day and not to a place: "I moved to Slack", "I moved to
    Waitrose", "we moved to Monday".
    """
    if key != "home_city":
        return False
    if _ORGANISATION.search(value):
        return True
    return plain(value) in no_places() or any(one.sort == "time" for one in values_in(f"in {value}"))


_ORGANISATION = Pattern(
    r"\b(?:bank|hospital|university|college|school|council|ltd|inc|llc|plc|gmbh|ag|group|airlines|airways|motors|hotels?"
    r"|clinic|institute|department|ministry|agency|studios?|consulting|software|technologies|insurance|partners)\.?\Z",
    re.IGNORECASE,
)
"""Ends the name of an organisation."""


def _values(rule: Rule, text: str) -> list[str | None]:
    match = rule.pattern.search(text)
    if match is None or _FORBIDDEN.search(text[: match.start()]):
        return []
    # A pattern has one group for each word order, and only one of them matches.
    spoken = next((value for value in match.groupdict().values() if value), "")
    if _NO_VALUE.match(spoken):
        return []
    parts = _LIST.split(spoken) if rule.many else [spoken]
    return [rule.spell(_SAME_EVERYWHERE.sub("", part)) for part in parts]
