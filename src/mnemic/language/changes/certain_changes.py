"""Changes that are certain from the words of two statements, whatever their vectors: denials, ages, products,
corrections. Exclusions that are certain too: one statement ends something of another object.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from mnemic.language.changes import disagreements
from mnemic.language.changes.products import (
    another_product,
    ends_product,
    has_instead,
    has_now,
    kinds_parted_with,
    products_parted_with,
    takes_place_of_another,
)
from mnemic.language.compare.frequencies import another_frequency, tells_frequency
from mnemic.language.compare.medicines import another_dose, may_be_medicine
from mnemic.language.ended_facts.denials import denies, denies_of_another, may_deny, may_put_right, puts_right
from mnemic.language.ended_facts.ended_by_others import ended_by_another, of_another_end, tells_such_end
from mnemic.language.ended_facts.ended_courses import drops_course, ends_course
from mnemic.language.ended_facts.ends_of_other_things import (
    at_another_time_of_day,
    of_another_of_its_kind,
    of_the_past_alone,
    on_other_occasions,
)
from mnemic.language.ended_facts.implicit_endings import ends_in_other_words, recounts_by_order, tells_change
from mnemic.language.ended_facts.left_jobs import leaves_place, leaves_work, left
from mnemic.language.frames.frame_expressions import AMENDS, IS, TO_ORDINAL
from mnemic.language.frames.statement_frame import Frame, stem
from mnemic.language.frames.vocabulary import SLOTS, word_classes
from mnemic.language.text.pattern import WordPattern

MAX_AMENDED_WORDS = 4
"""Maximum words of the value in a statement that is only a correction."""
_DOES = frozenset(
    map(
        stem,
        "do doing have go mache fais fait vais hago voy faccio vado faco vou doe ga gehe habe tengo tenho heb".split(),
    )
)
"""Verbs that two statements may share without being about one thing."""
_NO_VALUE = re.compile(r"(?:it|that|this|to|what|how|why|everything|well|every word|das|es|ca|eso|questo|isso|het)\b")
"""After "I meant", no value: "I meant to call", "I meant it"."""
PREPOSITIONS = frozenset(
    "under behind beside inside on in at above below near unter hinter neben auf in sous sur derriere dans en bajo"
    " sobre detras sotto sopra dietro su sob atras em onder achter naast op".split()
)
_MOVES = WordPattern(
    r"\b(?:moved|relocated) (?:back |down |up |out |over |away |in )?(?:to|from|into)\b|\b(?:em|de)menag\w+"
    r"|\b(?:revenu\w*|retourne\w*) (?:vivre|habiter)\b|\bvuelto a vivir\b|\btornat\w+ a vivere\b|\bvolt\w+ a viver\b"
    r"|\b(?:umgezogen|gezogen|verhuisd|trasferit\w+|mudad\w+|me mude|mude a|mudei(?:-me)?|mudamos|mudamo-nos)\b"
)
_TRANSPORTS = WordPattern(
    r"\b(?:(?:mov\w+|relocat\w+|transferr?\w*|help\w*|took|tak\w+|brought|bring\w*|drove|driv\w+|sent|send\w*)"
    r"(?: (?:all(?: of)?|both))? (?:my|our|his|her|their|the|an?|some)"
    r"|(?:demenag\w+|mudad\w+|mude|mudei|mudamos|trasferit\w+|trasferiamo|verhuis\w*|umgezogen|zieh\w*)(?: a)?"
    r" (?:mein\w*|unser\w*|mon|ma|mes|notre|nos|mi|mis|nuestr\w+|(?:il|la|i|le) mi\w+|(?:o|a|os|as) (?:meus?|minhas?)"
    r"|mijn|onze))"
    r" (?P<what>[a-z'-]+(?: [a-z'-]+)?)\b"
)
"""Matches a thing or a person that the speaker takes to another place."""
_OWN_HOUSEHOLD = frozenset({"family", "household", "life", "home", "stuff", "things", "familie", "famille", "familia"})
"""Words for people and things that move with the speaker."""
_ALSO = WordPattern(r"\b(?:also|as well|auch|ebenfalls|aussi|egalement|tambien|anche|pure|tambem|ook|eveneens)\b")
_LIMITED = WordPattern(
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
_ARRIVES = WordPattern(
    r"\b(?:back|zuruck|revenu\w*|vuelto|volvi|tornat\w+|volt\w+|terug)\b|\b(?:seit|since|depuis|desde|da|sinds) \w+"
    r"|\b(?:now|jetzt|nun|inzwischen|maintenant|desormais|ahora|adesso|ora|agora|nu|inmiddels)\b"
)
"""Matches words for residence since some time."""
_ACHES = WordPattern(
    r"\b(?:hurts?|aches?|is sore|is (?:broken|sprained|injured)|(?:tut|tun)\b.{0,40}\bweh|schmerzt|schmerzen|verstaucht"
    r"|gebrochen|mal (?:a|au|aux)|douleurs?|casse|duelen?|dolor|lesionad[oa]|roto|fa(?:nno)? male|dolori?|slogat[oa]"
    r"|rott[oa]|doi|doem|doi-me|dores|partid[oa]|last van|pijn|gekneusd|gebroken)\b"
)
_IS_WELL = WordPattern(
    r"\b(?:(?:is|are|feels?) (?:fine|ok|okay|good|better|healed|much better|all right|alright)(?: again| now)?"
    r"|has healed|(?:ist|sind) (?:wieder|jetzt) (?:gut|gesund|ok|heil|in ordnung)|(?:ist|sind) (?:ver|ab)?heilt|geheilt"
    r"|(?:est|sont) gueri\w*|va(?:nt)? (?:bien|mieux)|(?:ya )?esta(?:n)? (?:bien|mejor|curad[oa]s?)"
    r"|se (?:me )?ha curado|e guarit[oa]|sta (?:bene|meglio)|(?:ja )?esta (?:bom|boa|bem|melhor|curad[oa])"
    r"|is (?:weer|nu) (?:goed|beter|in orde)|is genezen)\b"
)
_WITH_SPEAKER = WordPattern(
    r"\b(?:me|us|myself|and i|i|we|mir|mich|uns|ich|wir|moi|nous|je|j'\w+|on|mi|nos|yo|nosotros|io|noi|ci|eu|connosco"
    r"|conosco|comigo|ik|wij|we|mij)\b"
)
_TOGETHER = WordPattern(r"\b(?:broke|split|separated|divorc\w*|married|engaged|moved in|our)\b")
_PREGNANT = WordPattern(
    r"\b(?:pregnant|expecting (?:a baby|twins|our|my)|schwanger|enceinte|embarazada|incinta|gravida|zwanger)\b"
)
_HAD_BABY = WordPattern(
    r"\b(?:had|have) (?:the|our|my|an?|her|twin) (?:(?:beautiful|healthy|little|baby|small) ){0,2}"
    r"(?:baby|twins|little one|boys?|girls?|son|daughter)\b"
    r"|\b(?:entbunden|accouche|di a luz|partorito|dei a luz|bevallen)\b"
)


def aged(old: Frame, new: Frame) -> bool:
    """Return True if `new` gives a higher age of the same person than `old`."""
    if "age" not in old.attributes & new.attributes or old.subject != new.subject or not old.subject:
        return False
    if "past" in new.cues or (old.names and new.names and old.names.isdisjoint(new.names)):
        return False
    mine, theirs = (tuple(number for number in one.numbers if number.isdigit()) for one in (old, new))
    return len(mine) == len(theirs) == 1 and int(theirs[0]) > int(mine[0])


def relocated(old: Frame, new: Frame) -> bool:
    """Return True if `new` reports that a person moved to, or lives in, another place than in `old`."""
    if "residence" not in old.attributes & new.attributes or not (_MOVES.search(new.plain) or _settles(new)):
        return False
    if old.event and not (_MOVES.search(old.plain) and not _TRANSPORTS.search(old.plain)):
        return False
    if new.cues & {"add", "passing", "past"} or old.negated or new.negated or not new.relations <= old.relations:
        return False
    return old.subject == new.subject != "" and bool(new.names - old.names) and bool(old.names)


def moves_only(old: Frame, new: Frame) -> bool:
    """Return True if `new` reports a move to a place, and `old` names no place and shares at most a date with it: "My
    passport expires in May 2031", "I moved to Genoa in April 2024".
    """
    if "residence" not in new.attributes - old.attributes or not new.names or old.names or not _MOVES.search(new.plain):
        return False
    return not old.attributes & new.attributes and (old.stems & new.stems) <= _of_dates()


@lru_cache(maxsize=1)
def _of_dates() -> frozenset[str]:
    return frozenset(stem(word) for name in SLOTS for word in word_classes()[name])


def _settles(new: Frame) -> bool:
    return not new.event and not new.slots("weekdays") and _ARRIVES.search(new.plain) is not None


def healed(old: Frame, new: Frame) -> bool:
    """Return True if `new` states that a part of the body is well which hurts in `old`."""
    if not _ACHES.search(old.plain) or not _IS_WELL.search(new.plain) or _ACHES.search(new.plain):
        return False
    return not old.negated and not new.negated and bool(old.stems & new.stems) and old.relations == new.relations


def recovers(new: Frame) -> bool:
    """Return True if a statement reports that something is well again, or healed."""
    return _IS_WELL.search(new.plain) is not None


def reassigned(old: Frame, new: Frame) -> bool:
    """Return True if `new` corrects a value of `old`, by naming the thing and another value: "My blood group is A",
    "Actually, my blood group is AB".
    """
    if not old.theme or old.theme != new.theme or not new.cues & {"correct", "weak_correct", "takes_back"}:
        return False
    if new.cues & {"add", "passing", "past"} or old.negated or new.negated or old.subject != new.subject:
        return False
    mine, theirs = _value(old), _value(new)
    return bool(mine and theirs) and mine.isdisjoint(theirs)


def _value(frame: Frame) -> frozenset[str]:
    """Return the words after "is" if they are few enough to be one value."""
    found = IS.match(frame.plain)
    words = frame.plain[found.end() :].strip(" .!").split() if found is not None else []
    return frozenset(words) if len(words) <= MAX_AMENDED_WORDS else frozenset()


def resumes(old: Frame, new: Frame) -> bool:
    """Return True if `new` states that an activity continues that is over in `old`: "I've stopped running", "I'm
    running again".
    """
    over = old.cues & {"end", "weak_end"} and new.cues & {"again"} and not new.cues & {"end", "weak_end"}
    return bool(over) and bool(new.stems) and new.stems <= old.stems and old.subject == new.subject


def delivered(old: Frame, new: Frame) -> bool:
    """Return True if `new` reports the birth after a pregnancy in `old`."""
    if not _PREGNANT.search(old.plain) or _PREGNANT.search(new.plain) or old.negated or new.negated:
        return False
    birth = new.bears_child or _HAD_BABY.search(new.plain)
    return birth is not None and bool(birth) and (old.subject == new.subject or not new.relations - old.relations)


def of_another_object(old: Frame, new: Frame) -> bool:
    """Return True if the two are about two objects: "I'm allergic to cats", "I'm not allergic to dogs"."""
    if moves_another(old, new) or of_another_person(old, new) or denies_of_another(old, new):
        return True
    if takes_place_of_another(old, new) or of_another_end(old, new) or leaves_place(old, new):
        return True
    if of_another_of_its_kind(old, new) or of_the_past_alone(old, new) or at_another_time_of_day(old, new):
        return True
    if on_other_occasions(old, new) or disagreements.in_another_way(old, new):
        return True
    if "end" not in new.cues or not new.negated or new.cues & {"change", "correct"} or old.attributes & new.attributes:
        return False
    shared = old.stems & new.stems - old.called_stems - old.relations
    mine, theirs = _objects(old, shared), _objects(new, shared)
    return bool(mine and theirs) and mine.isdisjoint(new.stems) and theirs.isdisjoint(old.stems)


def of_another_person(old: Frame, new: Frame) -> bool:
    """Return True if `old` is about the speaker alone and `new` about a relative or acquaintance alone: "I'm vegan",
    "My flatmate isn't vegan any more".
    """
    if old.subject != "self" or old.relations or not new.subject.startswith("other:") or new.bears_child:
        return False
    if "relationship" in old.attributes or _TOGETHER.search(new.plain) or not new.subject.removeprefix("other:"):
        return False
    return _WITH_SPEAKER.search(new.plain) is None


def moves_another(old: Frame, new: Frame) -> bool:
    """Return True if `new` states that the speaker takes a thing or a person to another place, and `old` does not
    mention it: "I live in Bonn", "I moved my sister to Kiel".
    """
    if "residence" not in old.attributes & new.attributes:
        return False
    found = _TRANSPORTS.search(new.plain)
    if found is None:
        return False
    what = found["what"].split()
    return _OWN_HOUSEHOLD.isdisjoint(what) and old.stems.isdisjoint(map(stem, what))


def adds_another(old: Frame, new: Frame) -> bool:
    """Return True if `new` states something in addition: "I also have a tomcat called Otto now"."""
    if "add" not in new.cues or new.cues & {"end", "change", "correct", "takes_back"} or new.denied & old.stems:
        return False
    return _ALSO.search(new.plain) is not None and bool(new.names - old.stems)


def is_limited(new: Frame) -> bool:
    """Return True if a statement limits itself to a short time: "only this month"."""
    return "passing" in new.cues and not new.cues & {"correct"} and _LIMITED.search(new.plain) is not None


def on_other_days(old: Frame, new: Frame) -> bool:
    """Return True if `new` begins with a day and names its events, and `old` those of another day: "I do yoga on
    Mondays", "On Tuesdays I now do pilates".
    """
    theirs = opening_day(new)
    mine = (opening_day(old) or frozenset(old.slots("weekdays"))) if theirs else theirs
    if not mine or mine & theirs or new.cues & {"end", "correct", "takes_back"}:
        return False
    if amending(new) is not None:
        return False  # "let's make it Wednesday"
    of_days = {stem(token) for token in (*old.tokens, *new.tokens) if token in word_classes()["weekdays"]}
    return old.stems & new.stems <= of_days | _DOES


def opening_day(frame: Frame) -> frozenset[int]:
    """Return the days of the week among the first two words."""
    words = word_classes()["weekdays"]
    return frozenset(words[token] for token in frame.tokens[:2] if token in words)


def _objects(frame: Frame, shared: frozenset[str]) -> frozenset[str]:
    """Return the stems of the content words after the one that both begin with, as its objects."""
    empty = word_classes()["empty"]
    content = [stem(token) for token in frame.tokens if token not in empty and len(token) > 1]
    return frozenset(content[1:]) if len(shared) == 1 and content and content[0] in shared else frozenset()


def changes_place_in_row(new: Frame) -> bool:
    """Return True if `new` reports a change to another ordinal: "to the sixth floor"."""
    return "change" in new.cues and TO_ORDINAL.search(new.plain) is not None


def amending(new: Frame) -> str | None:
    """Return the value of a statement that is only a correction ("I meant Friday", "make that ten people"), in lower
    case and without accents; None for any other statement.
    """
    found = AMENDS.match(new.plain)
    value = found["value"].strip(" .!,") if found is not None else ""
    if not value or len(value.split()) > MAX_AMENDED_WORDS or " . " in new.plain or _NO_VALUE.match(value):
        return None
    return value


def amends(old: Frame, new: Frame) -> bool:
    """Return True if `new` is only a correction, and its value is of the sort that `old` has: a number for a number, a
    day for a day, a name for a name, a place that begins with the same word ("under the pot").
    """
    value = amending(new)
    if value is None:
        return False
    if new.numbers and old.numbers:
        return bool(new.numbers - old.numbers) and (not new.unnumbered - _opening(new) or _counts_alike(old, new))
    if any(old.slots(name) and new.slots(name) - old.slots(name) for name in SLOTS):
        return True
    first = value.split()[0]
    if first in PREPOSITIONS:
        return first in old.tokens
    return bool(old.names and new.names and not new.names <= old.stems)


def _opening(new: Frame) -> frozenset[str]:
    """Return the stems of the words that only introduce a correction."""
    found = AMENDS.match(new.plain)
    return frozenset(stem(word) for word in new.plain[: found.start("value")].split()) if found else frozenset()


def _counts_alike(old: Frame, new: Frame) -> bool:
    """Return True if the two count the same thing, by the same word or another for it ("people", "guests"), or the
    earlier statement does not name the counted thing.
    """
    return not old.counted or bool(new.unnumbered & old.stems) or len(old.numbers) == 1


@lru_cache(maxsize=256)
def may_change_certainly(new: Frame) -> bool:
    """Return True if one of the rules below may apply to the statement, whatever the earlier one."""
    if new.negated or new.bears_child or "age" in new.attributes or not new.cues.isdisjoint({"change", "again"}):
        return True
    if new.theme and not new.cues.isdisjoint({"correct", "weak_correct", "takes_back"}):
        return True
    if any(words.search(new.plain) for words in _MAY_CHANGE) or amending(new) is not None:
        return True
    if has_instead(new) or tells_such_end(new) or tells_frequency(new) or disagreements.may_be_given_anew(new):
        return True
    if tells_change(new) or leaves_work(new) or drops_course(new) or may_be_medicine(new):
        return True
    return disagreements.tells_state(new)


_MAY_CHANGE = (_MOVES, _HAD_BABY, _ARRIVES, _IS_WELL)
CERTAIN_CHANGES = (
    amends,
    aged,
    denies,
    puts_right,
    resumes,
    relocated,
    healed,
    reassigned,
    delivered,
    another_product,
    disagreements.in_another_state,
    disagreements.given_anew,
    ends_product,
    ends_in_other_words,
    left,
    ends_course,
    recounts_by_order,
    another_dose,
    another_frequency,
    ended_by_another,
)
"""Rules by which the later statement supersedes the earlier one, unless they are about two things."""


@lru_cache(maxsize=256)
def rules_for(new: Frame) -> tuple[Callable[[Frame, Frame], bool], ...]:
    """Return the `CERTAIN_CHANGES` that may apply to a later statement, in order: their conditions on it alone are
    checked once, not again for each earlier statement.
    """
    unsaid = new.cues.isdisjoint({"add", "passing", "past"})
    may_hold = {
        amends: amending(new) is not None,
        aged: "age" in new.attributes,
        denies: may_deny(new),
        puts_right: may_put_right(new),
        resumes: "again" in new.cues,
        relocated: unsaid and "residence" in new.attributes and bool(new.names),
        healed: not new.negated and recovers(new),
        reassigned: unsaid and bool(new.theme),
        delivered: not new.negated and (new.bears_child or _HAD_BABY.search(new.plain) is not None),
        another_product: unsaid and (bool(new.cues & {"change", "again"}) or has_now(new) or has_instead(new)),
        disagreements.in_another_state: disagreements.tells_state(new),
        disagreements.given_anew: disagreements.may_be_given_anew(new),
        ends_product: unsaid and bool(kinds_parted_with(new) or products_parted_with(new)),
        ends_in_other_words: tells_change(new),
        left: leaves_work(new),
        ends_course: drops_course(new),
        recounts_by_order: bool(new.numbers) and AMENDS.match(new.plain) is not None,
        another_dose: may_be_medicine(new),
        another_frequency: "past" not in new.cues and tells_frequency(new),
        ended_by_another: tells_such_end(new),
    }
    return tuple(rule for rule in CERTAIN_CHANGES if may_hold[rule])
