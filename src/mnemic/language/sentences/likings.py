"""Likes, dislikes, needs and values that their wording marks beyond doubt, whatever their object.

The object must be a kind of thing: words that refer to something just mentioned, or to one occasion, express no lasting
liking. The wordings are tables (`wants`).
"""

from __future__ import annotations

from mnemic.language.sentences.habits import HABIT
from mnemic.language.sentences.preference_wordings import PREFERS
from mnemic.language.sentences.wants import FRAMES, OPENINGS, VERDICTS, WHOLE
from mnemic.language.text.pattern import Pattern

LIKED_FROM = 0.05
"""Minimum probability for storing such a statement without a request to remember it: the classifier considers many of
them opinions.
"""
_POINTING = r"it|that|this|these|those|you|your|yours|him|her|them|his|their|he|she|they|we|us|me|i|what|how"
_OF_THE_MOMENT = (
    rf"(?!(?:{_POINTING}|when|where|why|my|our|tomorrow|tonight|today|yesterday|next|last|question|option"
    r"|going to (?:the|my)|the (?:[\w-]+ ){0,2}?(?:answer|draft|option|idea|plan|suggestion|proposal|result|conclusion"
    r"|remark|comment|e-?mail|message|meeting|exam|test|exercise|question|homework|way|thought|fact|rest|other|first"
    r"|second|third|last|next|one|building|page|movie|film|book|song|show|photo|picture|news|manager|boss|update"
    r"|problem))\b)"
)
_NAME = r"[\w'’-]{1,30}(?:,? [\w'’-]{1,30}){0,8}?"
_WITHIN = "|".join(rf"{before} (?!(?:{_POINTING}|the)\b){_NAME} {behind}" for before, behind in FRAMES)
_SUBJECT = (
    rf"(?!(?:{_POINTING}|there|my|our|nothing|everything|something|who|which|the|\w+day|\d\w*|one|\w+ing it)\b){_NAME}"
)
_THIS_TIME = (
    r"(?![^.!?]{0,160}\b(?:today|tomorrow|tonight|yesterday|right now|at the moment|just now|for now"
    r"|this (?:morning|afternoon|evening|week|weekend|month|time|one))\b)"
)
_LEAD = (
    r"(?:(?:please note(?: that)?|note that|for me|personally|honestly|frankly|generally|in general|to be honest"
    r"|unfortunately|however|i(?:'ve| have) tried(?: [^,.]{0,40})?|no matter [^,.]{1,40}|as (?:an?|someone) [^,.]{2,60}"
    r"|(?:due to|because of|owing to|since|after|for|given|having|with) [^,.]{2,60}|when it comes to [^,.]{2,40}"
    r"|but|and|so|because|as|though|although),? ){0,2}"
)
LIKING = Pattern(
    rf"(?i)\A[^\w]{{0,3}}{_THIS_TIME}{_LEAD}"
    rf"(?:(?:{'|'.join(OPENINGS)}) {_OF_THE_MOMENT}[\w'’-]|{_WITHIN}|{'|'.join(WHOLE)}"
    rf"|{_SUBJECT} (?:really |just |simply |always )?(?:{'|'.join(VERDICTS)}))"
)
"""Matches a lasting like, dislike, need or value of the speaker."""
_IN_MARKS = Pattern(r"(?s)\A\s*[\"“„«](?P<said>[^\"“”„«»]{3,2000})[\"”“»]\s*\Z")


def without_marks_around(text: str) -> str:
    """Return a message that is only a liking in quotation marks, with spaces for the marks: no other person is named as
    its speaker. Any other text is returned unchanged.
    """
    found = _IN_MARKS.match(text)
    if found is None or not any(liking.match(found["said"]) for liking in (LIKING, HABIT, PREFERS)):
        return text
    start, end = found.span("said")
    return f"{text[: start - 1]} {found['said']} {text[end + 1 :]}"
