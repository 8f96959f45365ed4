"""Wordings of likes, habits and general wishes: preferences stated as habits."""

from __future__ import annotations

import re

from mnemic.language.text.pattern import Pattern

_HOW = (
    r"(?:(?:really|absolutely|also|just|do|strongly|deeply|greatly|truly|generally|intensely|particularly|rather)"
    r" ){0,2}"
)
_OF_THE_MOMENT = r"(?! (?:it|that|this|these|those|your?|him|her|them)\b)"
"""Words that refer to something just mentioned ("not a fan of that idea"), which is no lasting liking."""
_LIKES = (
    rf"i {_HOW}"
    r"(?:like|love|enjoy|adore|hate|dislike|loathe|detest|despise|abhor|can't handle|cannot handle"
    r"|(?:don't|do not) (?:really |particularly |much )?(?:like|enjoy|care for))"
    r" (?!it[.!]|that\b|this\b|these\b|those\b|how\b|what\b|you\b|your\b|him\b|her\b|them\b"
    r"|(?:the|an?) (?:idea|way|sound|thought)\b|to (?:hear|see|know|say)\b)"
)
_FINDS = (
    r"(?:boring|tedious|tiring|dull|unpleasant|exhausting|unsettling|disorienting|distracting|overwhelming|stressful"
    r"|relaxing|soothing|uncomfortable|unengaging)\b"
)
_HAS = (
    r"i(?:'ve| have) (?:got )?(?:an? )?(?:(?:very|really) )?"
    r"(?:(?:strong|deep|real|huge|great|big|general|lifelong|severe|mild|slight|intense|strict|clear|definite) )?"
    r"(?:aversion to|dislike (?:of|for)|distaste for|hatred (?:of|for)|preference for|passion for|love (?:of|for)"
    rf"|fondness for|phobia of|fear of)\b{_OF_THE_MOMENT}"
    r"|i(?:'ve| have) (?:absolutely )?(?:no|little|zero) (?:interest in|patience for|desire to|tolerance for)\b"
    rf"{_OF_THE_MOMENT}"
    rf"|i find (?:[\w'-]{{1,30}} ){{0,4}}?\w{{2,30}}(?:ing|s) (?:[\w'-]{{1,30}} ){{0,4}}?{_FINDS}"
    r"|i find it (?:(?:very|really) )?(?:hard|difficult|tedious|boring|tiring|stressful|exhausting)"
    r" to (?!believe\b|say\b|see\b|know\b)"
    r"|i (?:thrive|struggle) (?:in|on|with|when)\b"
)
_ALWAYS = (
    r"i (?:only|always|never|mostly|mainly|rarely|hardly ever|nearly always)"
    r" (?!\w+ed\b|had\b|was\b|thought\b|knew\b|said\b|got\b|went\b|saw\b|did\b|took\b|made\b|found\b|felt\b|came\b"
    r"|heard\b|told\b|ate\b|won\b|lost\b|met\b|ran\b|gave\b|been\b|even\b|really (?:see|saw|think|thought|had|got)\b)\w"
    r"|i (?:can't|cannot|can not|can hardly) (?:stand|bear|take|abide|tolerate|eat|drink|wear)\b"
    r"|i (?:don't|do not|won't|no longer) (?:ever )?(?:fly|drive|wear|do|eat|drink|use|buy|want|watch"
    r"|read|smoke|work)\b"
    r"|i (?:try to |like to |tend to |strictly |strongly |generally |deliberately )?"
    r"(?:refuse to|stick to|avoid|steer clear of|stay away from|keep to|go for|live on"
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
    r"i(?:'m| am) (?:always |really |quite |very |strongly |firmly )?"
    r"(?:fond of|up for|mad about|crazy about|big on|picky about|happiest|averse to|opposed to|passionate about"
    rf"|partial to)\b{_OF_THE_MOMENT}"
    r"|i(?:'m| am) (?:definitely |really |just )?(?:not|never) (?:really |much |too |particularly |at all )?"
    r"(?:an? (?:big |huge |great |real )?fan of|into|keen on|interested in|comfortable (?:with|in|around|at)"
    rf"|one for|fond of|big on)\b{_OF_THE_MOMENT}"
    rf"|i(?:'m| am) an? (?:big |huge |great |real |lifelong )?(?:fan|lover) of\b{_OF_THE_MOMENT}"
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
HABIT = Pattern(rf"(?i)\A\W{{0,3}}(?:please note that )?(?:{_LIKES}|{_HAS}|{_ALWAYS}|{_IS}|{_WANTS})")
"""Matches a like, a habit or a general wish of the speaker without the words of a preference ("I prefer")."""
MEDICATED = Pattern(
    r"\b(?:i(?:'m| am) (?:still |now |currently |back )?on|i take|(?:i (?:was|have been)|i've been) (?:put|started"
    r"|kept|prescribed)(?: on)?"
    r"|(?:put|started|has|have) me on|(?:i was|i've been) taken off|ich (?:nehme|bekomme|schlucke)|je prends"
    r"|(?:yo )?tomo"
    r"|(?:io )?prendo|(?:eu )?tomo|ik (?:slik|neem|gebruik))"
    r" (?:\w+ )?(?:\d+ ?m?c?g (?:of |de |di |d')?|a (?:low|high) dose of )?"
    r"(?:[^\W\d_]{2,}(?:farin|farina|parin|xaban|pril|olol|statin|azole?|formin|oxetine?|traline?|pram|sartan|dipine?"
    r"|zepam|zolam|gliptine?|flozin|glutide?|zumab|ximab|tinib|thyroxine?|triptan|semide?|thiazide?|lukast|terol"
    r"|sonide?"
    r"|solone?|isone?|trexate?|gabalin|pentin|triptyline?|tiapine?|peridone?)"
    r"|insulin\w*|blood thinners?|blutverdünner|antidepressants?|antidepressiva|beta.?blockers?|betablocker|the pill"
    r"|statins?|dialysis|anticoagulants?|methadone|lithium|immunosuppressants?)\b",
    re.IGNORECASE,
)
"""Matches a lasting medication of the speaker: "I'm on warfarin"."""
