"""Judgements of other people, and news of people without any other relation to the speaker than their full name."""

from __future__ import annotations

from mnemic.language.sentences.general_knowledge_messages import speaks_of_self
from mnemic.language.sentences.tables import pattern
from mnemic.language.text.pattern import Pattern

_OF_SOMEBODY = pattern(
    r"^\W{0,3}(?:(?:my|our|the|that|mein\w*|unser\w*|der|die|mon|ma|notre|mi|nuestr[oa]|el|la|il mio|la mia|il"
    r"|o meu|a minha"
    r"|o|a|mijn|onze|de) )?(?:[\w'-]+ ){1,3}?(?:is|are|was|'s|ist|est|es|è|é|can be)\b (?P<said>.{3,80})$"
)
_JUDGES = pattern(
    r"^(?:(?:always|just|really|actually|still|immer|wirklich|echt|toujours|vraiment|siempre|davvero|sempre|mesmo"
    r"|altijd"
    r"|echt) )*"
    r"(?:such an? (?:\w+ )?(?:slob|jerk|idiot|pain|mess|bore|bully|snob|gossip|liar|creep|diva|drama queen"
    r"|know-it-all|loser|fool"
    r"|clown|nightmare|control freak|cheapskate|baby|moron|whiner|hypocrite|airhead|lazybones|tool|joke|nerd|weirdo)"
    r"|(?:an? )?(?:(?:total|complete|absolute|real|utter|bit of an?|massive) )?(?:slob|jerk|idiot|bore|snob|liar|creep"
    r"|loser|fool|clown|moron|hypocrite|weirdo|know-it-all|pain in the \w+)"
    r"|(?:so|such|too|totally|super|very|pretty|incredibly|unbelievably|absolutely|completely|a bit) (?:annoying"
    r"|lazy|rude"
    r"|mean|stupid|dumb|boring|weird|nosy|bossy|fake|selfish|arrogant|ridiculous|vain|stingy|full of (?:himself"
    r"|herself)"
    r"|stuck up|clueless|useless|incompetent|insufferable|unbearable|messy|moody|petty|crazy)"
    r"|(?:vielleicht )?(?:so |echt |total |ziemlich |voll |wirklich )*(?:ein\w* )?(?:\w+ )?(?:chaot\w*|idiot\w*"
    r"|depp|trottel|angeber\w*"
    r"|zicke|nervensäge|lügner\w*|faulpelz|schlamper\w*|nervig|faul|unverschämt|eingebildet|arrogant|langweilig"
    r"|dumm|blöd)"
    r"|(?:un(?:e)? )?(?:vrai(?:e)? |tellement |trop |si |sacré(?:e)? )*(?:un(?:e)? )?(?:bordélique|idiot\w*"
    r"|crétin\w*|menteu\w+|"
    r"fainéant\w*|feignant\w*|pénible|chiant\w*|insupportable|prétentieu\w+|radin\w*|égoïste|bête|paresseu\w+)"
    r"|(?:un[ao]? |tan |muy |super |más |demasiado |un verdadero )*(?:desastre|idiota|imbécil|pesad[oa]|vag[oa]"
    r"|mentiros[oa]|cotilla"
    r"|insoportable|egoísta|tont[oa]|tacañ[oa]|chul[oa]|creíd[oa])"
    r"|(?:un[oa']? ?|così |davvero |proprio |troppo |vero )*(?:disastro|idiota|cretin[oa]|bugiard[oa]|pigr[oa]"
    r"|insopportabile"
    r"|egoista|noios[oa]|stupid[oa]|spilorci[oa]|arrogante|maleducat[oa])"
    r"|(?:uma? |tão |muito |mesmo |demasiado |um verdadeiro )*(?:desastre|idiota|preguiços[oa]|mentiros[oa]"
    r"|chat[oa]|insuportável"
    r"|egoísta|burr[oa]|convencid[oa]|desleixad[oa]|fofoqueir[oa])"
    r"|(?:zo'?n |een |echt |zo |heel |ontzettend |enorme )*(?:sloddervos|idioot|eikel|leugenaar|luilak|lui|irritant"
    r"|onuitstaanbaar"
    r"|arrogant|egoïst\w*|saai|dom|onbeschoft|gierig))\W*$"
)
_FULL_NAME = Pattern(
    r"\A\W{0,3}(?!(?:Dr|Mr|Mrs|Ms|Prof|Frau|Herr|Madame|Monsieur|Mme|Don|Doña|Señora?|Signora?|Dona|Aunt|Uncle"
    r"|Tante|Onkel"
    r"|Oma|Opa|Tía|Tío|Zia|Zio|Tia|Tio|The|My|Our|New|San|Saint|Los|Las|La|Le|El)\b)"
    r"[A-Z][a-zà-ÿ'’-]+ (?:[A-Z]\. )?[A-Z][a-zà-ÿ'’-]+ (?:just |finally |has |have |hat |ha |a |heeft |tem |se ha "
    r"|s'est |si è )?(?P<verb>[a-zà-ÿ]+)"
)
_PRIVATE = pattern(
    r"\b(?:broke up|broken up|splits?|split up|separated|divorc\w+|dating|married|marri\w+|engaged|pregnant"
    r"|cheat\w+|affair|getrennt"
    r"|geschieden|verlobt|geheiratet|schwanger|zusammen|séparée?s?|divorcée?|fiancée?|mariée?|enceinte|roto|separad[oa]"
    r"|divorciad[oa]|casad[oa]|casó|embarazada|lasciat[oaie]|separat[oaie]|divorziat[oa]|sposat[oa]|incinta|separou"
    r"|separaram|divorciou|casou|grávida|gescheiden|uit elkaar|verloofd|getrouwd|zwanger|new (?:album|film|movie"
    r"|boyfriend"
    r"|girlfriend|haircut|tattoo))\b"
)


