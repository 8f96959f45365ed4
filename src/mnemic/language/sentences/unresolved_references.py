"""Statements that refer to something unknown: a pronoun without a noun, an object known only to the speakers, a phrase
without a verb.

On their own they mean nothing: "I named her Tilly", "This trilogy is one of my favourites", "Garlic, lemon and herbs".
Each rule considers the form of a sentence; none considers its topic.
"""

from __future__ import annotations

from mnemic.language.sentences.casual_spelling import written_out
from mnemic.language.sentences.general_knowledge_messages import speaks_of_self
from mnemic.language.sentences.social_remarks import NAMED, OWN
from mnemic.language.sentences.tables import pattern
from mnemic.language.text.months import MONTH_NUMBERS

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
_RECIPE = pattern(
    rf"{_OPENS}(?:i|we) (?:usually |just |also |always |often )?(?:made|make|put|added|add|used|use|cook|cooked|bake|"
    r"baked) (?:it|them|this|that|those|one)\b(?! (?:to|in|through|home|here|there|work|up)\b)"
)
_OF_OTHERS = pattern(
    rf"{_OPENS}(?:he|she|they|it|his|her|their|its|he's|she's|they're|it's|they've|he was|sie (?:ist|sind|hat|haben)|er"
    r"|elle|elles|ils|él|ella|ellos|lei|ele|ela|hij|zij)\b"
)
"""Matches a statement about somebody named only before it, if at all."""
_THING = pattern(rf"{_OPENS}(?:it|it's)\b")
_OWN_ACT = pattern(r"\b(?:i|i'm|i've|i'd|i'll|my|mine|we|we're|we've|our|ours)\b")
"""Words for the speaker except as the object of an act: "It takes me back" names nothing that it is about."""
_PERSON = pattern(
    rf"{_OPENS}(?:he|she|they|he's|she's|they're|his|her|their|er|sie|elle|él|ella|lei|ele|ela|hij|zij)\b"
)
_KNOWN_TO_BOTH = pattern(
    rf"{_OPENS}(?:this|these|those|that) (?!is\b|was\b|are\b|were\b|week|month|year|morning|summer|winter|spring|"
    r"autumn|time\b|day|evening|weekend|semester|season|means|isn't|one of|and\b)\w+(?: \w+)? "
    r"(?:is|was|are|were|has|have|had|makes?|made|reminds?|gave|gives|means?|meant|helps?|helped|looks?|brings?)\b"
)
"""Matches a statement about a thing shown or named by the other person: "This trilogy is one of my favourites"."""
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
"""Matches an unfinished sentence."""
_UNIT = (
    r"(?:mornings?|afternoons?|evenings?|nights?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|days?|weeks?|weekends?"
    r"|weekdays?|months?|years?|summers?|winters?|springs?|autumns?)"
)
_ONLY_TIME = (
    rf"(?:{_UNIT}|\d[\d:.]*(?:st|nd|rd|th|am|pm)?|the|of|or|and|other|at|in|on|to|from|till|until|noon|last|next|first"
    r"|half|past|around|about|mostly|only|usually|sharp|o'clock|am|pm)"
)
_EVERY = (
    r"(?:jede[nrs]? \w{3,20}|(?:tous|toutes) les \w{3,20}|(?:todos|todas) (?:los|las|os|as) \w{3,20}"
    r"|cada \w{3,20}|ogni \w{3,20}|elke \w{3,20})"
)
_TIME_ALONE = pattern(
    rf"^\W{{0,3}}(?:(?:and|but|so|usually|mostly|only|always),? )?(?:since|until|till|every|each|on|at|from|during) "
    rf"(?:{_ONLY_TIME}\b\W{{0,3}}){{1,8}}+$|"
    rf"^\W{{0,3}}{_EVERY}\W*$"
)
"""Matches the time of an event in the sentence before it: "Every Tuesday at 6"."""
_NO_VERB = pattern(
    rf"{_OPENS}(?:i|we) (?:(?:usually|mostly|always|often|normally|also|only) )?(?:"
    rf"(?:every|each) (?:{_ONLY_TIME}\b\W{{0,3}}){{1,6}}+|on (?:{_ONLY_TIME}\b\W{{0,3}}){{1,6}}+"
    r"|(?:to|with|from|on|at|in|for) (?:the|a|an|my|our) \w[\w' -]{0,40}\W*)$|"
    rf"{_OPENS}(?:ich|wir|moi|je|nous|yo|nosotros|io|noi|eu|nós|ik|wij) "
    rf"(?:immer |toujours |siempre |sempre |altijd )?{_EVERY}"
    r"(?: (?:por la|de la|da|de|à|le|la|al|om|um|à noite|alle|a las|às) ?[\w:]{1,12}){0,2}\W*$|"
    rf"{_OPENS}my \w+ (?:in|at|from|with|on) (?:the )?[\w'-]+\W*$"
)
"""Matches a sentence without its verb: "I every Tuesday evening", "I to the gym twice a week"."""
_CUT_OFF = pattern(
    rf"{_OPENS}my (?:\w+ ){{1,3}}(?:is|are|was|were)\W*$|"
    rf"{_OPENS}(?:i|i'm|we|we're|my)\b[^,;:?]{{0,60}} (?-i:the|an|a|my|our|than)\W*$|"
    rf"{_OPENS}(?:i|i'm|i am|we|we're|we are) (?:allergic to|married to|engaged to|afraid of|scared of|fond of|live in"
    r"|live with|live at|work in|work at|work for|work with|work as|based in|born in|moved to|come from|prefer|like"
    r"|love|hate|need|want|have|am|was)\W*$"
)
"""Matches a sentence that stops before its content: "I am allergic to"."""
_ONE_OF_THESE = pattern(
    rf"{_OPENS}(?:i|we|i'd|i'll|we'll|i'm) (?:(?:would|really|definitely|also|still) ){{0,2}}(?:prefer|take|pick"
    r"|choose|like|love|want|have|go (?:with|for)|going (?:with|for)) the (?:(?:first|second|third|fourth|last|other"
    r"|former|latter|one)|(?:\w+ )?ones?)(?: please)?\W*$"
)
"""Matches a choice among things that only the talk names: "I prefer the second one"."""
_ANSWERS = pattern(
    r"^\W{0,3}(?:(?:nah|nope|yes|yeah|yep|yup|ok|okay|lol|ha(?:ha)+|h*m{2,}|um+|uh+|o+h+|a+h+|cool|true|right|sure|wow|omg"
    r"|but|or|because|cause|like|although|though|instead|maybe|at least|usually yeah)\b[,.!]{0,3} |no,? "
    r"(?:it|it's|like|not|but|that|that's|the|we|they)\b)"
)
"""Matches the opening of an answer in a talk, which means nothing without the question."""
_ENGLISH = pattern(
    r"\b(?:the|an?|is|are|was|it|it's|that|that's|of|to|in|and|or|not|for|with|on|this|so|they|because)\b"
)
_THE_ONE = pattern(
    rf"{_OPENS}(?:the|that|this) ones? (?:that|that's|which|who|from|with|in|on|at|of|i|we|you|he|she)\b"
)
_THING_ALONE = pattern(
    r"^\W{0,3}(?:an?|some) (?!few\b|lot\b)(?!.*[^\x00-\x7f])"
    r"(?!.*\b(?:de|da|do|di|en|em|la|que|meu|mi|mio|mia|ti|te|se)\b)(?!.*\b(?:is|are|was|were|am|be|has|have|had|do|does|did|will|can|can't|must"
    r"|should|works?|lives?|please|always|never|only|daily|every|each|\w{3,}ed)\b)(?!.*\w'(?:s|m|re|ve|d|ll)\b)"
    r"[\w' ,-]{3,80}\W*$"
)
"""Matches a thing without a verb: a choice or a dish, as the answer to a question."""
_COUNTED = pattern(
    r"^\W{0,3}(?:about |around |only |just |over |almost |like )?\d[\d.,]*k? (?:pages|words|people|times"
    r"|minutes|mins|hours|days|weeks|months|miles|km|degrees|dollars|bucks|euros|reps|steps|points|percent)\W*$"
)
"""Matches an amount of an unnamed thing: "988 pages"."""
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
_MONTH = rf"(?:{'|'.join(sorted(MONTH_NUMBERS, key=len, reverse=True))})"
_DAY = rf"(?:\d{{1,2}}\.?(?:st|nd|rd|th)?|{_MONTH}|de|di|do|den|le|el|il|lo|la|het|van|\d{{4}})"
_BEGINS = pattern(
    rf"{_OPENS}(?:i|we)(?:'m| am|'ll|'re| are| will)? (?:start(?:ing|ed)?|begin(?:ning)?|began|leav(?:e|ing)|left"
    rf"|finish(?:ing|ed)?|mov(?:e|ed|ing) in|fly(?:ing)?|arriv(?:e|ing)) (?:{_OF_AMOUNTS}\b\W{{0,3}}){{1,6}}+$|"
    rf"{_OPENS}ich (?:fange|beginne|starte) (?:(?:am|im|ab) )?(?:{_DAY}\b\W{{0,3}}){{1,4}}+(?:an\W*)?$|"
    rf"{_OPENS}(?:je commence|on commence|empiezo|empezamos|comincio|inizio|começo|ik begin|ik start)"
    rf"(?: (?:le|en|au|el|il|a|ad|em|no|dia|op|in))? (?:{_DAY}\b\W{{0,3}}){{1,4}}+$"
)
"""Matches the start date of something named only in the sentence before: "I start on the 8th of September."."""
_NOBODY = pattern(
    rf"{_OPENS}(?:starts?|begins?|ends?|finishes|opens|closes|arrives|happens|costs|weighs|lasts|(?:brings|gets|makes|gives|puts|keeps)"
    rf" (?:me|us)) (?!(?:with|by|your|the|every|each|my|our|all|writing|using|answers?|replies)\b)[\w' ,:.-]{{1,60}}$"
)
"""Matches an act of an unnamed thing: "Starts in september.", "Brings me out in hives."."""
_ONE_ALONE = pattern(
    rf"{_OPENS}(?:i|we|i've|we've|my \w+) (?:(?:also|already|just|still) )?"
    r"(?:has|have|got|had|bought|want|need|ordered) one(?=\W*$|[,.!;])"
)
"""Matches the possession of an unnamed thing: "My brother has one, 200k miles"."""
_TWO_UNNAMED = pattern(
    rf"{_OPENS}(?:he|she|they|he's|she's|they're)\b[^.!?]{{1,60}}\b(?:to|of|by|from) (?:them|it|those|these)\W*$|"
    rf"{_OPENS}(?:(?:he|she) is|they are|he's|she's|they're) allergic\W*$"
)
"""Matches a statement that names neither the person nor the thing: "He's allergic to them"."""


