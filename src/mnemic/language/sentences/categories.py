"""Category of a statement: the classifier's opinion, corrected if the words alone decide, as those of a like, a habit
or a general wish do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from mnemic.language.sentences.classify.classifier import KEPT, Opinion, weights
from mnemic.language.sentences.standing_orders import is_standing_order
from mnemic.language.statement import is_english
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


PREFERS = Pattern(
    r"(?i)\A\W{0,3}(?:(?:and|but|so|since|as|und|aber|et|mais|y|pero|e|ma|mas|en|maar) )?"
    r"(?:i (?:\w+ly |do |much )?prefer|ich bevorzuge|je préfère|prefiero|(?:io )?preferisco|(?:eu )?prefiro"
    r"|ik (?:heb|eet|drink|neem) liever|(?:i'm |i am )?(?:not )?(?:really |so )?an? [\w-]+ person"
    r"|(?:the |my )?(?:best|preferred|easiest) (?:way|time|day|place|number) to (?:reach|contact|call|meet|text) me)\b"
)
"""Matches a beginning with the words of a preference."""
LASTS = Pattern(
    r"(?i)\A\W{0,3}(?:please |bitte )?"
    r"(?:always|never|immer|nie|toujours|ne jamais|siempre|nunca|sempre|mai|altijd|nooit)\b"
    r".{3,200}\b(?:when|whenever|if|wenn|quand|lorsque|cuando|quando|als|wanneer)\b"
)
"""Matches an instruction for a kind of occasion."""
WHEN_ASKED = Pattern(
    r"(?i)\b(?:(?:when|whenever|if|every time) (?:i|we) (?:ask|request|mention|inquire|bring up|talk|speak|write|want)"
    r"|wenn (?:ich|wir) .{0,80}(?:frage|bitte)|(?:quand|lorsque|si) (?:je|nous) (?:(?:te|vous) )?(?:demand|parl)"
    r"|cuando (?:(?:te|le) )?(?:pregunt|pid|habl)|quando (?:(?:ti|te|lhe) )?(?:chied|domand|pergunt|peç)"
    r"|(?:als|wanneer) ik .{0,80}vraag)"
)
"""Matches a request as that occasion."""


_NARRATES = Pattern(
    r"(?i)\A\W{0,3}(?:(?:and|but|so|also|yeah|well|especially when) )*"
    r"(?:i'm|i am|i was|i've|i(?:'ll| will)(?: also| just| always)? (?:start|keep|try|be|make)"
    r"|i (?:always|usually|often|named|kept|use|used|made|take|had)\b|we're|we (?:always|usually|often)\b"
    r"|ich (?:bin|habe|mache|nehme|war) |je suis |j'ai |estoy |soy |tengo |sono |ho |estou |sou |tenho "
    r"|ik (?:ben|heb|was) )"
    r"(?!.{0,120}\b(?:you|your|yours|du|dir|dein\w*|sie|ihnen|tu|te|toi|vous|usted|tú|ti|voi|você|je|jij|jou|answers?"
    r"|repl\w+|respon\w+)\b)"
)
"""Matches a clause about the speaker's state, actions or plans, without a request to the listener."""
_FAMILY = Pattern(
    r"(?i)\A\W{0,3}(?:i|we)(?:'ve| have)(?: got)? (?:\w+ ){0,2}"
    r"(?:kids?|children|sons?|daughters?|brothers?|sisters?|twins)\W*\Z"
)
_CATEGORIES = tuple(label for label in KEPT if label not in ("safety", "change"))


def is_order(text: str, opinion: Opinion) -> bool:
    """Return True if a statement looks like a standing instruction and does not describe its speaker's actions."""
    return opinion.kept_as == "instruction" and _NARRATES.match(text) is None


ORDERED_FROM = 0.5
"""Share of `KEPT` by the words alone from which a sentence is an order: likelier so than all else that is kept."""


@lru_cache(maxsize=4096)
def may_order(text: str) -> bool:
    """Return False for a sentence that states something rather than gives an order, though `category_of` may have
    found nothing better for it: "Milo called it Sir Prickles". Of words of another language nothing is known.
    """
    if is_standing_order(text) or LASTS.match(text) or not is_english(text):
        return True
    (opinion,) = weights().opinions([text])
    return opinion.share("instruction") >= ORDERED_FROM * opinion.keep


def category_of(opinions: Sequence[Opinion], texts: Sequence[str]) -> str:
    """Return the category of a statement: a statement about safety is a constraint, a changed fact is a fact; standing
    instructions and preferences are recognised by the words of one of the `texts`.
    """
    if any(is_standing_order(text) or (LASTS.match(text) and WHEN_ASKED.search(text)) for text in texts):
        return "instruction"
    best = max(opinions, key=lambda one: one.keep, default=None)
    if best is not None and best.kept_as == "safety":
        return "constraint"
    if any(map(PREFERS.match, texts)):
        return "preference"
    if best is None:
        return "fact"
    found = "relation" if any(map(_FAMILY.match, texts)) else max(_CATEGORIES, key=best.share)
    if found == "instruction" and all(map(_NARRATES.match, texts)):
        return max((one for one in _CATEGORIES if one != "instruction"), key=best.share)
    if found in ("fact", "event") and any(map(HABIT.match, texts)):
        return "preference"
    return found
