"""Statements that refer to something unknown: a pronoun without a noun, an object known only to the speakers, a phrase
without a verb.

On their own they mean nothing: "I named her Tilly", "This trilogy is one of my favourites", "Garlic, lemon and herbs".
Each rule looks at the form of a sentence; none looks at its topic.
"""

from __future__ import annotations

from mnemic_language.sentences.social_remarks import NAMED, OWN
from mnemic_language.sentences.tables import pattern

LEANING = pattern(
    r"^\W{0,3}(?:(?:and|but|so|plus|also|yeah|well|oh|und|aber|et|mais|y|pero|e|ma|mas|en|maar),? )?"
    r"(?:(?:two|three|four|some|most|both|all|one|none|many|few|half) of (?:them|these|those)|"
    r"he|she|they|it|his|her|their|its|he's|she's|they're|it's|"
    r"les? (?:encant|gust|duel|interes|molest|apetec|falt)\w*|(?:gli|le) (?:piac|manc|serv)\w*|"
    r"(?:ihm|ihnen) (?:gefällt|gefallen|schmeckt|fehlt|geht)|(?:lui|leur) (?:plaît|plaisent|manque)|"
    r"er|sie|ihr|ihre|il|elle|ils|elles|él|ella|ellos|lui|lei|ele|ela|hij|zij|ze|hun|same|both|one|the other)\b"
)
"""Matches a beginning that refers to the text before it."""
_OPENS = r"^\W{0,3}(?:(?:and|but|so|yeah|yes|yep|well|oh|also|plus|then|actually|now|finally),? ){0,3}"
_ENDS = (
    r"(?=\W*$|[,.!;]| (?:in|at|on|for|to|when|while|because|since|as|with|from|after|before|by|last|this|next|a|an|"
    r"yesterday|today|two|three|years?|and|but|so|every|all|(?-i:[A-Z])\w+)\b)"
)
_OBJECT = pattern(
    rf"{_OPENS}(?:i|we|i've|we've|i'm|we're|a friend(?: of mine)?|my \w+) "
    r"(?:(?:just|also|only|really|even|always|never|rarely|hardly|usually|often|once|recently|finally|still|do|did"
    r"|had|have|love|like|"
    r"loved|loving|enjoy|decided to|got to|get to|want to|wanted to) ){0,3}"
    r"(?!ma[dk]e it (?:to|in|through|home|here|there|work|up)\b|did it|have it|had it|got it|get it|"
    r"(?:like|love|hate) it when)"
    rf"(?:\w+ )(?:it|them|him|those|these|(?:her|this|that){_ENDS})\b(?! (?:when|if|that|clear|easy|hard|to me)\b)"
)
"""Acts of the speaker on something that is only a pronoun: "I adopted him", "I bought it a year ago in Paris"."""
_RECIPE = pattern(
    rf"{_OPENS}(?:i|we) (?:usually |just |also |always |often )?(?:made|make|put|added|add|used|use|cook|cooked|bake|"
    r"baked) (?:it|them|this|that|those|one)\b(?! (?:to|in|through|home|here|there|work|up)\b)"
)
_OF_OTHERS = pattern(
    rf"{_OPENS}(?:he|she|they|it|his|her|their|its|he's|she's|they're|it's|they've|he was|sie (?:ist|sind|hat|haben)|er"
    r"|elle|elles|ils|él|ella|ellos|lei|ele|ela|hij|zij)\b"
)
"""Matches a statement about somebody who was at most named before."""
_THING = pattern(rf"{_OPENS}(?:it|it's)\b")
_OWN_ACT = pattern(r"\b(?:i|i'm|i've|i'd|i'll|my|mine|we|we're|we've|our|ours)\b")
"""Words for the speaker but as the one to whom something is done: "It takes me back" is about nothing that is named."""
_PERSON = pattern(
    rf"{_OPENS}(?:he|she|they|he's|she's|they're|his|her|their|er|sie|elle|él|ella|lei|ele|ela|hij|zij)\b"
)
_KNOWN_TO_BOTH = pattern(
    rf"{_OPENS}(?:this|these|those|that) (?!is\b|was\b|are\b|were\b|week|month|year|morning|summer|winter|spring|"
    r"autumn|time\b|day|evening|weekend|semester|season|means|isn't|one of|and\b)\w+(?: \w+)? "
    r"(?:is|was|are|were|has|have|had|makes?|made|reminds?|gave|gives|means?|meant|helps?|helped|looks?|brings?)\b"
)
"""About a thing that is shown or was named by the other: "This trilogy is one of my favourites"."""
_IS_SHOWN = pattern(
    rf"{_OPENS}(?:this|that|these|those)(?:'s| is| was| are| were) (?:where|what|how|why|when|my (?:favou?rite|first|"
    r"last|dream)|one of (?:my|the)|our (?:favou?rite|first)|a (?:pic|photo|picture|shot))\b"
)
_LIST = pattern(r"^\W{0,3}(?:\w+(?: \w+)?, ){1,5}(?:\w+(?: \w+)? )?(?:and |or )\w+(?: \w+)?\W*$")
"""Matches a bare list of things: the answer to a question that is not visible."""
_INTRODUCED = pattern(rf"{_OPENS}(?:this|that)(?:'s| is) (?-i:[A-Z])[\w'-]+(?:\W*$| – | - |, (?:he|she|they|our)\b)")
"""Matches an introduction by name: "This is Pepper"."""
_FRAGMENT = pattern(
    rf"{_OPENS}(?:as an? [\w -]{{3,40}}|all (?:from|for|in|with) [\w' -]{{3,40}}|"
    r"my [\w-]+(?: (?:only|too|also|mostly|again))?|(?:i|we) (?:don't|dont|do not) (?:have|know|want|need"
    r"|see) any(?: (?:nearby|left|here|there))?|"
    r"(?:still |the )?same (?:answer|thing|here|as) [\w ,']{0,40}|"
    r"especially (?:when|if|with) .{3,160}|besides (?:that|this)[\w' ,-]{0,40}|"
    r"my \w+ with (?:their|his|her|my) [\w -]{3,40})\W*$"
)
"""The end of a sentence that was left in the air."""
_TWO_UNNAMED = pattern(
    rf"{_OPENS}(?:he|she|they|he's|she's|they're)\b[^.!?]{{1,60}}\b(?:to|of|by|from) (?:them|it|those|these)\W*$"
)
"""Matches a statement that names neither the person nor the thing: "He's allergic to them"."""


def is_of_a_person(text: str) -> bool:
    """Return True if a statement begins with a person who was named before, and says of what."""
    return _PERSON.search(text) is not None and _TWO_UNNAMED.search(text) is None


def leans(text: str) -> bool:
    """Return True if a statement begins with, or is about, something that only the text before it names."""
    return bool(LEANING.search(text) or _OBJECT.search(text))


def hangs(text: str) -> bool:
    """Return True if a statement on its own leaves open what it is about: it contains no name and no number that says
    so.
    """
    if _INTRODUCED.search(text) or _FRAGMENT.search(text) or _LIST.search(text) or _RECIPE.search(text):
        return True
    if _THING.search(text):
        return not (_OWN_ACT.search(text) or NAMED.search(text))
    if _OF_OTHERS.search(text):
        return not (OWN.search(text) or NAMED.search(text))
    if _KNOWN_TO_BOTH.search(text) or _IS_SHOWN.search(text):
        return NAMED.search(text) is None
    return _OBJECT.search(text) is not None
