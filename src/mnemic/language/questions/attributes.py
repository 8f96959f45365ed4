"""Questions about a common attribute, phrased otherwise in statements ("how old", "what ... called", "for a living") or
under a well-known key that they do not name ("Where do I live?" asks for `home_city`), and what a statement tells of
its author's work.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType

from mnemic.language.text.pattern import Pattern

READ = 300
"""Maximum number of characters of a question, or of a statement, that are parsed."""
_JOB = "work works worked job profession career occupation employed"
_PHRASES = (
    (Pattern(r"\bdo(?:es)?(?= (?:for|as) (?:a living|work|a job)\b)", re.IGNORECASE), " "),
    (Pattern(r"\b(?:for|as) (?:a living|work|a job)\b", re.IGNORECASE), " job work "),
    (Pattern(r"(?<=\bwhat do )(I|we|you)( do)\b(?=\W*$)", re.IGNORECASE), r"\1 job work"),
    (Pattern(r"(\bwhat does [^?.!]{1,60}?) do\b(?=\W*$)", re.IGNORECASE), r"\1 job work"),
    (Pattern(r"(?<=\w )(?:called|named)\b(?=\W*$)|\bnames? of\b|(?<=['’]s )name\b", re.IGNORECASE), " "),
    (Pattern(r"(\bwhere\b.{1,40}?) (?:come |coming )?from\b(?=\W*$)", re.IGNORECASE), r"\1 originally hometown"),
)
"""Phrases with words that mean something else alone, and their replacements."""
_WHO = r"(?P<who>I|my [^\W\d_]+|[^\W\d_]+)"
_WHOSE = r"(?P<whose>my|[^\W\d_]+['’]s|my [^\W\d_]+['’]s)"
_MATE = r"(?:husband|wife|spouse|partner)"
_HEAD = r"(?:boss|manager|supervisor)"
_ASKED_FOR = r"\bwho(?:['’]s| is) (?:my|[^\W\d_]+['’]s)"
_ANSWERED: Mapping[Pattern, str] = MappingProxyType(
    {
        Pattern(pattern, re.IGNORECASE): words
        for pattern, words in {
            r"\bwhat\b.{1,60}\b(?:called|named)\b\W*$|\bnames? of\b|['’]s name\b": "called name named",
            r"\bhow old\b|\b(?:my|['’]s) age\b": "age aged old years born turned birthday",
            r"\bwhen\b.{1,30}\bborn\b|\bwhen\b.{1,30}\bbirthday\W*$|\byear\b.{1,30}\bborn\b": "born birthday birthdate",
            r"\bwhere\b.{1,40}\bfrom\b\W*$|\bwhere\b.{1,30}\b(?:born|grow up)\b\W*$|\bwhat\b.{1,20}\bhome ?town\b": (
                "from born grew originally hometown raised native"
            ),
            r"\bwhat (?:do|does) .{1,40}\bdo\b\W*$|\b(?:for|as) (?:a living|work|a job)\b": _JOB,
            rf"\bwhat(?:['’]s| is) {_WHOSE} (?:job|profession|occupation)\b": _JOB,
            r"\b(?:where|who) (?:do|does) .{1,30}\bwork\b(?: for| at)?\W*$|\bmy employer\b": (
                f"{_JOB} employer company joined"
            ),
            rf"{_ASKED_FOR} {_MATE}\b|\b{_MATE}(?:['’]s name| called)\b": "married husband wife spouse partner",
            rf"{_ASKED_FOR} {_HEAD}\b|\b{_HEAD}(?:['’]s name| called)\b": "boss manager supervisor",
            r"\bmy (?:address|city|town)\b|\bwh(?:at|ich) (?:city|town) (?:am|do) I\b": "live lives living moved",
            r"\bhow tall\b|\bmy height\b": "tall height cm",
            r"\bhow heavy\b|\bhow much\b.{1,30}\bweigh\b|\bmy weight\b": "weigh weighs weight kilos kg pounds",
            r"\bwh(?:at|ich car) do(?:es)? .{1,30}\bdrive\b\W*$": "car drive drives",
            r"\bwhat\b.{1,20}(?:can['’]?t|cannot|not) .{0,20}\beat\b": "allergic allergy intolerant vegetarian vegan",
        }.items()
    }
)
"""Words of the answering statements, by the question."""

_STATED = tuple(
    (Pattern(asked, re.IGNORECASE), mine, other)
    for asked, mine, other in (
        (
            (
                rf"\bwhat (?:do|does) {_WHO} do\b(?: (?:for|as) (?:a living|work|a job))?\W*\Z"
                rf"|\bwhat(?:['’]s| is) {_WHOSE} (?:job|profession|occupation)\b"
            ),
            "I am an engineer, I work as",
            "{who} is an engineer, works as",
        ),
        (
            rf"\b(?:where|who) (?:do|does) {_WHO} work\b",
            "I work as an engineer at a company",
            "{who} works at a company",
        ),
        (
            r"\bwhat(?:['’]s| is) my (?:address|city|town)\b|\bwh(?:at|ich) (?:city|town|country) (?:am|do) I\b",
            "I live in",
            "",
        ),
        (
            rf"\bwhere (?:am|is|are|do|does) {_WHO} (?:come )?from\b|\bmy home ?town\b",
            "I am originally from",
            "{who} is originally from",
        ),
        (
            rf"\bmy {_MATE}\b(?=['’]s name| called)|\bwho(?:['’]s| is) my {_MATE}\b",
            "I am married to",
            "",
        ),
        (
            r"\bmy (?P<kin>[^\W\d_]+)(?: called\b|['’]s name\b)|\bname of my (?P<kin2>[^\W\d_]+)",
            "",
            "My {who} Sam",
        ),
        (
            rf"\bhow old (?:am|is|are) {_WHO}\b|\bwhat(?:['’]s| is) my age\b",
            "I am 30 years old",
            "{who} is 30 years old",
        ),
        (r"\bwh(?:at|ich car) do I drive\b", "My car is a", ""),
        (r"\bwhat (?:can['’]?t|cannot|must|should)(?: I)? (?:not |I )?eat\b|\bmy allergies\b", "I am allergic to", ""),
    )
)
"""Questions, and the beginning of an answering statement about the user or about somebody else."""


def plainly_asked(text: str) -> str:
    """Return a question with phrases such as "do for a living" replaced by words that mean the same alone."""
    for phrase, words in _PHRASES:
        text = phrase.sub(words, text[:READ]) + text[READ:]
    return text


def words_of_answers(text: str) -> str:
    """Return the words of statements for the attribute in question; empty if none is known."""
    found = [words for asked, words in _ANSWERED.items() if asked.search(text[:READ])]
    return " ".join(dict.fromkeys(" ".join(found).split()))


def statement_opening(text: str) -> str | None:
    """Return the beginning of a statement that answers a question about a common attribute; None for other questions.
    Its vector is nearer to such statements than that of the question.
    """
    for asked, mine, other in _STATED:
        match = asked.search(text[:READ])
        if match is None:
            continue
        said = {name: who for name, who in match.groupdict().items() if who}
        who = said.get("who", said.get("whose", "I")).strip()
        who = re.sub(r"['’]s\Z", "", who)
        if (kin := said.get("kin", said.get("kin2"))) is not None:
            return other.format(who=kin)
        return mine if who.lower() in ("i", "my") else other.format(who=who[:1].upper() + who[1:]) or None
    return None


def _pattern(*phrases: str) -> Pattern:
    return Pattern(rf"(?i)^\W{{0,3}}(?:and |so |also |und |et |y |e )?(?:{'|'.join(phrases)})(?!\w)")


PREFERENCE = "preference"
"""Placeholder for every key, for a question about a preference of any kind."""

ASKED: Mapping[str, Pattern] = MappingProxyType(
    {
        "home_city": _pattern(
            r"where (?:do|does|are|is|am|did|was|were|had) (?:i|we|the user) (?:use to |used to )?"
            r"(?:live|living|lived|based|at home)",
            r"where(?:'s| is) (?:my|our) home",
            r"wo (?:wohne|lebe|wohnen|leben|wohnte|lebte|wohnten|lebten) (?:ich|wir)",
            r"wo (?:habe ich|haben wir)\b.{0,40}\b(?:gewohnt|gelebt)",
            r"où (?:est-ce que )?(?:j'habit(?:e|ais)|je vi(?:s|vais)|habit(?:é|ais)-je|vi(?:s|vais)-je)",
            r"où ai-je (?:habité|vécu)|dónde (?:vivo|vivía|viví|he vivido)|dove (?:viv|abit)(?:o|avo|evo)",
            r"onde (?:é que )?(?:eu )?(?:moro|vivo|morava|vivia|morei|vivi)",
            r"waar (?:woon|woonde|leef|leefde) ik|waar heb ik\b.{0,40}\b(?:gewoond|geleefd)",
        ),
        "employer": _pattern(
            r"(?:where|who) (?:do|does|did) (?:i|the user) (?:use to )?work(?: for| at)?",
            r"wo arbeite(?:te)? ich|wo habe ich\b.{0,40}\bgearbeitet",
            r"où (?:est-ce que )?je travaill(?:e|ais)|où travaill(?:é|ais)-je",
            r"dónde trabaj(?:o|aba|é)|dove lavor(?:o|avo)|onde (?:é que )?(?:eu )?trabalh(?:o|ava|ei)",
            r"waar werk(?:te)? ik",
        ),
        "job": _pattern(
            r"what do i do(?: for a living| for work)?\W*$",
            r"(?:als )?was arbeite ich|quel est mon (?:métier|travail)|en qué trabajo",
            r"che lavoro faccio|em que trabalho|wat voor werk doe ik",
        ),
        "age": _pattern(
            r"how old (?:am i|is the user)|wie alt bin ich|quel âge ai-je|cuántos años tengo",
            r"quanti anni ho|quantos anos tenho|hoe oud ben ik",
        ),
        "birthday": _pattern(
            r"when (?:was i born|is my birthday)|wann (?:habe ich geburtstag|bin ich geboren)",
            r"quand suis-je né|cuándo nací|quando sono nato|quando nasci|wanneer ben ik jarig",
        ),
        PREFERENCE: _pattern(
            r"what (?:do|did) i (?:use to )?(?:prefer|like (?:best|most|better))(?: (?:back )?\w+)?\W*$",
            r"was (?:bevorzug(?:e|te)|mag|mochte) ich(?: \w+)?\W*$|was habe ich\b.{0,20}\b(?:bevorzugt|gemocht)",
            r"(?:qu'est-ce que je préf(?:ère|érais)|que préf(?:éré|érais)-je)(?: \w+)?\W*$",
            r"qué prefer(?:ía|í)(?: \w+)?\W*$|qué prefiero(?: \w+)?\W*$",
            r"(?:che )?cosa prefer(?:isco|ivo)(?: \w+)?\W*$",
            r"(?:o )?que (?:é que )?(?:eu )?pref(?:iro|eria|eri)(?: \w+)?\W*$",
            r"wat (?:vond|vind|had|heb) ik (?:\w+ )?(?:het )?(?:fijnst|liefst|liever)\W*$",
        ),
        "name": _pattern(
            r"who am i\W*$|what am i called|wie heiße ich|comment je m'appelle",
            r"cómo me llamo|come mi chiamo|como me chamo|hoe heet ik",
        ),
    }
)


def asked_keys(text: str) -> frozenset[str]:
    """Return the keys with a value that `text` asks for."""
    return frozenset(key for key, one in ASKED.items() if one.search(text))


_ROLE = (
    "accountant|actor|actress|actuary|administrator|advis[eo]r|analyst|anesthetist|animator|apprentice|archaeologist"
    "|architect|artist|assistant|astronomer|attorney|auditor|author|baker|banker|barber|barista|bartender|biologist"
    "|bookkeeper|bookseller|brewer|bricklayer|broker|builder|butcher|captain|caregiver|caretaker|carer|carpenter"
    "|cashier|chef|chemist|civil servant|cleaner|clerk|coach|composer|conductor|consultant|contractor|controller"
    "|cook|coordinator|copywriter|counsell?or|courier|curator|dancer|decorator|dentist|designer|detective|developer"
    "|dietitian|director|dispatcher|doctor|driver|economist|editor|electrician|engineer|estate agent|executive|farmer"
    "|firefighter|fisherman|florist|forester|founder|freelancer|gardener|geologist|goldsmith|hairdresser|handyman"
    "|housekeeper|illustrator|instructor|intern|interpreter|investigator|jeweller|joiner|journalist|judge|lab"
    "|labou?rer|lawyer|lecturer|librarian|lifeguard|linguist|locksmith|machinist|manager|marketer|mason|mathematician"
    "|mechanic|midwife|miner|musician|nanny|negotiator|nurse|nutritionist|officer|optician|optometrist|organist"
    "|painter|paralegal|paramedic|pastor|pharmacist|photographer|physicist|physician|physio|physiotherapist|pianist"
    "|pilot|planner|plasterer|plumber|policeman|policewoman|porter|postman|potter|priest|principal|producer|professor"
    "|programmer|proofreader|psychiatrist|psychologist|publisher|ranger|realtor|receptionist|recruiter|reporter"
    "|representative|researcher|roofer|sailor|salesman|salesperson|saleswoman|scientist|seamstress|secretary|sergeant"
    "|shopkeeper|social worker|soldier|solicitor|specialist|statistician|steward|stewardess|stylist|superintendent"
    "|supervisor|surgeon|surveyor|tailor|teacher|technician|teller|tester|therapist|trader|trainee|trainer|translator"
    "|tutor|underwriter|vet|veterinarian|videographer|waiter|waitress|warden|welder|worker|writer|zookeeper"
)
_BUSINESS = (
    "agency|bakery|bar|bookshop|bookstore|boutique|brewery|business|caf[eé]|clinic|company|farm|firm|gallery|garage"
    "|gym|hotel|kiosk|law firm|nursery|practice|pub|restaurant|salon|shop|school|start-?up|store|studio|workshop"
)
_AM = r"\bI(?:['’]m| am|['’]ve been| have been)"
_I = r"\bI(?:['’]m|['’]ve| am| have| was| got)?"
_NOW = Pattern(
    rf"{_AM} (?:\w+ly |now |just )?(?:a|an|the) (?:[\w-]+ ){{0,2}}(?:{_ROLE})\b"
    r"|\bI(?:['’]m| am)? (?:\w+ly |now |still )?(?:work|working) (?:at|for|as|in)\b"
    r"(?! the (?:garden|moment|same|morning))"
    rf"|{_I} (?:\w+ly |now |just |been )?(?:hired|employed|recruited|signed) (?:by|at|with|as)\b"
    rf"|{_I} (?:\w+ly |now |just )?(?:started|starting) (?:(?:my|a|the) (?:new )?job |work |working )?(?:at|with|as)\b"
    rf"|{_I} (?:\w+ly |just )?(?:took|accepted|got|landed|have) (?:a|the|my) (?:[\w-]+ ){{0,3}}(?:job|position|role)\b"
    r"|\b[Mm]y (?:(?:new|current) )?(?:employer|company|firm|job|profession|occupation|workplace|line of work)"
    r"(?:['’]s| is)\b"
    rf"|\bI (?:\w+ly |now )?(?:run|own|manage|opened|founded) (?:a|an|the|my) (?:[\w-]+ ){{0,3}}(?:{_BUSINESS})\b"
    r"|\bI (?:\w+ly |now )?(?:teach|lecture)\b.{1,60}\bat\b|\bI (?:\w+ly )?(?:freelance|practi[sc]e (?:law|medicine))\b"
    r"|\bI (?:\w+ly |now )?drive (?:a |an )?(?:\w+ )?(?:taxi|cab|lorry|truck|bus|tram|ambulance)\b(?! to\b)"
    r"|\bI(?:['’]m| am) on the (?:staff|payroll|faculty) (?:of|at)\b|\bI (?:just |recently )?joined (?:the )?[A-Z]"
)
_PLACED = Pattern(r"\bI(?:['’]m| am) (?:now |currently |still )?(?:at|with) (?:the )?[A-Z][\w&.-]+(?: [A-Z][\w&.-]+)*")
"""Matches "I'm with Deutsche Bank", which may also be a visit: it counts only without a plainer match."""
_OVER = Pattern(
    r"\bI used to (?:work|be|teach|run|own)\b|\bI (?:was|had been) (?:a|an|the) \w|\bI worked (?:at|for|as|in|with)\b"
    r"|\b(?:[Mm]y|a) (?:former|previous|old|last|ex-?) ?(?:job|employer|company|firm)\b"
    r"|\bI(?:['’]m| am) (?:a )?(?:former|retired)\b"
    r"|\bI (?:have )?(?:quit|left|resigned|retired|got fired|was fired|was laid off|lost my job)\b",
)


class Work(Enum):
    """State of the author's work, according to a statement."""

    HOLDS = "holds"
    MAY_HOLD = "may hold"
    IS_OVER = "is over"


def stated_work(text: str) -> Work | None:
    """Return the state of the author's work in `text`; None if it has none."""
    read = text[:READ]
    if _OVER.search(read):
        after = _OVER.sub(" ", read)
        return Work.HOLDS if _NOW.search(after) or _PLACED.search(after) else Work.IS_OVER
    if _NOW.search(read):
        return Work.HOLDS
    return Work.MAY_HOLD if _PLACED.search(read) else None
