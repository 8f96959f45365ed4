"""Work that the speaker has left, without a word for its place: "I quit my job", "I've handed in my notice"."""

from __future__ import annotations

from functools import lru_cache

from mnemic.language.ended_facts.implicit_endings import works
from mnemic.language.frames.statement_frame import Frame
from mnemic.language.frames.vocabulary import plain
from mnemic.language.text.pattern import WordPattern

_LEFT = WordPattern(
    r"\b(?:quit|left|lost|resigned from|walked out of|chucked in|packed in|jacked in|gave up|given up|am leaving|'m"
    r" leaving)"
    r" (?:my|the) (?:(?P<en>\w+) )?(?:job|work|position|post)\b"
    r"|\b(?:i|i've|i have|i just|i finally)(?: just| finally)? (?:quit|resigned)(?= *(?:$|[.,!;]| (?:today|yesterday"
    r"|last|this"
    r"|on|in|at|from|and|because|without|for good)\b))"
    r"|\b(?:handed|handing|put|gave|given|turned|sent) (?:in |them )?my (?:notice|resignation)\b"
    r"|\b(?:i was|i've been|i got|i have been|i'm being|they|company|boss) (?:just |finally )?(?:been |have |has )?"
    r"(?:laid off|fired|sacked|made redundant|let go|dismissed|let me go|laid me off|fired me|sacked me)\b"
    r"|\bmade me redundant\b|\bi(?:'m| am) (?:now |currently )?(?:out of (?:a job|work)|unemployed|jobless|between"
    r" jobs|retired)\b"
    r"|\bi(?:'ve| have)? (?:just |finally )?retired\b|\bmy last (?:day|shift) at work was\b"
    r"|\b(?:mein\w*|den|die) (?:job|arbeit|stelle|anstellung) (?:habe? ich )?(?:ist |bin ich )?(?:\w+ ){0,2}"
    r"(?:gekundigt|hingeschmissen|geschmissen|verloren|aufgegeben|los|weg)\b"
    r"|\bich habe? (?:\w+ ){0,3}gekundigt\b(?! worden)|\b(?:mir wurde|man hat mir|sie haben mir|mein chef hat mir)"
    r" (?:\w+ ){0,3}gekundigt\b"
    r"|\bich (?:wurde|bin) (?:\w+ ){0,3}(?:entlassen|gefeuert|rausgeflogen|arbeitslos|in rente|pensioniert|im"
    r" ruhestand)\b"
    r"|\b(?:quitte|perdu|lache|plaque) (?:mon|ma) (?:travail|boulot|job|taf|poste|emploi|place)\b|\bj'ai (?:\w+ )?"
    r"(?:demissionne|pose ma demission|donne ma demission)\b|\b(?:j'ai ete|je me suis fait|on m'a) (?:\w+ )?"
    r"(?:licencie|licenciee|vire|viree|licencier|virer)\b|\bje suis (?:maintenant |desormais )?(?:au chomage|a la"
    r" retraite"
    r"|sans emploi|retraitee?)\b"
    r"|\b(?:deje|he dejado|perdi|he perdido|renuncie a|he renunciado a) (?:mi|el) (?:trabajo|empleo|puesto|curro)\b"
    r"|\b(?:me han despedido|me despidieron|me echaron|me han echado)\b(?! (?:de menos|una))|\bpresente mi (?:renuncia"
    r"|dimision)\b"
    r"|\b(?:estoy|me he quedado|me quede) (?:en (?:el )?paro|sin trabajo|sin empleo|desemplead[oa])\b|\bme (?:he"
    r" jubilado|jubile)\b"
    r"|\b(?:ho lasciato|lasciato|perso|mollato) (?:il (?:mio )?)?(?:lavoro|posto|impiego)\b|\bmi sono licenziat[oa]\b"
    r"|\b(?:mi hanno|sono stat[oa]) licenziat[oa]\b|\bho dato le dimissioni\b|\bsono (?:ora |adesso"
    r" )?(?:disoccupat[oa]|in pensione"
    r"|senza lavoro)\b"
    r"|\b(?:deixei|larguei|perdi) (?:o )?(?:meu )?(?:emprego|trabalho)\b|\b(?:demiti-me|me demiti|despedi-me|pedi (?:a"
    r" )?demissao"
    r"|pedi as contas)\b|\b(?:fui|me) (?:demitid[oa]|despedid[oa]|mandad[oa] embora|demitiram|despediram|mandaram"
    r" embora)\b"
    r"|\b(?:estou|fiquei) (?:desempregad[oa]|no desemprego|sem emprego|sem trabalho)\b|\b(?:me aposentei|reformei-me)\b"
    r"|\bmijn (?:baan|werk|job) (?:\w+ ){0,2}(?:opgezegd|kwijt|verloren|kwijtgeraakt|opgegeven)\b|\bik heb (?:\w+"
    r" ){0,3}ontslag"
    r" genomen\b|\bik (?:ben|werd) (?:\w+ ){0,2}(?:ontslagen|werkloos|met pensioen)\b|\bontslag (?:ingediend"
    r"|gekregen)\b"
)
_NOT_NOW = WordPattern(
    r"\b(?:nearly|almost|thinking of|considering|want to|might|going to|would|could|should|never|fast|beinahe|fast"
    r"|will|mochte"
    r"|presque|failli|veux|voudrais|casi|quiero|quisiera|quasi|voglio|vorrei|quase|quero|bijna|wil|zou)\b"
)
"""Matches an end that did not happen."""
_BACKGROUND = WordPattern(
    r"\b(?:since|when|seit|seitdem|depuis que|quand|desde que|cuando|da quando|quando|sinds|toen) (?:\w+ ){0,2}$"
)
"""Matches the opening of a clause with a loss that is known already."""
_LOSING = WordPattern(r"\b(?:losing|quitting|leaving) (?:my|the) (?:\w+ )?(?:job|work|position|post)\b")
_QUALIFIED = frozenset(
    "old previous former last first second other side weekend evening saturday part-time summer student".split()
)


