"""Wordings of likes, habits and general wishes: preferences that are stated as habits."""

from __future__ import annotations

from mnemic_language.text.pattern import Pattern

_LIKES = (
    r"i (?:really |absolutely |also |just |do )?"
    r"(?:like|love|enjoy|adore|hate|dislike|loathe|detest|don't (?:really )?like)"
    r" (?!it[.!]|that\b|this\b|these\b|those\b|how\b|what\b|you\b|your\b|him\b|her\b|them\b"
    r"|(?:the|an?) (?:idea|way|sound|thought)\b|to (?:hear|see|know|say)\b)"
)
_ALWAYS = (
    r"i (?:only|always|never|mostly|mainly|rarely|hardly ever|nearly always)"
    r" (?!\w+ed\b|had\b|was\b|thought\b|knew\b|said\b)\w"
    r"|i (?:can't|cannot|can not|can hardly) (?:stand|bear|take|abide|tolerate|eat|drink|wear)\b"
    r"|i (?:don't|do not|won't|no longer) (?:ever )?(?:fly|drive|wear|do|eat|drink|use|buy|want|watch"
    r"|read|smoke|work)\b"
    r"|i (?:try to |like to |tend to )?(?:stick to|avoid|steer clear of|stay away from|keep to|go for|live on"
    r"|insist on)\b"
    r"|i(?:'d| would) (?:always (?!have\b)|(?:rather|sooner) [^?!]{2,80}\b(?:than|without|instead)\b)"
    r"|i (?:program|code|write|work|think|learn best|go everywhere) (?:in|with|by|from)\b|i learn best\b"
    r"|i (?:break out in|panic|freeze|faint|get (?:sick|seasick|carsick|dizzy|anxious|headaches|migraines))\b"
    r"|i (?:\w+ ){1,3}(?:[\w'-]+ ){0,6}(?:only|for everything|whenever i can|wherever possible|whenever possible"
    r"|(?:once|twice|three times) a week)\b"
    r"|(?:whenever there is|in my|on my|for my) [^,.?!]{2,40} i (?:always |only |mostly )?"
    r"(?:use|want|write|choose|take)\b"
)
_IS = (
    r"i(?:'m| am) (?:always |really |quite |very )?(?:fond of|up for|mad about|crazy about|big on|picky about"
    r"|happiest)\b"
    r"|i(?:'ve| have) (?:got )?an? (?:soft spot|weakness|thing) for\b|my (?:way|idea|kind) (?:to|of) \w+ is\b"
    r"|[^.?!]{2,60}\b(?:is|are|was never)(?: not|n't)? (?:really )?(?:for me|my thing|my cup of tea)\b"
    r"|[^.?!]{2,60}\bmakes? me (?:anxious|dizzy|nervous|sneeze|itch)\b"
    r"|only [^.?!]{2,60}\b(?:fits?|suits?|works? for|will do for) me\b|no [\w' -]{2,40} for me\b"
)
_WANTS = (
    r"(?:i want|(?:please )?give me|please use) (?!to (?!be\b)|an?\b|the (?!oxford)|some\b|this\b|that\b|these\b"
    r"|it\b|you\b"
    r"|me\b|him\b|her\b|my (?:order|money|ticket)|more\b|one\b|directions\b|information\b|details\b|\d)\w"
)
HABIT = Pattern(rf"(?i)\A\W{{0,3}}(?:please note that )?(?:{_LIKES}|{_ALWAYS}|{_IS}|{_WANTS})")
"""Matches a like, a habit or a general wish of the speaker without the words of a preference ("I prefer")."""
