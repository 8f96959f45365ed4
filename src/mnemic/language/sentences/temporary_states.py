"""States of a single day, and jokes marked as such: statements that are over tomorrow or were not meant.

Both are recognised by certain wordings in seven languages. A recurring state ("I often have headaches") and a
conditional one ("I can't sleep on planes") are not states of a day.
"""

from __future__ import annotations

from mnemic.language.sentences.tables import pattern

_ENDS = r"(?:\W+(?:again|tonight|right now|rn|now|today|lol|ugh|at all|anymore|properly|well)){0,3}\W*$"
_ILLNESS = (
    r"(?:flu|(?:head )?cold|fever|temperature|headache|migraine|hangover|stomach (?:bug|ache|flu)|tummy bug|"
    r"sore throat|runny nose|toothache|jet ?lag|food poisoning|hiccups)"
    r"(?! (?:sores?|calls?|brew|showers?|feet|hands)\b)"
)
_SLEEPLESS = pattern(
    rf"\b(?:can't|cannot|couldn't|can not) (?:seem to |really |even )?(?:fall asleep|get to sleep|sleep){_ENDS}|"
    r"\bkann (?:(?:heute|gerade|wieder|mal|einfach|schon|nacht|diese) )*nicht (?:ein)?schlafen\W*$|"
    r"\bkriege? (?:\w+ )?kein auge zu\b|"
    r"\b(?:[nj]'arrive (?:pas|plus)|impossible) (?:à|de) (?:m'en)?dormir(?: (?:ce soir|cette nuit))?\W*$|"
    r"\bno (?:puedo|consigo|logro) (?:dormir(?:me)?|conciliar el sueño)(?: (?:esta noche|hoy))?\W*$|"
    r"\bnon riesco (?:proprio )?a (?:dormire|prendere sonno|addormentarmi)(?: (?:stanotte|stasera))?\W*$|"
    r"\bnão (?:consigo|estou a conseguir) (?:dormir|adormecer|pegar no sono)(?: (?:hoje|esta noite))?\W*$|"
    r"\bkan (?:(?:echt|weer|vannacht|niet|maar) ){0,3}niet (?:in )?slapen\W*$|\bdoe geen oog dicht\b"
)
_ILL = pattern(
    r"\b(?:have|has|having|had|got|caught|with|nursing|fighting(?: off)?) (?:a |an |the |some )?"
    rf"(?:(?:bad|awful|terrible|nasty|slight|horrible|splitting|bit of a|touch of) ){{0,2}}{_ILLNESS}\b|"
    r"\b(?:in bed|down|laid up|home|off sick) with (?:a |the )?(?:\w+ )?(?:flu|cold|fever|covid|bug|virus)\b|"
    r"\b(?:lieg[et]|bin|ist|sitze) (?:\w+ ){0,3}(?:mit (?:\w+ )?(?:grippe|fieber|erkältung|kopfschmerzen|magen-darm)|"
    r"krank im bett|erkältet|verkatert)\b|"
    r"\bha(?:be?|t)(?! ich) (?:\w+ ){0,3}(?:fieber|kopfweh|kopfschmerzen|bauchweh|halsweh|schnupfen|muskelkater|"
    r"halsschmerzen|zahnschmerzen|die grippe|eine erkältung)\b|\b(?:mir|mich) (?:tut|brummt) (?:\w+ )?der kopf\b|"
    r"\b(?:au lit|clouée?|alitée?|couchée?) (?:\w+ ){0,2}(?:avec|par) (?:la |une? |de la )(?:\w+ )?(?:grippe|fièvre|"
    r"angine|gastro|rhume)\b|\b(?:ai|a) (?:la grippe|de la fièvre|un (?:gros )?rhume|la gueule de bois|"
    r"mal (?:à la tête|au ventre|à la gorge|aux dents|au crâne))\b|\bje suis (?:\w+ )?(?:enrhumée?|grippée?)\b|"
    r"\b(?:estoy|está|sigo|en cama) (?:\w+ ){0,2}con (?:la |una? )?(?:gripe|fiebre|catarro|resaca|resfriado)\b|"
    r"\btengo (?:la |una? )?(?:gripe|fiebre|resaca|catarro|resfriado|dolor de (?:cabeza|garganta|barriga)|agujetas)\b|"
    r"\bme duele (?:mucho )?(?:la (?:cabeza|garganta|tripa|barriga)|el estómago)\b|"
    r"\ba letto con (?:l'influenza|la febbre|il raffreddore)\b|"
    r"\bho (?:la febbre|l'influenza|mal di (?:testa|gola|pancia|denti)|il raffreddore|la nausea)\b|"
    r"\b(?:estou|está|de cama|na cama) (?:\w+ ){0,2}com (?:uma? )?(?:gripe|febre|constipação|resfriado|"
    r"dor de cabeça|ressaca)\b|\btenho (?:uma? )?(?:gripe|febre|ressaca|dor(?:es)? de (?:cabeça|garganta|barriga))\b|"
    r"\bdói-me a (?:cabeça|garganta|barriga)\b|\bestou (?:\w+ )?(?:constipad[oa]|gripad[oa]|resfriad[oa])\b|"
    r"\b(?:lig|ligt|zit) (?:\w+ ){0,3}met (?:\w+ )?(?:griep|koorts|verkoudheid|hoofdpijn|buikgriep)\b|"
    r"\b(?:heb|heeft) (?:\w+ ){0,3}(?:griep|koorts|hoofdpijn|buikpijn|keelpijn|kiespijn|spierpijn)\b|"
    r"\bben (?:\w+ ){0,2}(?:verkouden|grieperig|misselijk)\b"
)
_FEELING = (
    r"tired|exhausted|knackered|wiped(?: out)?|wrecked|hungry|starving|hangry|bored|sleepy|cranky|grumpy|hungover|"
    r"jet ?lagged|wide awake|restless|dizzy|nauseous|sick|ill|poorly|stressed|anxious|nervous|sad|lonely|down|busy|"
    r"swamped|slammed|stuck|late|cold|freezing|drunk|tipsy|offline|away|out|lazy|moody|off"
)
_TODAY = (
    r"tonight|today|this (?:morning|afternoon|evening|week(?:end)?)|right now|rn|for now|just now|at the moment|atm"
)
_FEELS = pattern(
    rf"\b(?:i'm|im|i am|i feel|we're|feeling|i'm feeling) (?:[\w']+ ){{0,2}}(?:{_FEELING}) (?:[\w']+ ){{0,2}}"
    rf"(?:{_TODAY})\b|\b(?:{_TODAY}),? (?:i'm|im|i am|i feel|we're) (?:[\w']+ ){{0,2}}(?:{_FEELING})\b"
)
"""A feeling or an occupation, limited to a day."""
_FEELS_TOO = pattern(
    r"^(?=.*\b(?:heute|heut abend|gerade|aujourd'hui|ce (?:matin|soir)|hoy|esta (?:mañana|noche)|oggi|stamattina"
    r"|stasera|hoje|esta (?:manhã|noite)|vandaag|vanavond|nu even)\b)"
    r"\W{0,3}(?:(?:heute|aujourd'hui|hoy|oggi|hoje|vandaag),? )?(?:(?:ich|je|yo|io|eu|ik) )?"
    r"(?:bin|suis|estoy|sono|estou|ben)\b (?:(?:ich|ik|heute|vandaag|gerade|nu|so|zo|sehr|total|ziemlich|erg|echt"
    r"|si|tellement|vraiment|très|muy|tan|così|molto|davvero|tão|muito|mesmo) ){0,3}"
    r"(?:müde|kaputt|krank|hungrig|gestresst|gelangweilt|fatiguée?|crevée?|malade|stressée?|cansad[oa]|agotad[oa]"
    r"|enferm[oa]|aburrid[oa]|stanc[oa]|stanchissim[oa]|malat[oa]|stressat[oa]|exaust[oa]|doente|aborrecid[oa]|moe"
    r"|ziek|gestrest|verveeld)\b"
)
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


def is_passing_state(text: str) -> bool:
    """Return True if a clause describes a feeling of the speaker or a relative on that day only."""
    found = _SLEEPLESS.search(text) or _ILL.search(text) or _FEELS.search(text) or _FEELS_TOO.search(text)
    return found is not None and _RETURNS.search(text) is None


def is_in_jest(text: str) -> bool:
    """Return True if a sentence is marked as a joke."""
    return _IN_JEST.search(_IN_EARNEST.sub(" ", text)) is not None or _LAUGHED_OFF.search(text) is not None


def takes_back_in_jest(sentence: str) -> bool:
    """Return True if a sentence only marks the one before it as a joke."""
    return len(sentence.split()) <= _ONLY_JEST and is_in_jest(sentence)
