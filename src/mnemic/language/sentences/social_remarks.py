"""Social remarks: clauses that cheer, comfort or advise the listener, show a picture, comment on the conversation,
state general truths, or name nothing.

Each rule considers the subject of a clause; none considers its topic. A clause that states something about the speaker,
or contains a name or a number, is not a mere remark.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from importlib.resources import files

from mnemic.language.sentences.casual_spelling import written_out
from mnemic.language.sentences.tables import pattern, straight
from mnemic.language.text.pattern import Pattern

_CALL = re.compile(
    r"\A\W*+(?:(?i:oof|ugh|ouch|yikes|jeez|dang|damn|omg|yep|yes|yeah|yup|wow|woah|whoa|woohoo|haha|hey|hi|hello|oh"
    r"|aw+|well|so|and|but|plus|also|thanks|"
    r"thank you|definitely"
    r"|totally|absolutely|exactly|sure|right|cool|nice|great|indeed|agreed|"
    r"man)\b(?!\s(?:that|to|job|luck|one|work|idea|for)\b)[\s,!.–-]++)*+(?:[A-Z][a-z]{1,19}[,!]\s+)?"
)
"""Matches interjections and the listener's name at the beginning of a clause."""
_CALLED_LAST = re.compile(r",\s[A-Z][a-z]{1,19}\s?[.!?]*\Z")
_SHOWN = pattern(
    r"^\W{0,3}(?:guess what\W{1,3})?(?:here's|here is|here are|here, look at|check out|look at|take a look at) "
    r"(?:a |an |my |the |some |this |another |one of my )?(?:\w+ ){0,2}"
    r"(?:pics?|pictures?|photos?|snaps?|selfies?|videos?|shots?)\b|"
    r"^\W{0,3}(?:here's|here is|here are) (?:me|us)\b|"
    r"^\W{0,3}(?:that's|that is|these are|those are) (?:me|us|(?-i:my [a-z]+(?:,? and (?:my )?[a-z]+)*))\W*$"
)
"""Matches a clause that only shows something to the other person: "Here's a pic from a hike last year"."""
_CHEER = pattern(
    r"^\W{0,3}(?:awesome|amazing|way to go|(?:good|nice|great) (?:job|luck|one|work|idea|for you|to hear)|well done|"
    r"congrat\w*|"
    r"keep (?:it up|going|at it)|i(?:'m| am)?(?: so)? (?:proud of|happy for|believe in) you|glad (?:to hear|you)|"
    r"(?:so )?(?:sorry|happy|good|nice|great) to (?:hear|see)|sounds? (?:like|so|really|great|nice|cool|fun|awesome|"
    r"good)|"
    r"that(?:'s| is| sounds| must be) (?:so |really |such |pretty )?(?:an? )?"
    r"(?:awesome|amazing|great|cool|nice|wonderful|fantastic|inspiring|lovely|impressive|incredible)|impressive|"
    r"(?:so )?(?:cool|great|nice|awesome|amazing|wonderful) that|"
    r"best of luck|you(?:'ve)? got this|hope (?:all|things|everything|you)|(?:glad|hopefully|i bet) (?:you|that)|"
    r"(?:so |really )?(?:glad|relieved) (?:your|everyone|things?|it|he|she|they)\b|"
    r"(?:no|don't) worr\w+|no doubts?|thanks for|i (?:totally |completely |fully )?(?:agree|get it|get how)|"
    r"(?:totally|couldn't) agree|trust me)\b"
)
"""Matches praise, comfort and good wishes to the listener."""
_LISTENER = pattern(
    r"^\W{0,3}(?:(?:because|'cause|since|when|as|remember|i know|i bet|i hope|i think|i guess|i'm sure|i can see|i "
    r"can tell)[, ] ?)?"
    r"(?:you|you're|you've|you'll|you'd|your|yours)\b"
)
"""Matches a clause with the listener as its subject."""
_ATTITUDE = pattern(
    r"^\W{0,3}(?:(?:i|we)(?:'m| am|'re| are| do| can|'ll)?(?: (?:so|very|really|always|also|truly|totally|"
    r"definitely|just|super))* "
    r"(?:appreciate|admire|bet|hope|trust|wish|understand|love that|love how|see how|feel you|proud|happy|glad|"
    r"excited for|sorry|thankful|"
    r"grateful|lucky|blessed|impressed|here for|agree with)|thanks for|thankful|grateful|proud) (?:[\w'-]+ ){0,6}?"
    r"(?:you|your|you're|you've|our friendship)\b"
)
"""Matches the speaker's thanks, hopes and praise for the listener."""
_TALK = pattern(
    r"^\W{0,3}(?:i(?:'ll| will|'m gonna|'m going to|'d)(?: be sure to| make sure to| make sure| definitely| for "
    r"sure)? (?:keep (?:you|u)|"
    r"let you|give (?:you|it) a|check (?:it|them|that|those|this|out)|tell you|send (?:you|it)|show you|share|be "
    r"there for you)|"
    r"keep (?:me|us) (?:updated|posted|in the loop)|let me know|talk to you|catch (?:you|up)|"
    r"i(?:'m| am) always here\b|i(?:'m| am) here (?:for|if) you|i (?:just )?(?:wanted|want) to (?:fill you in|tell "
    r"you|share|let you know|check in|"
    r"say|catch up)|(?:it's been|it has been|been) (?:a |quite |such a |so |too )*(?:few|while|long|\w+) ?(?:days|"
    r"weeks|months|while|time)?"
    r" since we\b|since we(?: last)? (?:spoke|talked|chatted|met)\W*$|we last (?:spoke|talked|chatted)\W*$|long "
    r"time no|"
    r"i(?:'ve| have)?(?: got| have)? (?:some |a |such )*(?:\w+ )?news\b[^,.;-]{0,20}$|i know what you mean|"
    r"(?:something|crazy|lots of|a lot of|so many|some) (?:\w+ )?(?:things?|stuff)? ?(?:has |have "
    r")?happened\b[^,.;-]{0,30}$)"
)
"""Matches words about the talk itself: news to come, promises to write."""
_ONCE = re.compile(r"(?i)\b(?:when|whenever|if|once|as soon as) i\b[^,;:]{0,200}")
"""Matches the moment for fulfilling a promise."""
_CHEERS_ON = pattern(
    r"^\W{0,3}(?:just |always |please |remember to |don't forget to |and )*(?:don't (?:give (?:up|in)|worry|lose|"
    r"let (?:it|the|"
    r"any)|hesitate|be (?:afraid|scared|shy|so hard|too hard))|keep (?:on )?(?:going|pushing|fighting|trying|"
    r"believing|"
    r"chasing|inspiring|motivating|learning|smiling|shining|up (?:the|your))|stay (?:strong|positive|motivated|"
    r"focused|safe|"
    r"true|tuned)|never (?:give up|lose|stop believing)|believe in|enjoy (?:it|the|every|your)|hang in|take "
    r"(?:care|it easy|"
    r"your time)|go for it|let's (?:all|keep (?:going|pushing|supporting|working|each|up|it up|making)|make (?:it "
    r"happen|a "
    r"difference))|have (?:fun|a (?:great|good|nice|lovely|blast)))\b"
)
"""Matches encouragement: advice to the listener for their own good."""
_PRAISES = (
    r"(?:(?:so|really|very|such|pretty|truly|super|quite|both|always|an|a|the|all|is|one of the|how|more|even|"
    r"definitely) ){0,4}"
    r"(?:awesome|amazing|great|cool|nice|wonderful|fantastic|inspiring|lovely|impressive|incredible|rewarding|"
    r"fulfilling|tough|hard|"
    r"important|key|best|fun|cute|beautiful|powerful|meaningful|challenging|easy|crucial|special|scary|exciting|"
    r"priceless|worth it|"
    r"good|gorgeous|stunning|magical|refreshing|exhausting|satisfying|essential|vital|necessary|unforgettable|crazy|"
    r"wild|adorable|sweet|pretty|"
    r"delicious|yummy|tasty|perfect|thrilling|therapeutic|relaxing|calming|fascinating|interesting|tricky|difficult|"
    r"surreal)\b"
)
_FEELING = re.compile(
    r"(?i)\A\W*(?:oof|ugh|ouch|yikes|jeez|dang|damn|omg|wow|woah|whoa|woohoo|aw+)\b[\s,!.–-]+(?=\S)(?P<rest>.*)",
    re.DOTALL,
)
"""Matches an exclamation and its object."""
_TELLS = pattern(
    r"\b(?:is|are|was|were|has|have|had|will|'s|'re|got|gone|can|can't|won't|didn't|doesn't|don't|no|not|\w{2,}ed)\b"
)
_PRAISE = pattern(rf"\b(?:is|isn't|are|aren't|was|were|be|been|looks?|seems?|feels?|'s|'re|sounds?|tastes?) {_PRAISES}")
_MAXIM = pattern(
    r"\b(?:is|are|makes?|can make|means?) (?:\w+ ){0,4}(?:key|important|the best|a (?:big |huge |real )?difference|"
    r"a (?:big|huge|real) impact|worth it|priceless|everything|(?:powerful|rewarding|fulfilling|meaningful))\b|"
    rf"^\W{{0,3}}(?!morning|evening|wedding)\w{{3,}}ing\b[^,;]{{0,80}}\b(?:(?:is|isn't|are|was|has been|feels?) "
    rf"{_PRAISES}|"
    r"helps?|can help|pays? off|takes (?:courage|guts|time|practice)|brings?)\b|"
    r"\bcan (?:really |truly |also )?(?:help|inspire|bring|teach|change)\b|\b(?:help|teach|remind|show)s? us\b"
)
"""Matches a statement that is true for everybody: "Networking really pays off"."""
_ME = pattern(r"\b(?:i|i'm|i've|i'd|i'll|me|my|mine|myself|gonna|im)\b")
OWN = pattern(r"\b(?:i|i'm|i've|i'd|i'll|me|my|mine|we|we're|we've|us|our|ours)\b")
"""Words for the speaker, alone or with others."""
_LASTS = pattern(
    r"\b(?:always|never|from now on|in future|by default|whenever|every time|must|please|too)\b|"
    r"\b(?:should|can|may|need to|have to) (?:just |only |also |simply )?(?:answer|reply|respond|write|speak|talk|use|"
    r"keep|call|send|say|avoid|skip|stop|assume|ask|include|format|translate|switch|trust|check|be (?:brief|short|"
    r"formal|direct|honest))\b"
)
_SAYING = pattern(
    r"^\W{0,3}(?:every (?!\w*day\b|morning|evening|night|week|month|year|time|other)\w+|any \w+|anything|everything|"
    r"everyone|everybody|nobody|no one|nothing) (?:\w+ ){0,3}?(?:is|has|can|takes|needs|matters|counts|becomes|helps)\b"
)
"""Matches a statement that is true for a whole class: "Every problem has a solution"."""
NAMED = Pattern(r"\d|(?<=[a-z,'] )[A-Z][a-z]")
"""Matches a number, or a name after the beginning of its sentence."""
_APPLAUDS = pattern(
    r"^\W{0,3}(?:such |what )?(?:an? )?(?:nice|great|cool|awesome|lovely|amazing|sweet|beautiful|gorgeous|cute) "
    r"(?!.*\b(?:please|pls|only|always|not?)\b)[\w'-]+(?: [\w'-]+)?\W*$"
)
"""Matches praise without a verb: "Nice set-up, James!"."""
_EXCLAMATION = pattern(r"^\W{0,3}(?:so|such an?|how|what an?|too) [\w'-]+(?: [\w'-]+)?\W*$")
PROVERB = Pattern(
    r"(?i)\A\W{0,3}(?:that )?(?:it(?:'s| is) (?:never|always|ok(?:ay)?|all|not|important|about)\b|it takes\b"
    r"|you(?:'re|'ve| can\b| are\b)"
    r"|there's always\b|every (?:day|step|bit)\b|life\b|nobody(?:'s| is) perfect|practice makes)"
)
"""Matches the beginning of advice and proverbs."""
_ADVISES = pattern(
    r"^\W{0,3}(?:so |and |but |well )?my (?:only |best |one |main )?(?:suggestions?|advice|recommendations?|tips?"
    r"|guess|hunch) (?:is|are"
    r"|would be|for you)\b|^\W{0,3}(?:honestly,? )?i(?:'d| would)? (?:really |highly )?(?:recommend|suggest) "
    r"(?!.*\b(?:me|my|our|us)\b)"
    r"|^\W{0,3}(?:[\w']+ ){1,3}sounds? (?:so |really |pretty )?(?:nice|good|great|fun|cool|amazing|awesome|lovely"
    r"|interesting)\W*$"
    r"|^\W{0,3}(?:immer dies\w{0,2}|siempre est[aeo]s?|toujours ce(?:s|tte)?|sempre (?:quest\w|est[ae]s?)"
    r"|altijd d(?:at|ie))"
    r" [\w'-]+(?: [\w'-]+)?!+$"
    r"|^\W{0,3}(?:(?:yeah|yes|yep|sure|ok|then|so|no),? )?(?:[\w':.]+ ){1,3}works?(?: (?:fine|great|well|too))?"
    r" for (?:me|us)\W*$"
    r"|^\W{0,3}i (?:can't|cannot|cant) believe (?:it|how|that|he|she|they|you|he's|she's|they're|you're|it's)\b"
    r"|^\W{0,3}(?:greetings|salutations|good (?:morning|evening|day|night))\b[\w ,]{0,24}\W*$"
)
"""Matches the opening of advice to the listener, consent to a proposed day, amazement, or a greeting."""
_FOR_EVERYBODY = pattern(
    r"^\W{0,3}(?:it(?:'s| is)|there(?:'s| is) (?:nothing|something)) (?:(?:always|so|really|never|just|super|very"
    r"|truly|such) ){0,2}"
    r"[\w-]+(?: [\w-]+){0,2} (?:to|when|how|about) [^.!?]{3,120}\b(?:you|your|yourself|people|one|we all|everyone)\b"
)
"""Matches a judgement that is true for everybody: "It's refreshing to discover books that stay with you"."""
_GERUND = pattern(rf"^\W{{0,3}}(?!morning|evening|wedding)\w{{3,}}ing [^,;]{{2,60}}\b(?:is|would be) {_PRAISES}")
_EXCLAIMS = re.compile(r"!+\W*\Z")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|\d+")
SHORTEST = 3
"""Minimum number of words of a clause of light words: in a shorter one each word may mean much ("I quit")."""