_ACQUAINTANCE = (
    r"(?:neighbou?r|boss|manager|colleague|coworker|co-worker|plumber|baker|butcher|barber|hairdresser|landlord|landlady"
    r"|postman|nachbar\w*|chef\w*|kolleg\w*|klempner\w*|bäcker\w*|metzger\w*|friseur\w*|vermieter\w*|voisine?"
    r"|patron\w*|collègue|plombier|boulang\w+|bouch\w+|coiffeu\w+|propriétaire|vecin[oa]|jef[ea]|colega|fontanero"
    r"|panader[oa]|carnicer[oa]|peluquer[oa]|caser[oa]|vicin[oa](?: di casa)?|capo|collega|idraulico|panettiere"
    r"|macellaio|parrucchier[ea]|vizinh[oa]|chefe|canalizador|padeir[oa]|cabeleireir[oa]|senhori[oa]|buurvrouw|buurman"
    r"|baas|loodgieter|bakker|slager|kapper|huisbaas)"
)
_RELATIVE = (
    r"(?:cousin|brother|sister|son|daughter|nephew|niece|uncle|aunt|husband|wife|mother|father|boyfriend|girlfriend"
    r"|partner|friend|ex|cousine|vetter|bruder|schwester|sohn|tochter|neffe|nichte|onkel|tante|mann|frau|mutter|vater"
    r"|freund(?:in)?|frère|s[oœ]eur|fils|fille|neveu|nièce|oncle|mari|femme|mère|père|copain|copine|prim[oa]"
    r"|herman[oa]|hij[oa]|sobrin[oa]|tí[oa]|marido|mujer|madre|padre|novi[oa]|amig[oa]|cugin[oa]|fratello|sorella"
    r"|figli[oa]|nipote|zi[oa]|marito|moglie|fidanzat[oa]|amic[oa]|irm(?:ão|ã)|filh[oa]|sobrinh[oa]|ti[oa]|mulher|mãe"
    r"|pai|namorad[oa]|neef|nicht|broer|zus|zoon|dochter|oom|moeder|vader|vriend(?:in)?)"
)
_TWICE_REMOVED = pattern(
    rf"^\W{{0,3}}(?:my|our|the) {_ACQUAINTANCE}(?:'s|s') (?:\w+ )?{_RELATIVE}\b(?P<en>.*)$|"
    rf"^\W{{0,3}}(?:an?|the) {_RELATIVE} of (?:my|our|the) (?:{_ACQUAINTANCE}|{_RELATIVE})\b(?P<of>.*)$|"
    rf"^\W{{0,3}}(?:der|die|das|le|la|l'|el|il|lo|o|a|de|het|un|una|une|uma?|een|eine?) ?{_RELATIVE} "
    r"(?:meine[srn]?|unsere[srn]?|de (?:mon|ma|notre|mi|nuestr[oa])|d[ei]l (?:mio|nostro)|della (?:mia|nostra)"
    rf"|d[oa] (?:meu|minha|noss[oa])|van (?:mijn|onze|ons)) {_ACQUAINTANCE}\b(?P<others>.*)$"
)
"""Matches a relative of somebody unrelated to the speaker, and the statement about them."""
_SAFE = pattern(
    r"\b(?:allerg\w*|alérgic\w*|asthma\w*|epilep\w*|diabet\w*|wheelchair|rollstuhl|fauteuil roulant|silla de ruedas"
    r"|sedia a rotelle|cadeira de rodas|rolstoel)\b|[@\d]"
)
"""Matches a risk to consider with any person, or their address or number."""


def is_gossip(text: str) -> bool:
    """Return True if a clause judges another person, or reports the private life of a stranger."""
    return is_judgement(text) or is_celebrity_news(text) or is_of_anothers_relative(text)


def is_of_anothers_relative(text: str) -> bool:
    """Return True if a clause about a relative of an acquaintance does not concern the speaker: "My neighbour's cousin
    got divorced".
    """
    found = _TWICE_REMOVED.search(text)
    if found is None:
        return False
    said = next((one for one in found.groupdict().values() if one is not None), "")
    return bool(said.strip(" .!")) and not speaks_of_self(said) and _SAFE.search(said) is None


def is_judgement(text: str) -> bool:
    """Return True if a clause only judges another person's character: "My coworker Paul is such a slob"."""
    found = _OF_SOMEBODY.search(text)
    return found is not None and _JUDGES.search(found["said"]) is not None


def is_celebrity_news(text: str) -> bool:
    """Return True if a clause is about the private life of a person with first and last name and no stated relation to
    the speaker: "Kim Kardashian broke up again".
    """
    return not speaks_of_self(text) and _FULL_NAME.match(text) is not None and _PRIVATE.search(text) is not None
