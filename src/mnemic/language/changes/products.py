"""Products of which people use one at a time: another replaces it, and the word for its kind may end it."""

from __future__ import annotations

import re
from functools import lru_cache

from mnemic.language.ended_facts.implicit_endings import works
from mnemic.language.frames.statement_frame import Frame, stem
from mnemic.language.frames.vocabulary import product_kinds, products
from mnemic.language.text.pattern import Pattern, WordPattern

_THE = (
    r"(?:the|my|our|this|der|die|das|den|dem|mein\w{0,2}|unser\w{0,2}|le|la|mon|ma|notre|el|mi|nuestr[oa]|il|lo|mi[oa]"
    r"|nostr[oa]|o|a|meu|minha|noss[oa]|de|het|mijn|onze|ons)"
)
KIND = WordPattern(
    rf"\b(?:{_THE} |l'|both |one of (?:my|our|the) |ein\w{{0,2}} (?:meiner|unserer|der) |une? de (?:mes|nos) "
    r"|un[ao] de (?:mis|nuestr[oa]s) |uno? dei (?:miei|nostri) |una delle (?:mie|nostre) "
    r"|uma? d[oa]s (?:meus|minhas|noss[oa]s) |een van (?:mijn|onze) )(?P<noun>[a-z-]{3,20})\b"
)
"""Matches a thing by the word for its kind, in plain letters: "the cat", "my car", "one of our dogs"."""
HAS = WordPattern(
    r"\b(?:have|has|got|own|keep|drive|ride|use|bought|adopted|subscribe|hab|habe|haben|fahre|fahren|besitze\w*|nutze"
    r"|benutze|gekauft"
    r"|adoptiert|ai|avons|a|roule|conduis|utilise|possede|achete|adopte|tengo|tenemos|conduzco|uso|compre|adopte|ho"
    r"|abbiamo|guido|comprato"
    r"|adottato|tenho|temos|dirijo|conduzo|comprei|adotei|heb|hebben|rijd|rijden|gebruik|gekocht|geadopteerd|called"
    r"|named|heisst|appelle|llama|chiama|chama|heet|is|ist|est|es|e)\b|'ve|'s\b"
)
"""Matches a statement that somebody has a thing, or of its kind or name."""
_PARTS = WordPattern(
    r"\b(?:sold|scrapped|stolen|totall?ed|written off|got rid of|gave away|given away|cancell?ed|unsubscribed|verkauft"
    r"|verschrottet|gestohlen|gekundigt|abbestellt|vendue?|vole|resilie|annule|vendi\w*|vendid[oa]|robad[oa]|robaron"
    r"|cancele|cancelad[oa]|vendut[oa]|rubat[oa]|disdett[oa]|roubad[oa]|roubaram|cancelei|verkocht|gestolen|opgezegd)\b"
)
"""Matches a statement that the speaker parted with a thing."""
_REPLACED = WordPattern(
    r"\b(?:from|instead of|not|rather than|von|statt|nicht|au lieu de|en vez de|en lugar de|invece di|em vez de|van"
    r"|in plaats van) (?:the )?[\w.#+-]+"
)
"""Matches a replaced thing."""
_ANY_OF_THEM = WordPattern(rf"{_REPLACED.text}|\b(?:an?|ein\w{{0,2}}|une?|un[ao]?|uma?|een) [\w.#+-]+")
"""Matches a replaced thing, or one introduced as unknown: "I sold a Golf"."""
_NOW = WordPattern(
    r"\b(?:now|these days|jetzt|nun|inzwischen|mittlerweile|maintenant|desormais|ahora|adesso|ora|agora|nu"
    r"|tegenwoordig)\b"
)
_INSTEAD = WordPattern(
    r"\b(?:instead(?! of)|stattdessen|dafur|a la place(?! d)|en su lugar|en lugar de eso|en vez de eso|invece(?! d)"
    r"|al suo posto|em vez disso|em seu lugar|in plaats daarvan)\b"
)
"""Matches a statement that something replaced the one before."""
_INSTEAD_OF = WordPattern(
    r"\b(?:from|instead of|rather than|von|statt|au lieu d[e']|a la place d[eu']|en vez del?|en lugar del?|invece d[i']"
    r"|al posto d[i']|em vez d[eo]|no lugar d[eo]|van|in plaats van)(?: |(?<='))(?:the |my |l')?"
    r"(?P<old>[\w.#+&-]+(?: [\w.#+&-]+)?)"
)
"""Matches the thing that something replaced."""
_OCCASION = WordPattern(
    r"\b(?:at (?P<en>home|work|uni|school)|zu (?P<de>hause)|bei der (?P<de2>arbeit)|a la (?P<fr>maison)"
    r"|au (?P<fr2>travail|bureau)|en (?P<es>casa)|en el (?P<es2>trabajo)|a (?P<it>casa)|al (?P<it2>lavoro)"
    r"|em (?P<pt>casa)|no (?P<pt2>trabalho)|(?P<nl>thuis)|op (?:het|mijn) (?P<nl2>werk)"
    r"|(?:for|fur|pour|para|per|voor) (?:my |the |mein\w* |mes |mis |il |la |os |as |mijn )?(?P<what>[a-z]{3,20})"
    r"(?: (?P<rest>[a-z]{3,20}))?)\b"
)
"""Matches a place or purpose of use."""
_ONE_AT_A_TIME = frozenset({"editors", "browsers", "cars", "phones", "mail", "notes", "systems"})
"""Sorts for which "now" alone indicates a replacement: of others people have two."""
EMPLOYERS = "employers"
LONGEST_NOW = 8
"""Maximum words of a statement in which "now" is evidence of that."""