def is_company(text: str) -> bool:
    """Return True if a clause is only a social remark."""
    said = written_out(straight(text))
    cry = _FEELING.match(said)
    if cry and not (OWN.search(cry["rest"]) or NAMED.search(said) or _TELLS.search(cry["rest"])):
        return True
    opening = _CALL.match(said)
    said = _CALLED_LAST.sub("", said[opening.end() if opening else 0 :])
    talk = _TALK.search(said)
    if talk is not None and not _ME.search(_ONCE.sub("", said[talk.end() :])):
        return True
    if _SHOWN.search(said) or _is_to_the_listener(said):
        return True
    if _ADVISES.search(said) or (opening and opening[0].strip() and _EXCLAMATION.search(said)):
        return True
    if _APPLAUDS.search(said) and ((opening and opening[0].strip()) or _EXCLAIMS.search(text)):
        return True
    return _tells_nothing(said) or (OWN.search(said) is None and _is_general(said))


def _is_to_the_listener(said: str) -> bool:
    """Return True if the clause is about or for the listener and states nothing about the speaker."""
    attitude = _ATTITUDE.search(said)
    if attitude is not None:
        return _ME.search(said[attitude.end() :]) is None
    cheer = _CHEER.search(said)
    if cheer is not None:
        return OWN.search(said[cheer.end() :]) is None
    listener = _LISTENER.search(said)
    if listener is not None:
        return not (_ME.search(said[listener.end() :]) or _LASTS.search(said))
    return bool(_CHEERS_ON.search(said)) and not _ME.search(said)


def _is_general(said: str) -> bool:
    """Return True if a clause without a first person and without a name praises or states a general truth."""
    if _FOR_EVERYBODY.search(said) or (_EXCLAIMS.search(said) and _GERUND.search(said)):
        return True
    if NAMED.search(said):
        return False
    return bool(_MAXIM.search(said) or _SAYING.search(said) or (_EXCLAIMS.search(said) and _PRAISE.search(said)))


def _tells_nothing(said: str) -> bool:
    """Return True if every word of the clause is light."""
    words = [word.casefold() for word in _WORD.findall(said)]
    return len(words) >= SHORTEST and all(word in _light() for word in words)


@lru_cache(maxsize=1)
def _light() -> frozenset[str]:
    """Return the light words, which name nothing."""
    data = json.loads(files(__package__).joinpath("data", "words_without_content.json").read_text(encoding="utf-8"))
    return frozenset(word for name, words in data.items() if name != "about" for word in words)
