"""Small talk: greetings, thanks, farewells and nods, to which no memory is relevant.

An old chat message "Good morning!" resembles another greeting perfectly, and answers nothing. A request is small talk
if it is short, and consists only of words of such phrases, at least one of them a word used only there. Any other word,
such as the name of a thing or a person, makes it a request.
"""

from __future__ import annotations

import re

LONGEST = 120
"""Maximum number of characters of small talk."""

_WORD = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(r"\d")
_SAID = frozenset(
    """
    hi hello hey heya hiya yo howdy greetings welcome morning afternoon evening night bye goodbye cheers
    thanks thank thankyou thx ty appreciate appreciated grateful sorry apologies pardon excuse
    ok okay okey alright sure yes yeah yep yup no nope nah right fine cool great good nice awesome amazing wonderful
    fantastic excellent perfect brilliant lovely super neat sweet wow ah oh haha hahaha hehe lol rofl aha
    understood noted agreed exactly indeed absolutely definitely certainly got gotcha nevermind mind problem worries
    helpful funny going doing meet later soon glad pleased happy congrats congratulations bravo love
    sleep dreams joking kidding bless luck impressive interesting clever smart kind phew nailed brb gotcha cute welcome
    hola gracias adiós buenos buenas vale perdón hallo danke tschüss servus moin guten bitte salut bonjour merci bonsoir
    ciao grazie prego buongiorno olá obrigado obrigada tchau hoi dankjewel hej tack takk hei cześć dzięki привет спасибо
    """.split()
)
"""Words that greet, thank, take leave, nod or laugh."""
_FILLS = frozenset(
    """
    hm hmm huh
    a an the and but so then there that this it its is was are were be been am do does did has have i you we me us your
    of for to in on at with as very much so really too again all just now today tonight day days week one well what how
    up who s m re ve ll d t don didn doesn let see hear know think guess feel makes make sense works work sounds sound
    looks look help helped time never not any best most lot lots bit more about dear friend everyone everybody folks
    please say said talk chat catch take care have had having will would can could happen worry long things life rest
    from by back off out there here bunch ton million found done hear hope hopefully wait hold hang moment second minute
    go gotta must busy weekend fun joke quite pretty quick quickly fast tomorrow already still yet also
    días tardes noches muchas tag morgen abend nacht schönen vielen tout va bien muito bom dia dank je
    """.split()
)
"""Words between the others that alone ask for nothing."""
_ASKS = re.compile(
    r"\b(?:what|who)(?:['\u2019]s| is| was| are| were)? (?!up\b|going\b|happening\b|new\b)"
    r"|\bdid (?:i|we)\b|\bmy\b|\bhelp (?:me|us)\b|\bremind\b",
    re.IGNORECASE,
)
"""Forms that do ask for something: "What did I say?", "Who was it?"."""
_OF_ONESELF = re.compile(r"\b(?:i|we) (?:do|did|say|said|see|work|had|have|think|know|love|meet)\b", re.IGNORECASE)
"""The same, in a question."""
_PRAISES = re.compile(r"\A\W*[Yy]ou(?:['\u2019]re| are| were) (?:[a-z]+ ){0,2}[a-z]+\W*\Z")
"""Matches a remark to the assistant itself: "You are fast today."."""
_GREETS = re.compile(
    r"\bhow (?:are|is|have) (?:you|things|life)\b|\bhow(?:['\u2019]s| is) it\b|\bwhat(?:['\u2019]s| is) up\b",
    re.IGNORECASE,
)
"""Greetings made of such words."""


def is_small_talk(text: str) -> bool:
    """Return True if `text` asks for nothing, whatever the memories."""
    if len(text) > LONGEST or _DIGIT.search(text):
        return False
    words = [word.lower() for word in _WORD.findall(text)]
    if not words or _ASKS.search(text) or ("?" in text and _OF_ONESELF.search(text)):
        return False
    if _PRAISES.match(text) and "?" not in text and not {"i", "me", "us", "we"} & {*words}:
        return True
    said = not _SAID.isdisjoint(words) or _GREETS.search(text) is not None
    return said and all(word in _SAID or word in _FILLS for word in words)
