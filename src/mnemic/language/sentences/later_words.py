"""Cues of words that are said about something known: the end of it, or a correction of what was just said."""

from __future__ import annotations

from mnemic.language.text.normalise import plain
from mnemic.language.text.pattern import Pattern

_ENDS = Pattern(
    # English
    r"\b(?:stop(?:ped|ping)?|quit|gave (?:it |that )?up|given up|dropped|cancel\w*|called (?:it |that )?off|no longer|"
    r"(?:any|no) ?more|is over|came off|is off|(?:am|'m|are|'re) off|gone|died|passed away|broke up|split up|"
    r"separated|divorced|retired|resigned|expired|sold|got rid|handed back|moved out|healed|recovered|all clear|"
    r"finished|done with|ended|closed|lost|fired|laid off|decided (?:to|against)|"
    # German
    r"aufgehort|gekundigt|abgesagt|abgesetzt|nicht mehr|keine? \w+ mehr|vorbei|gestorben|verkauft|getrennt|geschieden|"
    r"beendet|verheilt|geheilt|"
    # French
    r"arrete|fini|annule|plus de|ne \w+ plus|n'\w+ plus|mort|morte|decede\w*|vendu\w*|quitte|rompu|divorce\w*|gueri\w*|"
    # Spanish
    r"deje|dejado|ya no|cancel(?:e|ado)|se acabo|murio|vendi(?:do)?|rompimos|se fue|"
    # Italian
    r"smesso|non \w+ piu|annullat\w|finit[oa]|mort[oa]|vendut\w|lasciat\w|guarit\w|"
    # Portuguese
    r"parei|deixei|ja nao|nao \w+ mais|cancelei|acabou|morreu|terminamos|"
    # Dutch
    r"gestopt|niet meer|geen \w+ meer|opgezegd|voorbij|overleden|verkocht|uit elkaar|genezen)\b"
)
_CORRECTS = Pattern(
    r"^\W{0,3}(?:(?:oh|ah|oops|ups|no|wait|hm+|nein|non|nee|nao|ay|ach),? ?){0,3}(?:sorry|oops|correction|actually|"
    r"my (?:bad|mistake)|i meant?|make (?:that|it)|no,|wait,|typo|scratch that|"
    r"ich mein(?:t)?e|korrektur|entschuldigung|quatsch,|"
    r"pardon|je voulais dire|correction|plutot|"
    r"perdon|quise decir|mejor dicho|"
    r"scusa|volevo dire|anzi,|"
    r"desculpa|queria dizer|alias,|"
    r"ik bedoel(?:de)?|correctie)(?!\w)"
)


def tells_end(text: str) -> bool:
    """Return True if a text has a word of an end: "cast came off today"."""
    return _ENDS.search(plain(text)) is not None


def corrects_itself(text: str) -> bool:
    """Return True if a text opens with a correction of what its speaker just said: "sorry, the 21st"."""
    return _CORRECTS.search(plain(text)) is not None
