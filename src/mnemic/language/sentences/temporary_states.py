"""States of a single day, and jokes marked as such: statements that are over tomorrow or were not meant."""

from __future__ import annotations

from mnemic.language.sentences.tables import pattern

_ILL = pattern(
    r"\b(?:can't|cannot|can not) (?:fall asleep|get to sleep|sleep)\W*$|"
    r"\b(?:have|has|got|caught|with|mit|avec|con|com|met|habe|hat|ai|tengo|ho|tenho|heb) "
    r"(?:(?:a|an|the|eine|die|la|le|de|il|una|uma|bad|awful|nasty|starke|forte) ){0,2}"
    r"(?:flu|cold|fever|headache|hangover|sore throat|grippe|fieber|kopfschmerzen|fièvre|rhume|gripe|fiebre|resfriado|"
    r"influenza|febbre|raffreddore|febre|griep|koorts|hoofdpijn)\b(?! (?:sores?|calls?|showers?|shots?)\b)"
)
"""An illness that passes."""
_RETURNS = pattern(
    r"\b(?:often|always|usually|never|sometimes|every|each|chronic\w*|regularly|whenever|when|if|since|years?|months?|"
    r"prone|tend|twice|from (?:the|my)|because of|after|allergic|because|without|anyway?s?|used to|"
    r"oft|immer|manchmal|häufig|regelmäßig|jede[nsrm]?|wenn|seit|jahren|chronisch|allergisch|ohne|nach|"
    r"souvent|toujours|parfois|chaque|quand|depuis|sans|chronique|"
    r"a menudo|siempre|cada|cuando|desde|suelo|crónic[oa]|sin|"
    r"spesso|sempre|ogni|quando|anni|mesi|cronic[oa]|senza|"
    r"muitas vezes|crónic[ao]|anos|meses|sem|"
    r"vaak|altijd|elke|soms|als|sinds|jaren|chronisch|zonder)\b"
)
"""Words for something that recurs, lasts or has an occasion."""
_IN_JEST = pattern(
    r"\b(?:over my dead body|blind as a bat|(?:i'm|im|i am) (?:dead|dying|deceased|crying|screaming)(?=\W*$))|"
    r"\b(?:kidding|joking)(?=[ ,]|\W*$)(?! (?:aside|around|about|apart))|"
    r"\([^\w(]*(?:ok(?:ay)?,? |it's |that's |that was )?(?:a |just a )?joke[^\w(]*\)|"
    r"\b(?:ok(?:ay)?,? joke|that(?:'s| is| was) (?:just )?a joke|it(?:'s| was) (?:just )?a joke|"
    r"jk|j/k|just a joke)(?!\w)|"
    r"\b(?:(?:war|das war|ist) (?:nur |bloß |doch )?(?:ein |'n )?(?:scherz|spaß|witz)|(?:kleiner|nur) (?:scherz|spaß)|"
    r"scherz(?=[\W]*$)|ich scherze|mach(?:e|te)? nur spaß)\b|"
    r"\b(?:je (?:plaisante|rigole|blague|déconne)|c'est une (?:blague|plaisanterie)|c'était une blague|"
    r"(?:je )?rigolais)\b|"
    r"\b(?:es (?:una )?broma|era (?:una )?broma|(?:estoy )?bromeando|bromeo|de broma|(?:que )?es coña)\b|"
    r"\b(?:scherzo|scherzavo|sto scherzando|è uno scherzo|era una battuta)\b|"
    r"\b(?:(?:é|era|foi) (?:só )?(?:brincadeira|piada)|(?:estou|estava|tô|tava) (?:só )?(?:a )?brinca(?:r|ndo)|"
    r"brincadeira(?=\W*$))|"
    r"\b(?:grapje|geintje|was een grap|is een grap|ik maak(?:te)? (?:maar )?een grap\w*|gekheid(?=\W*$))"
)
_IN_EARNEST = pattern(
    r"\b(?:not|no|isn't|wasn't|n't|never|kein\w*|nicht|pas|sans|no es|ninguna|non|nessuno|não|nem|sem|geen|niet|"
    r"zonder) "
    r"(?:\w+ ){0,3}?(?:kidding|joking|jokes?|scherz\w*|spaß|witz|blague\w*|plaisante\w*|rigole\w*|broma|bromeando|coña|"
    r"scherz\w+|brincadeira|brincar|brincando|piada|grap\w*|geintje)\b"
)
"""Matches the denial of a joke ("no joke", "kein Scherz"): a mark of one only if another mark follows it."""
_ONLY_JEST = 4
"""Maximum words of a sentence that only marks the one before it as a joke."""


def is_passing_state(text: str) -> bool:
    """Return True if a clause describes an illness that passes, and not one that returns."""
    return _ILL.search(text) is not None and _RETURNS.search(text) is None


def is_in_jest(text: str) -> bool:
    """Return True if a sentence is marked as a joke."""
    return _IN_JEST.search(_IN_EARNEST.sub(" ", text)) is not None


def takes_back_in_jest(sentence: str) -> bool:
    """Return True if a sentence only marks the one before it as a joke."""
    return len(sentence.split()) <= _ONLY_JEST and is_in_jest(sentence)
