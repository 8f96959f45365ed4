"""Statements that refer to something unknown: a pronoun without a noun, an object known only to the speakers, an
amount. On their own they mean nothing: "I named her Tilly", "24k.".
"""

from __future__ import annotations

from mnemic.language.sentences.casual_spelling import written_out
from mnemic.language.sentences.general_knowledge_messages import NAMED, speaks_of_self
from mnemic.language.sentences.tables import pattern

LEANING = pattern(
    r"^\W{0,3}(?:(?:and|but|so|plus|also|yeah|well|oh|und|aber|et|mais|y|pero|e|ma|mas|en|maar),? )?"
    r"(?:(?:two|three|four|some|most|both|all|one|none|many|few|half) of (?:them|these|those)|"
    r"he|she|they|it|his|her|their|its|he's|she's|they're|it's|"
    r"les? (?:encant|gust|duel|interes|molest|apetec|falt)\w*|(?:gli|le) (?:piac|manc|serv)\w*|"
    r"(?:ihm|ihnen) (?:gefällt|gefallen|schmeckt|fehlt|geht)|(?:lui|leur) (?:plaît|plaisent|manque)|"
    r"er|sie|ihr|ihre|il|elle|ils|elles|él|ella|ellos|lui|lei|ele|ela|hij|zij|ze|hun|same|both|one|the other)\b"
)
"""Matches a beginning that refers to the text before it."""
_OPENS = (
    r"^\W{0,3}(?:(?:and|but|so|yeah|yes|yep|yup|nah|nope|no|well|o+h+|a+h+|hm+|um+|uh+|ha(?:ha)+|lol|cool|ok|okay|true|right|also|plus"
    r"|then|actually|now|finally|honestly|although|though|cause|because),? ){0,3}"
)
_ENDS = (
    r"(?=\W*$|[,.!;]| (?:in|at|on|for|to|when|while|because|since|as|with|from|after|before|by|last|this|next|a|an|"
    r"yesterday|today|two|three|years?|and|but|so|every|all|(?-i:[A-Z])\w+)\b)"
)
_OBJECT = pattern(
    rf"{_OPENS}(?:i|we|i've|we've|i'm|we're|a friend(?: of mine)?|my \w+) "
    r"(?:(?:just|also|only|really|even|always|never|rarely|hardly|usually|often|once|recently|finally|still|do|did"
    r"|don't|didn't|haven't|can't|couldn't|wouldn't|won't|had|have|love|like|"
    r"loved|loving|enjoy|decided to|got to|get to|want to|wanted to) ){0,3}"
    r"(?!ma[dk]e it (?:to|in|through|home|here|there|work|up)\b|did it|have it|had it|got it|get it|"
    r"(?:like|love|hate) it when)"
    rf"(?:\w+ )(?:it|'?em|them|him|those|these|(?:her|this|that){_ENDS})\b(?! (?:when|if|that|clear|easy|hard|to me)\b)"
)
"""Matches acts of the speaker on a mere pronoun: "I adopted him", "I bought it a year ago in Paris"."""
_OF_OTHERS = pattern(
    rf"{_OPENS}(?:he|she|they|it|his|her|their|its|he's|she's|they're|it's|they've|he was|sie (?:ist|sind|hat|haben)|er"
    r"|elle|elles|ils|él|ella|ellos|lei|ele|ela|hij|zij)\b"
)
"""Matches a statement about somebody named only before it, if at all."""
_PERSON = pattern(
    rf"{_OPENS}(?:he|she|they|he's|she's|they're|his|her|their|er|sie|elle|él|ella|lei|ele|ela|hij|zij)\b"
)
_UNIT = (
    r"(?:mornings?|afternoons?|evenings?|nights?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|days?|weeks?|weekends?"
    r"|weekdays?|months?|years?|summers?|winters?|springs?|autumns?)"
)
_PLAIN_NUMBER = r"[£$€~]?\d[\d.,:/x]*(?:st|nd|rd|th|k|m|am|pm|kg|g|lbs?|oz|mg|ml|km|mi|hrs?|mins?|%|ish)?"
_OF_AMOUNTS = (
    rf"(?:{_PLAIN_NUMBER}|{_UNIT}|hours?|minutes?|quid|pounds?|dollars?|bucks|euros?|grand|miles|percent|degrees|times|people|pages"
    r"|am|pm|yrs?|olds?|ounces?|kilos?|mon|tues?|wed|weds|thurs?|fri|sat|sun|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|january|february"
    r"|march|april|june|july|august|september|october|november|december|a|an|the|of|or|and|to|till?|until|by|at|in|on|from"
    r"|for|per|each|over|about|around|only|just|like|maybe|almost|nearly|roughly|noon|midnight|half|past|ish|lol|haha|tho"
    r"|though|now|baby|man|mate|so|yeah|yep|no|well|ok|ugh|one|two|three|four|five|six|seven|eight|nine|ten|twelve|rip|both)"
)
_AMOUNT_ALONE = pattern(rf"^\W{{0,3}}(?=[^.!?]{{0,40}}\d)(?:{_OF_AMOUNTS}\b\W{{0,3}}){{1,6}}+$")
"""Matches an amount or a time of an unnamed thing, as an answer: "24k.", "Til 6.", "Day 9.", "1400 a month."."""

_TWO_UNNAMED = pattern(
    rf"{_OPENS}(?:he|she|they|he's|she's|they're)\b[^.!?]{{1,60}}\b(?:to|of|by|from) (?:them|it|those|these)\W*$"
)
"""Matches a statement that names neither the person nor the thing: "He's allergic to them"."""


def is_of_a_person(text: str) -> bool:
    """Return True if a statement begins with a person named before, and names the thing concerned."""
    return _PERSON.search(text) is not None and _TWO_UNNAMED.search(text) is None


def leans(text: str) -> bool:
    """Return True if a statement begins with, or is about, something that only the text before it names."""
    return any(form.search(text) is not None for form in (LEANING, _OBJECT, _AMOUNT_ALONE))


def hangs(text: str) -> bool:
    """Return True if a statement alone does not identify its subject: no name and no number in it does."""
    text = written_out(text)
    if _AMOUNT_ALONE.search(text):
        return True
    if _OF_OTHERS.search(text):
        return not (speaks_of_self(text) or NAMED.search(text))
    return _OBJECT.search(text) is not None