def another_product(old: Frame, new: Frame) -> bool:
    """Return True if `new` states that a product replaced another of its sort, which `old` names: "I bank with
    Barclays", "I switched to Monzo".
    """
    if new.cues & {"add", "passing", "past"} or old.negated != new.negated:
        return False
    if not (new.cues & {"change", "again"} or has_now(new) or has_instead(new)):
        return False
    if (old.event and "change" not in old.cues) or _on_another_occasion(old, new):
        return False
    if old.subject.startswith("other:") != new.subject.startswith("other:"):
        return False
    mine, theirs = named_products(old), named_products(new, _REPLACED)
    others = [name for name, one in mine.items() if len(one) == 1 and not theirs.get(name, one) <= one]
    if not (new.cues & {"change", "again"} or has_instead(new) or _ONE_AT_A_TIME.issuperset(others)):
        return False
    if others == [EMPLOYERS] and not works(old):
        return False  # a customer may work elsewhere
    return len(others) == 1  # of two sorts one is the purpose: "PyCharm for Python", "IntelliJ for Java"


def names_employer(new: Frame) -> bool:
    """Return True if a statement of the speaker names an employer, and a change."""
    return "change" in new.cues and not new.relations and EMPLOYERS in named_products(new)


def changes_employer(old: Frame, new: Frame) -> bool:
    """Return True if the speaker works for another employer in `new` than in `old`: "I moved to Waitrose"."""
    return EMPLOYERS in named_products(old) and names_employer(new) and another_product(old, new)


def has_now(new: Frame) -> bool:
    """Return True if a short statement names a thing that its speaker has or uses now: "I use Emacs now"."""
    return len(new.tokens) <= LONGEST_NOW and _NOW.search(new.plain) is not None and HAS.search(new.plain) is not None


def _on_another_occasion(old: Frame, new: Frame) -> bool:
    """Return True if `new` names a place or purpose of use, and `old` does not."""
    said = {stem(word) for found in _OCCASION.finditer(new.plain) for word in found.groupdict().values() if word}
    return "change" not in new.cues and bool(said) and said.isdisjoint(map(stem, old.tokens))


def has_instead(new: Frame) -> bool:
    """Return True if a short statement names a thing that its speaker has or uses instead: "I use Todoist instead"."""
    return len(new.tokens) <= LONGEST_NOW and _INSTEAD.search(new.plain) is not None


def takes_place_of_another(old: Frame, new: Frame) -> bool:
    """Return True if `new` names a replaced product, and `old` names another of its sort: "I use Trello", "I use
    Todoist instead of Asana".
    """
    replaced = _replaced(new)
    if not replaced:
        return False
    words, numbered, _ = products()
    theirs = {
        sort: {numbered[sort][one] for one in words.expressions[sort].findall(replaced)}
        for sort in words.likely(replaced)
    }
    return any(theirs.get(sort) and mine.isdisjoint(theirs[sort]) for sort, mine in named_products(old).items())


@lru_cache(maxsize=256)
def _replaced(new: Frame) -> str:
    """Return the words after "instead of" and its equivalents."""
    return " ".join(found["old"] for found in _INSTEAD_OF.finditer(new.plain))


def ends_product(old: Frame, new: Frame) -> bool:
    """Return True if `new` states that the speaker parted with a thing, by its name or the word for its kind, and `old`
    that they have it: "I have a Golf", "I sold the Golf", "I sold the car".
    """
    if old.negated or old.relations or new.relations or not new.cues.isdisjoint({"past", "passing", "add"}):
        return False
    if HAS.search(old.plain) is None:
        return False
    mine = named_products(old)
    return not kinds_parted_with(new).isdisjoint(mine) or any(
        not mine.get(sort, frozenset()).isdisjoint(theirs) for sort, theirs in products_parted_with(new).items()
    )


def products_parted_with(new: Frame) -> dict[str, frozenset[int]]:
    """Return the products that the speaker no longer has according to `new`, by name: "I sold the Golf"."""
    if _PARTS.search(new.plain) is None or new.subject not in ("self", ""):
        return {}
    return named_products(new, _ANY_OF_THEM)


def kinds_parted_with(new: Frame) -> frozenset[str]:
    """Return the sorts of products that the speaker no longer has according to `new`, by the word for the kind."""
    if _PARTS.search(new.plain) is None:
        return frozenset()
    kinds = product_kinds()
    return frozenset(sort for noun in KIND.findall(new.plain) for sort in kinds.get(noun, ()))


def named_products(frame: Frame, apart_from: Pattern | None = None) -> dict[str, frozenset[int]]:
    """Return the products that a statement names, by sort, except those that `apart_from` matches."""
    words, numbered, capitals = products()
    said = apart_from.sub(" ", frame.plain) if apart_from is not None else frame.plain
    found: dict[str, frozenset[int]] = {}
    for sort in words.likely(said):
        names = _last_of_each_name(words.expressions[sort], said)
        if sort == EMPLOYERS:
            names = [one for one in names if not _names_more(one, said, frame)]
        real = [one for one in names if one not in capitals or stem(one.split()[0]) in frame.names]
        if real:
            found[sort] = frozenset(numbered[sort][one] for one in real)
    return found


def _names_more(name: str, said: str, frame: Frame) -> bool:
    """Return True if another name follows directly: "Google Docs" is no employer."""
    found = re.search(rf"\b{re.escape(name)} (?P<next>[\w-]+)", said)
    return found is not None and stem(found["next"]) in frame.names


def _last_of_each_name(words: Pattern, said: str) -> list[str]:
    """Return the matches of the words; of two adjacent ones only the second: the model after a make."""
    found = list(words.finditer(said))
    follows = {one.start() for one in found}
    return [one[0] for one in found if one.end() + 1 not in follows]
