"""Reference of a statement that begins with "he" or "she": the only person that the talk has just named.

Reads the preceding question, and the author's words before it. If both name nobody, or several people, the reference is
unknown, and the pronoun is not replaced. English only.
"""

from __future__ import annotations

import re

from mnemic.language.sentences.casual_spelling import written_out
from mnemic.language.sentences.tables import straight

_OPENS = re.compile(
    r"(?i)\A\W*(?:(?:yeah|yes|yep|no|nah|oh|well|and|but|so|because|cos|actually|lol|haha|apparently)\b[\s,]*)*"
    r"(?P<who>he|she|him|her|his|they)(?P<clitic>'s|s|'d|'ll)?(?= \w)"
)
_SHE = frozenset(
    "mother mum mom mam mama sister wife daughter girlfriend aunt auntie niece grandmother gran grandma nana nan "
    "granny fiancee girl landlady stepmother mother-in-law sister-in-law".split()
)
_HE = frozenset(
    "father dad brother husband son boyfriend uncle nephew grandfather grandad grandpa fiance boy landlord stepfather "
    "father-in-law brother-in-law stepson".split()
)
_EITHER = frozenset(
    "partner boss manager cousin friend doctor teacher baby kid child dog cat puppy kitten neighbour neighbor flatmate "
    "roommate housemate colleague coach therapist dentist".split()
)
_RELATIVE = re.compile(
    r"(?i)\b(?P<whose>my|our|your|ur)\s+(?:(?:little|big|older|younger|old|new|best|poor|other|eldest|youngest)\s+)?"
    rf"(?P<who>{'|'.join(sorted(_SHE | _HE | _EITHER, key=len, reverse=True))})(?:'s)?\b"
    r"(?: (?P<name>(?-i:[A-Z][a-z]+)))?"
)
_NAME = re.compile(r"(?<![.!?]\s)(?<!\A)\b(?P<name>[A-Z][a-z]{2,15})(?:'s)?\b")
_OPENING_NAME = re.compile(
    r"\A\W*(?P<name>[A-Z][a-z]{2,15})(?:'s|(?:'s)? (?:is|was|has|had|went|got|\w{2,12}(?:s|ed)))\b"
)
_NO_NAMES = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december christmas easter english spanish french german italian dutch god the and but "
    "yes yeah what how who when where why did does has she her his they it's that that's there here this".split()
)


def opens_with_person(text: str) -> bool:
    """Return True if a statement begins with "he" or "she", or with their possessive."""
    return _OPENS.match(written_out(straight(text))) is not None


def person_named(text: str, asked: str, own: str) -> str:
    """Return the person that `text` begins with, as its author calls them ("my mother", "Cody"); empty if unknown.
    `asked` contains the other person's preceding words, `own` the author's words before them.
    """
    begins = _OPENS.match(written_out(straight(text)))
    if begins is None or begins["who"].casefold() == "they":
        return ""
    she = begins["who"].casefold() in ("she", "her")
    for said, turned in ((asked, True), (own, False)):
        named = _persons(written_out(straight(said)), she=she, turned=turned)
        if len(named) == 1:
            return named.pop()
        if named:
            return ""
    return ""


def with_person(text: str, person: str) -> str:
    """Return the statement with its initial pronoun replaced by the person."""
    plain = written_out(straight(text))
    begins = _OPENS.match(plain)
    if begins is None:
        return text
    possessive = begins["who"].casefold() in ("his", "her") and not begins["clitic"]
    clitic = begins["clitic"] or ""
    put = f"{person}'s" if possessive else person + ("'s" if clitic == "s" else clitic)
    return put[0].upper() + put[1:] + plain[begins.end() :]


def _persons(said: str, *, she: bool, turned: bool) -> set[str]:
    """Return the persons that a text names, of the required gender."""
    found: set[str] = set()
    for one in _RELATIVE.finditer(said):
        word, whose = one["who"].casefold(), one["whose"].casefold()
        if word in (_HE if she else _SHE) or (turned and whose == "my"):
            continue
        found.add(one["name"] or f"{'our' if whose == 'our' else 'my'} {word}")
    names = [one["name"] for form in (_NAME, _OPENING_NAME) for one in form.finditer(said)]
    return found | {name for name in names if name.casefold() not in _NO_NAMES}
