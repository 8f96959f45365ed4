"""Statements that people do not expect to be stored without being asked: about their health, beliefs, politics, union,
orientation, convictions, asylum, pay, date of birth, address and body, and the numbers of their identity papers.

Recognised by words of what a person is, has or does, in English, German, French, Spanish, Italian and Dutch
(`data/special_topics.json`): a church that was visited is no belief. An allergy or a food that a person will not eat is
a preference here, not a diagnosis.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from mnemic.language.text.pattern import Pattern

HEALTH, PAPERS = "health", "papers"
RELIGION, POLITICS, UNION, ORIENTATION = "religion", "politics", "union", "orientation"
RECORD, ASYLUM, PAY, BIRTH, ADDRESS, BIOMETRICS = "record", "asylum", "pay", "birth", "address", "biometrics"

_IS = (
    r"(?:\b(?:am|is|are|was|were|been|be|became|become|becoming|being|as|raised|born)|[\u2019'](?:m|s|re)) "
    r"(?:[\w-]+ ){0,2}?"
)
"""What comes before a word for what a person is."""
_NAMES_BELIEF = (
    r"(?:muslim|christian|jew|hindu|buddhist|sikh|catholic|protestant|lutheran|baptist|methodist|calvinist|mormon"
    r"|anglican|episcopalian|presbyterian|pentecostal|evangelical|quaker|adventist|mennonite|unitarian|jain|zoroastrian"
    r"|pagan|wiccan|sunni|shia|sufi|alevi|druze|rastafarian|scientologist|atheist|agnostic|jehovah[\u2019']s witness)"
)
_NAMES_VIEW = (
    r"(?:socialist|social democrat|communist|marxist|anarchist|fascist|nationalist|separatist|monarchist|libertarian"
    r"|conservative|liberal|republican|democrat|leftist|rightist|populist|tory)"
)
_NAMES_ORIENTATION = (
    r"(?:gay|lesbian|bisexual|homosexual|heterosexual|asexual|pansexual|queer|intersex"
    r"|trans(?:gender|sexual)?|non-?binary)"
)
_OFFENDER = r"(?:convict|ex-con(?:vict)?|(?:ex-)?offender|felon|murderer|prison inmate)"
_IN_EXILE = r"(?:refugee|asylum[- ]seeker|illegal (?:im)?migrant|undocumented|stateless)"
_MONEY = r"(?:[\u20ac$\u00a3]|\d ?k\b|\b(?:euros?|dollars?|pounds?|francs?|eur|usd|gbp|chf)\b)"

_PATTERNS: Mapping[str, Pattern] = MappingProxyType(
    {
        HEALTH: Pattern(
            r"\b(?:diagnos(?:ed|is)|depress(?:ed|ion)|anxiety disorder|bipolar|schizophreni\w*|autis(?:m|tic)|adhd|ptsd"
            r"|diabet\w+|metformin|insulin|cancer|tumou?rs?|chemotherap\w+|hiv|aids|hepatitis|epilep\w+|asthma"
            r"|arthritis|multiple sclerosis|parkinson\w*|alzheimer\w*|dementia|stroke"
            r"|heart (?:attack|disease|condition)|blood pressure|pregnan\w+|miscarriage|abortion|ivf|surgery"
            r"|operated on|antidepressants?|prescri(?:bed|ption)s?|psychiatr\w+|psychotherap\w+|therapist|rehab"
            r"|alcoholi(?:c|sm)|addict(?:ed|ion)|disabilit(?:y|ies)|wheelchair|coeliac|celiac|crohn\w*"
            r"|blood (?:type|group)|chronic (?:pain|illness)"
            r"|my (?:medication|medicine|doctor says|illness|condition))\b"
        ),
        RELIGION: Pattern(
            rf"{_IS}{_NAMES_BELIEF}s?\b|{_IS}(?:jewish|(?:greek |russian )?orthodox|religious|baptised|baptized)\b"
            r"|\b(?:my|his|her|our|their) (?:religion|faith|parish|congregation|church|mosque|synagogue)\b"
            r"|\b(?:converted|convert|converting) to \w*(?:ism|ity|islam)\b|\bbelieves? in (?:god|allah|jesus)\b"
            r"|\b(?:go|goes|went|going) to (?:church|mass|mosque|synagogue|confession)\b"
            r"|\b(?:observes?|keeps?|fasts? (?:for|during|in)) (?:ramadan|lent|yom kippur|(?:the )?sabbath|shabbat)\b"
            r"|\bprays? (?:to|five times|every|daily|in the)\b"
        ),
        POLITICS: Pattern(
            rf"{_IS}an? (?:\w+ ){{0,2}}?{_NAMES_VIEW}\b"
            r"|\b(?:vote|votes|voted|voting) (?:for|against|green|labour|tory)\b"
            r"|\b(?:my|his|her|our|their) (?:political \w+|politics|(?:political )?party membership|constituency)\b"
            r"|\b(?:joined|join|left|member of) (?:\w+ ){0,4}?party\b(?! of (?:two|three|four|five|six|\d))"
            r"|\b(?:campaigns?|campaigned|canvass\w*) for\b"
        ),
        UNION: Pattern(
            r"\b(?:trade|labou?r|workers[\u2019']?|teachers[\u2019']?|nurses[\u2019']?|[a-z]+workers[\u2019']?) union\b"
            r"|\bunion (?:members?|membership|reps?|representative|stewards?|cards?|dues)\b"
            r"|\btrade unionist\b|\bunioni[sz]ed\b"
            r"|\b(?:in|joined|join|left|member of|pay) (?:a|the|my|our) (?:[\w\u2019']+ )?(?<!credit )"
            r"(?<!european )(?<!rugby )(?<!students )(?<!soviet )union\b"
        ),
        ORIENTATION: Pattern(
            rf"{_IS}{_NAMES_ORIENTATION}s?\b|\b(?:my|his|her|their) (?:sexual orientation|sexuality|gender identity)\b"
            r"|\b(?:came|come|coming) out (?:as|to my|of the closet)\b"
        ),
        RECORD: Pattern(
            rf"\bconvict(?:ed|ions?)\b|{_IS}(?:an? )?{_OFFENDER}s?\b|\b(?:criminal|police) record\b|\bpleaded guilty\b"
            r"|\b(?:was|were|been|got|am|is) (?:\w+ )?(?:arrested|jailed|imprisoned|sentenced|charged with)\b"
            r"|\bserv(?:ed|ing) (?:time|a sentence|[\w-]+ (?:months?|years?) (?:in|for))"
            r"|\b(?:on|out on) (?:parole|bail)\b"
            r"|\b(?:in|to|out of|from) (?:prison|jail)\b"
        ),
        ASYLUM: Pattern(
            rf"{_IS}(?:an? )?{_IN_EXILE}s?\b|\basylum\b|\b(?:was|been|being|get|got) deported\b|\bundocumented\b"
        ),
        PAY: Pattern(
            rf"\b(?:salary|wages?|income|pay ?cheque|paycheck|take-home pay)\b[^.!?]{{0,40}}\d"
            rf"|\b(?:earns?|earning|earned|makes?|making|paid)\b[^.!?]{{0,24}}{_MONEY}[^.!?]{{0,12}}"
            r"\b(?:an?|per|each|every|annually|monthly|net|gross|after tax|before tax) ?"
            r"(?:year|month|week|hour|annum)?\b"
        ),
        BIRTH: Pattern(
            r"\b(?:date of birth|birth ?date|d\.?o\.?b\b)|\b(?:was|were|am|is) born (?:on|in)\b[^.!?]{0,24}\d"
        ),
        ADDRESS: Pattern(
            r"\b(?:home|street|private|postal|mailing|residential) address\b"
            r"|\b(?:my|his|her|our|their) address (?:is|:)"
            r"|\b(?:lives?|living|resides?|moved) (?:at|to) (?:no\.? ?)?\d+\w? [a-z]"
            r"|\b(?:lives?|living|resides?) at [^\d.!?]{3,40} \d"
        ),
        BIOMETRICS: Pattern(
            r"\b(?:fingerprints?|thumbprints?|palm ?prints?|voice ?prints?|face ?prints?|face ?id|biometrics?"
            r"|biometric \w+"
            r"|(?:iris|retinal?|face|facial|palm|vein) (?:scans?|recognition|template)|dna (?:test|profile|sample))\b"
        ),
    }
)
_GAP = r"(?:[\w'\u2019-]+ ){0,3}?"
_NEAR_DIGIT = r"[^.!?\d]{0,12}\d"
TOPICS = frozenset({PAPERS, *_PATTERNS})
_PAPERS = Pattern(
    r"\b(?:passport|driv(?:ing|er'?s?) licen[cs]e|licen[cs]e plate|identity card|id card|national id"
    r"|social security|residence permit|visa|birth certificate|tax (?:id|number)|insurance (?:number|card)"
    r"|nhs)\b"
)
_NUMBER = Pattern(r"\d{5,}|\b(?=[a-z]*\d)[a-z0-9]{6,40}\b")
_BETWEEN_DIGITS = Pattern(r"(?<=\d)[ -](?=\d)")
_NUMBER_WORD = Pattern(r"\b(?:number|no\.|nr\.?|num)\b")


@cache
def _in_languages() -> Mapping[str, Pattern]:
    """Return one pattern a topic for the wordings of all languages."""
    tables = json.loads(Path(__file__).with_name("data").joinpath("special_topics.json").read_text(encoding="utf-8"))
    wordings: dict[str, list[str]] = {topic: [] for topic in _PATTERNS}
    for topics in (table for language, table in tables.items() if language != "about"):
        for topic, given in topics.items():
            wordings[topic] += given
    return {
        topic: Pattern(
            r"\b(?:" + "|".join(one.replace("G", _GAP).replace("D", _NEAR_DIGIT) for one in given) + r")(?![^\W\d])"
        )
        for topic, given in wordings.items()
    }


def special_topics(text: str) -> frozenset[str]:
    """Return the `TOPICS` of `text`. A paper counts if its number, or the fact that it is one, is stated."""
    said = text.lower()
    found = {topic for topic, pattern in _PATTERNS.items() if pattern.search(said)}
    found |= {topic for topic, pattern in _in_languages().items() if pattern.search(said)}
    if _PAPERS.search(said) and (_NUMBER.search(_BETWEEN_DIGITS.sub("", said)) or _NUMBER_WORD.search(said)):
        found.add(PAPERS)
    return frozenset(found)


def is_special(texts: Collection[str | None], topics: Collection[str]) -> bool:
    """Return True if one of the texts speaks of one of the topics."""
    return any(text and not special_topics(text).isdisjoint(topics) for text in texts)
