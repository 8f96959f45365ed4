"""Questions about the events of a time, without further conditions: "What did Ana do last month?".

Their words ("do", "happen", "month") are not those of the answer, so they are recognised by their form in seven
languages; the words besides the time and the form name the subject of the answer.
"""

from __future__ import annotations

import re

from mnemic.language.questions.question_words import content_words
from mnemic.language.text.analyse import terms
from mnemic.language.text.english import MONTHS
from mnemic.language.text.months import MONTH_NUMBERS
from mnemic.language.text.pattern import Pattern
from mnemic.language.text.time_words import in_english

_READ = 200
"""Maximum number of characters of a question; a longer one has more conditions than a time."""
_SAID = 500
"""Number of characters of a statement or a message that are searched for an event."""
_FORMS = Pattern(
    r"\A\W*(?:(?:and|so|but|ok|please|tell me|remind me|do you (?:know|remember)|y|et|und|e|en)\b,? )*"
    r"(?:what(?: all| else)?(?:['’]s)?\b(?P<en>.*?)\b(?:do|done|doing|up to|go(?:ne)? through|going on"
    r"|happen(?:ed|ing)?|take place|took place)\b"
    r"|was\b(?P<de>.*?)\b(?:machte\w*|tat|taten|gemacht|getan|unternommen|erlebt|passiert\w*|geschah|geschehen)\b"
    r"|qu(?:e\b|['’]est-ce qu(?:e\b|['’])|['’])(?P<fr>.*?)\b(?:fait|faisait|passé|arrivé|vécu)\b"
    r"|qué\b(?P<es>.*?)\b(?:hizo|hice|hicimos|hicieron|hiciste|hecho|pasó|pasado|ocurrió|sucedió)\b"
    r"|(?:che cosa|cosa|cos['’])(?P<it>.*?)\b(?:fatto|fece|facevo|successo|accaduto)\b"
    r"|o que\b(?P<pt>.*?)\b(?:fez|fiz|fizemos|fizeram|aconteceu|houve)\b"
    r"|wat\b(?P<nl>.*?)\b(?:gedaan|gebeurd\w*|deed|deden|meegemaakt)\b)(?P<rest>.*)\Z",
    re.IGNORECASE,
)
_TIMES = frozenset(
    terms(
        "last past previous this that week weeks month months year years day days weekend fortnight decade yesterday "
        "today tonight night time letzter zeit kürzlich neulich récemment últimamente ultimamente recente recentemente "
        "onlangs laatste tijd night morning afternoon evening spring summer autumn fall winter ago recently lately "
        "couple few several since until half early late mid beginning end one two three four five six seven eight nine "
        "ten eleven twelve monday tuesday wednesday thursday friday saturday sunday"
    )
) | frozenset(terms(" ".join((*MONTHS, *MONTH_NUMBERS))))
_EMPTY = frozenset(
    terms(
        "did do does done doing have has had was were been get got go went happen happened tell know remember "
        "ist war habe hab hast hat haben bin alles los sich es er sie man "
        "est-ce a ai as ont avons s'est se me ha he han hemos has ho hai abbiamo "
        "è era foi eu nós heeft heb hebben is er ze al zoal "
        "i we you my our us me ich wir du je on nous yo io noi ik wij"
    )
)
_OF_ASKER = Pattern(r"\b(?:i|ich|je|ai-je|yo|hice|io|ho|eu|fiz|ik)\b(?! (?:and|und|et|y|e|en) )", re.IGNORECASE)
_LATELY = Pattern(
    r"\b(?:lately|recently|in letzter zeit|kürzlich|neulich|récemment|ces derniers temps|últimamente|recientemente"
    r"|ultimamente|di recente|recentemente|onlangs|de laatste tijd)\b",
    re.IGNORECASE,
)
_HAPPENED = Pattern(
    r"\b(?:\w{2,18}ed|was|were|had|did|got|went|came|met|gave|took|made|bought|sold|began|left|lost|found|won|wrote"
    r"|ran|flew|drove|broke|became|fell|kept|led|paid|quit|sent|slept|spent|spoke|taught|threw|woke|wore|chose|ate"
    r"|drank|sang|swam|built|brought|caught|fought|rode|stole|saw|visited|hurt myself|cut my)\b"
    r"|\b(?:war|waren|hatten?|wurden?|ging|kam|(?:habe|hat|haben|bin|ist|sind)\b.{1,80}\b(?:\w{0,8}ge\w{2,20}(?:t|en)"
    r"|\w{3,20}iert|(?:be|ver|er)\w{2,20}(?:t|en)))\b"
    r"|\b(?:j['’]ai|a|avons|avez|ont|je suis|est|sommes|sont) \w{1,20}(?:é|ée|és|ées|i|u|is|it)\b|\bétait\b"
    r"|\b(?:fui|fue|fuimos|vi|vio|hice|hizo|hicimos|tuve|estuve|comí|bebí|\w{2,18}(?:(?<![aei]r)é|ió|amos|imos)"
    r"|(?:he|ha|hemos|han) \w{2,20}(?:ado|ido|to|cho))\b"
    r"|\b(?:ho|ha|abbiamo|hanno|sono|è|siamo) \w{2,20}[ts][oaie]\b"
    r"|\b(?:fiz|fez|fomos|foi|mudei|mudou|comprei|comprou|comecei|\w{3,18}(?:ámos|aram|ou|ei))\b"
    r"|\b(?:heb|heeft|hebben|ben|is|zijn)\b.{1,80}\bge\w{2,20}\b",
    re.IGNORECASE,
)


def asked_about(text: str) -> frozenset[str] | None:
    """Return the terms for the subject of a question about the events of a time, none for all events; None for any
    other question. Another function checks if it gives a time.
    """
    found = None if len(text) > _READ else _FORMS.search(in_english(text))
    if found is None:
        return None
    left = content_words(" ".join(part for part in found.groups() if part))
    return frozenset(terms(" ".join(left))) - _TIMES - _EMPTY - frozenset(one for one in terms(text) if one.isdigit())


def is_of_asker(text: str) -> bool:
    """Return True if the question is only about its author."""
    return _OF_ASKER.search(text) is not None


def is_about_oneself(text: str) -> bool:
    """Return True if a statement names no subject, or the user as one: "Visited the dentist", "Compré una bici"."""
    found = _HAPPENED.search(text[:_SAID])
    return text.lower().startswith("the user ") or (found is not None and found.start() == 0)


def asks_lately(text: str) -> bool:
    """Return True if the question is about the last weeks, without a number of them."""
    return _LATELY.search(text) is not None


def tells_what_happened(text: str) -> bool:
    """Return True if `text` reports an event, and not only a state."""
    return _HAPPENED.search(text[:_SAID]) is not None