def is_of_a_person(text: str) -> bool:
    """Return True if a statement begins with a person named before, and names the thing concerned."""
    return _PERSON.search(text) is not None and _TWO_UNNAMED.search(text) is None


def begins_unnamed(text: str) -> bool:
    """Return True if a statement only gives the beginning or end of something that it does not name."""
    return _BEGINS.search(written_out(text)) is not None


def leans(text: str) -> bool:
    """Return True if a statement begins with, or is about, something that only the text before it names."""
    return any(
        form.search(text) is not None
        for form in (LEANING, _OBJECT, _TIME_ALONE, _AMOUNT_ALONE, _LIST, _INTRODUCED, _NOBODY, _ONE_ALONE)
    )


def is_broken_off(text: str) -> bool:
    """Return True if a statement lacks its verb or its content, or is only a time."""
    return any(form.search(text) is not None for form in (_NO_VERB, _CUT_OFF, _TIME_ALONE))


def _is_bare_answer(text: str) -> bool:
    """Return True if a statement answers another person without a word for its speaker, and names no person."""
    if NAMED.search(text) or OWN.search(text) or speaks_of_self(text) or not _ENGLISH.search(text):
        return text.strip(" .!").endswith("*") and " " not in text.strip()  # "English*" corrects a word of the talk
    return any(form.search(text) is not None for form in (_ANSWERS, _THE_ONE, _THING_ALONE))


def hangs(text: str) -> bool:
    """Return True if a statement alone does not identify its subject: no name and no number in it does."""
    text = written_out(text)
    if _INTRODUCED.search(text) or _FRAGMENT.search(text) or _LIST.search(text) or _RECIPE.search(text):
        return True
    if _AMOUNT_ALONE.search(text) or _NOBODY.search(text) or _ONE_ALONE.search(text):
        return True
    if is_broken_off(text) or _ONE_OF_THESE.search(text) or _COUNTED.search(text) or _is_bare_answer(text):
        return True
    if _THING.search(text):
        return not (_OWN_ACT.search(text) or NAMED.search(text))
    if _OF_OTHERS.search(text):
        return not (OWN.search(text) or NAMED.search(text))
    if _KNOWN_TO_BOTH.search(text) or _IS_SHOWN.search(text):
        return NAMED.search(text) is None
    return _OBJECT.search(text) is not None