@lru_cache(maxsize=256)
def leaves_work(new: Frame) -> bool:
    """Return True if the speaker states that they have left or lost their work, or names the place they have left."""
    found = _LEFT.search(new.plain)
    if found is None:
        return left_by_name(new) is not None
    if _BACKGROUND.search(new.plain[: found.start()]) is not None:
        return False
    return _NOT_NOW.search(new.plain) is None and "past" not in new.cues


@lru_cache(maxsize=256)
def left_by_name(new: Frame) -> str | None:
    """Return the name that the speaker states they have left or quit, in plain letters; None if there is none. Only the
    known facts about it show if it is an employer.
    """
    if "past" in new.cues or new.relations or _NOT_NOW.search(new.plain) is not None:
        return None
    for part in new.said:
        found = _LEFT_NAME.search(part)
        if found is not None and _BACKGROUND.search(plain(part[: found.start()])) is None:
            return plain(next(name for name in found.groupdict().values() if name)).rstrip(".")
    return None


def leaves_place(old: Frame, new: Frame) -> bool:
    """Return True if `new` states that the speaker has left a place that `old` names only as the place of their work:
    "I'm a nurse in Leeds", "I left Leeds".
    """
    name = left_by_name(new) or ""
    if not name or "residence" in old.attributes or not (works(old) or "job" in old.attributes):
        return False
    placed = any(plain(found["name"]).rstrip(".") == name for part in old.said for found in _IN_PLACE.finditer(part))
    return placed and not _works_for(old, name)


def left(old: Frame, new: Frame, *, is_work: bool = False) -> bool:
    """Return True if `old` gives the speaker's work or workplace (`is_work`: in any words), and `new` states that they
    have left that work.
    """
    if not leaves_work(new) or old.negated or old.subject.startswith("other:") or old.relations - new.relations:
        return False
    if not (is_work or works(old)) or "past" in old.cues:
        return False
    # An end that `old` states already is no new one; and a lost job is not the speaker's own business.
    if (
        _LEFT.search(old.plain)
        or _LOSING.search(old.plain)
        or leaves_work(old)
        or _OWN_BUSINESS.search(old.plain) is not None
    ):
        return False
    if old.names and new.names and old.names.isdisjoint(new.names) and _names_employer(new):
        return False
    found = _LEFT.search(new.plain)
    if found is None and not _works_for(old, left_by_name(new) or ""):
        return False
    which = found["en"] if found is not None else None
    if which is None or which in old.tokens:
        return True
    # After the news of a job, a job named by its kind is another: "my dream job", "my IT job".
    return which not in _QUALIFIED and (which in _PRESENT or _GOT.search(old.plain) is None)


