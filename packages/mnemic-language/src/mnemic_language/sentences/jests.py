"""Marks of a joke: "just kidding", in the supported languages."""

from __future__ import annotations

from mnemic_language.sentences.tables import pattern

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
_LAUGHED_OFF = pattern(
    r"^\W{0,3}(?:one more|another|noch (?:so )?ein\w*|encore une?|otr[oa]|una? [^\W\d_]+ más|ancora un\w*|mais uma?"
    r"|nog (?:zo'?n|één|een)) .{2,60}\b(?:and|und|et|y|e|en)\b .{3,80}?"
    r"(?:\b(?:a?(?:ha){2,}h?|(?:ja){2,}j?|(?:he){2,}|(?:hi){2,}|k{3,}|lol|lmao|rofl|mdr|ptdr|(?:rs){2,}|xd)\b|😂|🤣|😅"
    r"|😜|😉)\W*$"
)
"""Matches a threat retracted by laughter: "One more Monday like this and I become a monk, haha"."""
_IN_EARNEST = pattern(
    r"\b(?:not|no|isn't|wasn't|n't|never|kein\w*|nicht|pas|sans|no es|ninguna|non|nessuno|não|nem|sem|geen|niet|"
    r"zonder) "
    r"(?:\w+ ){0,3}?(?:kidding|joking|jokes?|scherz\w*|spaß|witz|blague\w*|plaisante\w*|rigole\w*|broma|bromeando|coña|"
    r"scherz\w+|brincadeira|brincar|brincando|piada|grap\w*|geintje)\b"
)
"""Matches the denial of a joke ("no joke", "kein Scherz"): a mark of one only if another mark follows it."""
_ONLY_JEST = 4
"""Maximum words of a sentence that only marks the one before it as a joke."""


def is_in_jest(text: str) -> bool:
    """Return True if a sentence is marked as a joke."""
    return _IN_JEST.search(_IN_EARNEST.sub(" ", text)) is not None or _LAUGHED_OFF.search(text) is not None


def takes_back_in_jest(sentence: str) -> bool:
    """Return True if a sentence only marks the one before it as a joke."""
    return len(sentence.split()) <= _ONLY_JEST and is_in_jest(sentence)