_PRESENT = frozenset({"current", "new", "day", "whole", "full", "full-time", "stressful", "terrible"})
"""Words before a job that do not name its kind."""
_GOT = WordPattern(r"\b(?:got|found|landed|offered) (?:me )?(?:an?|my|the) (?:\w+ ){0,2}(?:job|position|post)\b")
"""Matches the news of a job."""
_OWN_BUSINESS = WordPattern(
    r"\b(?:my|our|mein|unser|mon|notre|mi|nuestr[oa]|mio|mia|nostr[oa]|meu|minha|noss[oa]|mijn|onze)\w{0,2}"
    r" (?:\w+ )?(?:business|store|shop|studio|startup|company|firma|laden|geschaft|entreprise|boutique|magasin|negocio"
    r"|tienda|empresa|azienda|negozio|attivita|loja|bedrijf|zaak|winkel)\b"
)
_NAME = r"[A-ZÀ-Þ][\w&.'’-]{1,30}(?: [A-ZÀ-Þ][\w&.'’-]{1,30}){0,3}"
_ENDS_THERE = (
    r"(?= *(?:$|[.,;!]| (?:last|this|in|on|yesterday|today|after|for good|because|and|[ld]etzte\w*|vor|im|en|le|la|el|"
    r"il|nel|em|no|vorige|afgelopen)\b))(?! (?:in|on|for|and|en) (?:an?|the|my|time|foot)\b)"
)
_LEFT_NAME = WordPattern(
    rf"\b[Ii](?:['’]ve| have| just| finally|['’]ve (?:just|finally|now))? (?:quit|left|resigned from) (?:the )?"
    rf"(?P<en>{_NAME})"
    rf"{_ENDS_THERE}"
    rf"|\b[Ii]ch (?:habe|hab) (?:\w+ ){{0,2}}(?P<de>{_NAME}) (?:\w+ ){{0,3}}(?:verlassen|gekündigt)\b"
    rf"|\b[Ii]ch bin (?:\w+ ){{0,2}}(?:bei(?:m| der)?|von(?: der)?) (?P<de2>{_NAME}) (?:\w+ ){{0,2}}"
    r"(?:weg|raus|fort|ausgeschieden)\b"
    r"|\b[Jj]['’]ai (?:\w+ )?(?:quitté|démissionné de|démissionné de chez|lâché) (?:l['’]|la |le )?"
    rf"(?P<fr>{_NAME}){_ENDS_THERE}"
    rf"|\b(?:[Dd]ejé|[Hh]e dejado|[Mm]e fui de|[Mm]e he ido de|[Rr]enuncié a) (?:el |la )?(?P<es>{_NAME}){_ENDS_THERE}"
    rf"|\b(?:[Hh]o lasciato|[Mm]e ne sono andat[oa] (?:da|dalla|dal)|[Mm]i sono dimess[oa] (?:da|dalla|dal)) "
    rf"(?:l['’]|il |la )?(?P<it>{_NAME}){_ENDS_THERE}"
    rf"|\b(?:[Dd]eixei|[Ss]aí d[aoe]|[Ll]arguei|[Dd]emiti-me d[aoe]) (?:[ao] )?(?P<pt>{_NAME}){_ENDS_THERE}"
    rf"|\b[Ii]k heb (?:\w+ ){{0,2}}(?P<nl>{_NAME}) (?:\w+ ){{0,2}}verlaten\b"
    rf"|\b[Ii]k ben (?:\w+ ){{0,2}}(?:weg|vertrokken|opgestapt) bij (?:de |het )?(?P<nl2>{_NAME})"
)
"""Matches the name of an employer or place that the speaker has left, in the letters of the text."""
_WORKS_FOR = WordPattern(
    r"\b(?:at|for|with|bei|beim|chez|alla|da|dalla|presso|na|no|pela|pelo|bij|employer:"
    r"|(?i:trabaj\w+|curro|emplead[oa]|contratad[oa]|estoy|sigo|llevo)(?: [a-zà-ÿ\d]+){0,4} en)"
    rf"(?: the| der| la| el| de| het)? (?P<name>{_NAME})"
)
_IN_PLACE = WordPattern(rf"\b(?:in|à|a|en|em) (?P<name>{_NAME})")
"""Matches the name of a place after a preposition."""
_EMPLOYER = WordPattern(
    r"(?i:\b(?:at|from|with|for|by|bei|beim|chez|en|de|da|dalla|alla|na|no|pela|pelo|bij|door)) (?:the"
    r" )?[A-ZÀ-Þ][\w&.-]+"
)


def _names_employer(new: Frame) -> bool:
    return any(_EMPLOYER.search(part) for part in new.said)


def _works_for(old: Frame, name: str) -> bool:
    """Return True if a statement names this employer."""
    employers = [match["name"] for part in old.said for match in _WORKS_FOR.finditer(part)]
    return bool(name) and any(plain(one).rstrip(".") == name for one in employers)
