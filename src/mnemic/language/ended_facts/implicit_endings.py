"""Changes without a word for an end: a car that went to a student, a rabbit that fell asleep, an allergy that
disappeared, a first day as a receptionist, "make that 23 people at the party".

Each rule requires a kind of thing in the earlier statement, as the words alone are not certain.
"""

from __future__ import annotations

from functools import lru_cache

from mnemic.language.compare.animals import kind_of, may_be_called
from mnemic.language.frames.frame_expressions import AMENDS
from mnemic.language.frames.statement_frame import Frame, stem
from mnemic.language.frames.vocabulary import MEMBERS, plain, word_classes
from mnemic.language.text.pattern import WordPattern

SHORTEST_KIN = 5
"""Minimum number of equal first letters of two words for one thing: "Pollen", "Pollenallergie"."""
FIRST = 6
"""Number of first words of a statement that contain its topic."""
_PARTED = WordPattern(
    r"\b(?:went|has gone|is going) to (?:an?|my|our|some|the|its) (?:[\w'-]+ ){0,3}?(?:homes?|owners?|buyers?|kids?|guy"
    r"|woman|man|couple|family|student|dealer\w*|friend|nephew|niece|cousin|colleague|neighbou?r|lady|lad|girl|boy"
    r"|stranger|collector|scrapyard|charity|auction|teenager)\b"
    r"|\bfound (?:an? )?(?:new )?(?:owner|home|buyer)\b|\b(?:towed|picked up|hauled away|driven off"
    r"|collected) (?:by|away"
    r"|yesterday|today|this|on|last)\b|\bgot [\d.,]+ ?k?\b[^.]{0,12} for (?:it|her|him)\b|\bthe (?:new )?(?:buyer"
    r"|owner)s?\b"
    r"|\b(?:was|got|been) (?:stolen|total+ed|written off|scrapped|repossessed)\b|\bparted (?:ways )?with\b"
    r"|\btraded (?:\w+ ){0,3}in\b|\bhanded over the keys\b|\bsigned (?:it|her|\w+ \w+) over\b"
    r"|\b(?:abgeholt|losgeworden|weggegeben|verschenkt|verschrottet|geklaut|gestohlen|totalschaden|in zahlung gegeben"
    r"|neue[nr]? besitzer\w*|(?<!wir )(?:hat|haben) (?:\w+ ){0,5}(?:gekauft"
    r"|mitgenommen|ubernommen)|gehort (?:jetzt|nun))\b"
    r"|\b(?:trouve preneur|nouve(?:au|lle) proprietaire|cedee?|parti\w* (?:chez|avec)|debarrasse\w*|volee?|a la casse"
    r"|l'a (?:achetee?|prise?|emmenee?)|l'ont (?:achetee?|prise?)|rachetee?)\b"
    r"|\b(?:se (?:l[oa]s? )?(?:llev[oa]\w*|quedo|compro|han? llevado)|me deshice|nuev[oa] duen[oa]|desguace|traspas\w+"
    r"|me l[oa] (?:compro|compraron|robaron|han robado)|l[oa] (?:compro|regale))\b"
    r"|\b(?:dat[oa] via|cedut[oa]|rottamat[oa]|rubat[oa]|regalat[oa]|nuov[oa] proprietari[oa]|se l'e pres[oa]"
    r"|l'ha (?:comprat|pres|portat)[oa]( via)?|l'hanno (?:comprat|pres)[oa])\b"
    r"|\b(?:foi embora|foi-se|desfiz-me|me desfiz|nov[oa] don[oa]|comprou|compraram|levou|levaram|doei|roubaram|sucata"
    r"|passei (?:\w+ ){1,4}(?:adiante|para a frente|pra frente))\b"
    r"|\b(?:opgehaald|weggegeven|ingeruild|gestolen|naar de sloop|nieuwe (?:eigenaar|eigenares|baasje)|van de hand"
    r"|(?<!we )(?<!wij )(?:heeft|hebben) (?:\w+ ){0,5}(?:gekocht|meegenomen|overgenomen))\b"
)
"""Matches a thing that went to somebody else."""
_OWNS = WordPattern(
    r"\b(?:i(?:'ve)?|we(?:'ve)?) (?:\w+ )?(?:have|got|own|drive|ride|keep|sail)\b|\b(?:i|we)'ve got\b|\b(?:my|our) \w+"
    r"|\b(?:ich|wir) (?:\w+ )?(?:habe|haben|fahre|fahren|besitze\w*)\b|\b(?:mein|unser)\w* \w+"
    r"|\b(?:j'ai|je roule|je conduis|nous avons|on a|je possede|mon|ma|notre)\b"
    r"|\b(?:tengo|tenemos|conduzco|manejo|mi|nuestr[oa])\b|\b(?:ho|abbiamo|guido|possiedo|mi[oa]|nostr[oa])\b"
    r"|\b(?:tenho|temos|dirijo|conduzo|meu|minha|noss[oa])\b|\b(?:ik|wij|we) (?:heb|hebben|rijd|rijden|bezit\w*)\b"
    r"|\b(?:mijn|onze?)\b"
)
_ANIMAL = WordPattern(
    r"\b(?:pets?|cats?|kitten|kitty|tomcat|dogs?|pupp(?:y|ies)|rabbits?|bunny|hamster|guinea pig|parrot|budgie|canary"
    r"|tortoise|turtle|pony|horse|mare|goldfish|gecko|ferret|hen|goat|katzen?|kater|hund\w*|kaninchen|hase|meerschwein"
    r"\w*|papagei|wellensittich|schildkrote|pferd|stute|pony|chats?|chatte|chaton|chiens?|chienne|lapins?|lapine"
    r"|cochon d'inde|perroquet|perruche|canari|tortue|cheval|jument|gat[oa]s?|gatit[oa]|perr[oa]s?|perrit[oa]|conej[oa]"
    r"|cobaya|loro|periquito|canario|tortuga|caballo|yegua|gatt[oai]|gattin[oa]|can[ei]|cagn\w+|conigli\w+|criceto"
    r"|porcellino|pappagallo|canarino|tartaruga|cavall[oa]|cachorr[oa]|caes|cao|cadela|coelh[oa]|papagaio|calopsita"
    r"|tartaruga|jabuti|cavalo|egua|kat|poes|kater|hond(?:en|je)?|konijn|cavia|papegaai|parkiet|kanarie|schildpad"
    r"|paard|merrie)\b"
)
THE = WordPattern(
    r"\b(?:(?:the|my|our|der|die|das|den|mein\w{0,2}|unser\w{0,2}|le|la|mon|ma|notre|el|mi|nuestr[oa]|il|lo|mi[oa]"
    r"|nostr[oa]|o|a|meu|minha|noss[oa]|de|het|mijn|onze|ons) |l')(?:(?:poor|old|alte|arme|pauvre|pobre|povero|arme) )?"
    r"(?P<noun>[a-z-]{3,20})\b"
)
"""Matches a thing that is assumed to be known, by the word for its kind."""
_PASSED = WordPattern(
    r"\b(?:died|is dead|passed|(?:say|said) (?:goodbye|our goodbyes|farewell)|put (?:\w+ ){1,3}(?:down|to sleep)"
    r"|didn't make it"
    r"|(?:crossed|over) the rainbow|no longer with us|lost (?:our|my|him|her)|we lost|i lost|last breath|buried"
    r"|(?:his|her|its) (?:heart|kidneys?|liver) (?:gave|failed|stopped)|not with us any ?more)\b"
    r"|\b(?:gestorben|ist tot|eingeschlafen|von uns gegangen|regenbogenbrucke|abschied (?:nehmen|genommen)"
    r"|verabschied\w+|erlost|erlosen"
    r"|nicht mehr bei uns|begraben|verstorben|gehen lassen|verloren)\b"
    r"|\b(?:(?:est|sont) morte?s?|decedee?|nous a(?:vons)? (?:quitte\w*|du \w+ adieu)|nous ont quitte\w*|est parti\w*"
    r"|s'est eteint\w*|s'est endormi\w*"
    r"|endormir|euthanasi\w+|piquer|enterre\w*|perdu|n'est plus la|adieu|au revoir a)\b"
    r"|\b(?:murio|ha muerto|fallecio|ha fallecido|se nos (?:fue|ha ido|murio|ha muerto)|nos dejo|nos ha dejado"
    r"|despedi(?:rnos|mos|rme)|sacrific\w+"
    r"|perdimos|hemos perdido|ya no esta|arco ?iris|enterr\w+|dormir(?:l[oa]))\b"
    r"|\b(?:e mort[oa]|ci ha lasciat\w|se n'e andat\w|non c'e piu|addormentat\w|abbiamo pers\w|soppress\w+|seppellit\w"
    r"|addio"
    r"|salutato per l'ultima|volat\w in cielo|ponte dell'arcobaleno)\b"
    r"|\b(?:morreu|faleceu|partiu|se foi|foi-se|nos deixou|deixou-nos|perdemos|perdi|descansou|eutanasia\w*|enterr\w+"
    r"|estrelinha"
    r"|despedir-?\w*|despedimo\w*)\b"
    r"|\b(?:gestorven|doodgegaan|is dood|overleden|ingeslapen|laten inslapen|afscheid (?:\w+ ){0,3}(?:nemen|genomen)"
    r"|er niet meer|heengegaan|begraven|verloren"
    r"|regenboogbrug)\b"
)
_BOTH = WordPattern(
    r"\b(?:both|all (?:of|two|three|the)|beide|alle (?:beide|zwei|drei|meine|unsere)|les deux|tou(?:te)?s les|amb[oa]s"
    r"|l[oa]s dos|tutti e due|tutte e due|entramb[ie]|as duas|os dois|allebei|alle (?:twee|drie))\b"
)
"""Matches a reference to two or more of a kind, all of them the speaker's."""
_AILS = WordPattern(
    r"allerg|allergi|alergi|intoler|asthm|asma\b|astma|hay ?fever|heuschnupfen|rhume des foins|hooikoorts|eczema|ekzem"
    r"|eczem|migra|emicrani|enxaquec|insomni|insonni|schlaflos|slapeloos|\brsi\b|tendin|sciati|ischias|reflux|anaemi"
    r"|anemi|acne|akne|psoria|vertigo|\bvertig|tinnitus|unvertraglich|phobi|fobi|hoogtevrees|angst vor|peur d|miedo a"
    r"|paura d|medo d|bang voor|afraid of|fear of"
)
_OVERCAME = WordPattern(
    r"\b(?:outgrown|outgrew|gr[eo]wn? out"
    r"|(?:has|have|is|are|it's|'s) (?:gone|disappeared|vanished|cured|healed|cleared)"
    r"|disappeared|vanished|cleared up|went away|gone away|no (?:more )?trace of|rid of|been cured|am cured|free of"
    r"|(?:doesn't|don't) (?:bother|scare|affect|touch) me|in remission|all clear|recovered from|conquered|beat my"
    r"|tested negative|came back negative|can eat (?:\w+ ){0,3}again)\b"
    r"|\b(?:verschwunden|weg|geheilt|auskuriert|uberstanden|verwachsen|negativ|los|besiegt|vertrage (?:\w+ ){0,3}wieder"
    r"|(?:nichts|nicht|kein\w*)(?: \w+){0,3} mehr|wieder (?:alles )?essen)\b"
    r"|\b(?:disparue?s?|guerie?s?|parties?|partis?|passee?s?|n'ai plus|fini(?!sh)\w*|terminee?s?|remise? de"
    r"|debarrassee?|vaincue?|supporte (?:\w+ ){0,3}(?:a nouveau|maintenant))\b"
    r"|\b(?:se (?:me )?(?:quito|han? quitado|fue|han? ido|curo|han? curado|paso|han? pasado)|desaparec\w+|me cure"
    r"|curad[oa]|negativ[oa]|vencid[oa]|venci)\b"
    r"|\b(?:sparit[oaie]|scompars[oaie]|passat[oaie]|guarit[oaie]|non ho piu|andat[oa] via|vint[oa]|sconfitt[oa])\b"
    r"|\b(?:sumiu|sumiram|desaparec\w+|passou|curei|curad[oa]|foi embora|livre d\w+|venci)\b"
    r"|\b(?:verdwenen|genezen|overheen|over mijn (?:\w+ )?\w+ heen|weg|voorbij|kwijt|hersteld|mag (?:\w+ ){0,2}weer)\b"
)
_POST = WordPattern(
    r"\bi(?:'ve|'m| have| just| recently)? (?:\w+ )?(?:start(?:ed|ing)?|beg[au]n|beginning) "
    r"(?:on |this |last )?(?:\w+ )?"
    r"(?:work(?:ing)? )?as (?:an? |the )?\w+"
    r"|\bfirst (?:day|week|month|shift) (?:as an?|at|in|with) \w+|\bnow (?:i )?(?:work|working) (?:as|at|for|in) \w+"
    r"|\barbeite (?:ich )?(?:jetzt |nun |inzwischen )?(?:als|bei) \w+|\bals \w+ (?:\w+ ){0,4}(?:angefangen|begonnen)"
    r"|\bangefangen (?:als|bei) \w+|\bfange? (?:ich )?(?:\w+ )?als \w+|\bneue[nr]? (?:job|stelle|arbeit|arbeitgeber)\b"
    r"|\b(?:commence|debute|demarre) (?:\w+ )?comme \w+|\bpris (?:mon|un|mes) (?:nouveau |nouvelles )?(?:poste"
    r"|fonctions)"
    r"|\bnouveau (?:poste|travail|boulot|job|taf)\b|\bnouvelle place\b|\bembauchee? (?:comme|chez|a|au)\b"
    r"|\b(?:empece|empezado|empiezo|comence|entre|entrado) (?:\w+ )?(?:a trabajar )?(?:de|como) \w+"
    r"|\bnuevo (?:trabajo|puesto|empleo|curro)\b"
    r"|\b(?:iniziato|cominciato|entrat[oa]) (?:\w+ )?(?:a lavorare )?(?:come|da|presso) \w+|\bnuovo (?:lavoro|posto"
    r"|impiego)\b"
    r"|\bassunt[oa] (?:come|da|in|al|alla)\b"
    r"|\b(?:comecei|entrei) (?:\w+ )?(?:a trabalhar )?(?:como|de) \w+|\bnovo (?:emprego|trabalho|posto)\b"
    r"|\bcontratad[oa] (?:como|na|no|pela|pelo)\b"
    r"|\b(?:begonnen|gestart|begon) (?:als|bij) \w+|\bals \w+ (?:\w+ ){0,4}(?:begonnen|gestart)|\bnieuwe (?:baan"
    r"|job|werk)\b"
    r"|\baangenomen (?:als|bij)\b|\bwerk (?:ik )?(?:nu |sinds \w+ )?(?:als|bij) \w+"
)
_JOINS = WordPattern(
    r"\b[Ii](?:['’](?:ve|m))?(?: have| am)?(?: just| recently| finally)? (?:start(?:ed|ing)|beg[au]n)"
    r"(?: (?:on|last|this|in) (?:the )?\w+| today| yesterday| work(?:ing)?| (?:a|my) new job)? (?:at|with|for)"
    r" (?:the )?(?P<en>[A-Z][\w&.-]+(?: [A-Z][\w&.-]+)*)"
    r"|\bich (?:[\w.]+ ){0,5}?bei(?:m| der)? (?P<de>[A-ZÄÖÜ][\w&.-]+) (?:\w+ ){0,3}(?:angefangen|begonnen|gestartet)\b"
    r"|\b[Bb]ei(?:m| der)? (?P<de2>[A-ZÄÖÜ][\w&.-]+) (?:\w+ )?ich (?:\w+ ){0,4}(?:angefangen|begonnen|gestartet)\b"
    r"|\b[Jj]['’]ai (?:\w+ )?(?:commencé|débuté|démarré) (?:\S+ ){0,2}?chez (?P<fr>[A-ZÀ-Þ][\w&.-]+)"
    r"|\b(?:[Ee]mpecé|[Hh]e empezado|[Cc]omencé) (?:\S+ ){0,2}?(?:a trabajar )?(?:en|con) (?P<es>[A-ZÀ-Þ][\w&.-]+)"
    r"|\b[Hh]o (?:iniziato|cominciato) (?:\S+ ){0,2}?(?:alla|da|in|presso) (?P<it>[A-ZÀ-Þ][\w&.-]+)"
    r"|\b(?:[Cc]omecei|[Ee]ntrei) (?:\S+ ){0,2}?(?:na|no|em) (?P<pt>[A-ZÀ-Þ][\w&.-]+)"
    r"|\bik (?:[\w.]+ ){0,5}?bij (?P<nl>[A-ZÀ-Þ][\w&.-]+) (?:\w+ ){0,3}(?:begonnen|gestart|aan de slag)\b"
    r"|\bik (?:ben|begon) (?:\w+ ){0,3}?(?:begonnen |gestart )?bij (?P<nl2>[A-ZÀ-Þ][\w&.-]+)"
)
"""Matches a new employer of the speaker."""
_STUDIES = WordPattern(
    r"(?i)\b(?:universi\w+|uni|college|school|academy|gym|club|hochschule|schule|université|école|universidad|escuela"
    r"|università|scuola|universidade|escola|universiteit)\b"
)
_SINCE_LEFT = WordPattern(
    r"(?i)\b(?:then|before|until|left|quit|moved|dann|bevor|gewechselt|gekündigt|puis|avant|ensuite|quitté|luego|antes"
    r"|después|dejé|poi|prima|lasciato|depois|deixei|daarna|voordat|vertrokken)\b"
)
"""Matches the end of a new job."""
_ORGANISATION = (
    r"(?:firm|company|bank|council|hospital|hotel|school|office|brewery|plant|factory|shop|store|salon|cafe|bakery"
    r"|restaurant|clinic|agency|studio|warehouse|library|museum|university|firma|kanzlei|klinik|fabrik|schule|agentur"
    r"|boite|entreprise|banque|usine|mairie|empresa|banco|fabrica|oficina|escuela|hospital|ditta|azienda|banca|fabbrica"
    r"|scuola|loja|escola|bedrijf|kantoor|fabriek|gemeente|winkel|ziekenhuis)"
)
_WORKS = WordPattern(
    r"\bi(?:'m| am) (?:an? |the )(?:\w+ ){0,3}?\w*(?:er|or|ist|ian|ant|ent|nurse|chef|cook|clerk|guard|maid|vet|pilot)"
    r" (?:at|in|for|with)\b|\bi work\b|\bi(?:'m| am) (?:working|employed)\b"
    r"|\bich bin [a-z]+ (?:in|bei|an|im|am) |\bje suis [a-z' -]{3,30} (?:dans|chez|a|au|en|pour) "
    r"|\bje (?:bosse|travaille)\b|\bsoy [a-z ]{3,30} (?:en|de) |\btrabajo\b|\bsono [a-z ]{3,30} (?:in|presso|da|al"
    r"|alla) "
    r"|\b(?:lavoro|faccio (?:il|la|l'))\b|\bsou [a-z ]{3,30} (?:em|na|no|de|da|do) |\btrabalho\b"
    r"|\bik ben [a-z]+ (?:bij|in|op|van) |\bik werk\b|\bich arbeite\b"
    r"|\bi(?:'ve| have) (?:been )?work(?:ed|ing) (?:\S+ ){1,8}?(?:since|for \S+ (?:years?|months?|decades?))\b"
    r"|\bi(?:'ve| have) been (?:at|with) (?:\S+ ){1,4}(?:since|for) |\bich bin seit (?:\S+ ){1,3}bei(?:m| der)? "
    r"|\bje suis chez (?:\S+ ){1,4}depuis |\bllevo (?:\S+ ){1,3}(?:trabajando|en) |\bestoy en (?:\S+ ){1,4}desde "
    r"|\bsono (?:alla|da|in) (?:\S+ ){1,4}da(?:l|i|gli)? |\bestou na (?:\S+ ){1,4}(?:desde|ha) "
    r"|\bik (?:zit|ben) (?:al )?(?:sinds )?(?:\S+ ){1,3}bij "
    rf"|\bi(?:'m| am) still (?:at|with) the (?:\w+ )?{_ORGANISATION}\b|\bich bin (?:immer )?noch (?:bei|in) de[rm] "
    rf"{_ORGANISATION}\b|\bje suis (?:toujours|encore) (?:a la|a l'|au|dans la|dans l') ?{_ORGANISATION}\b"
    rf"|\bsigo en (?:el|la) {_ORGANISATION}\b|\bsono ancora (?:in|alla|al|nella) {_ORGANISATION}\b"
    rf"|\bainda estou n[oa] {_ORGANISATION}\b|\bik (?:zit|ben) nog (?:steeds )?bij (?:de|het) {_ORGANISATION}\b"
)
"""Matches somebody's work, with its place."""
_BESIDE = WordPattern(
    r"\b(?:also|volunteer\w*|part-?time|on the side|second job|side job|evenings?|weekends?|hobby|nebenbei|ehrenamt\w*"
    r"|nebenjob|benevol\w*|a cote|voluntari\w*|volontari\w*|vrijwillig\w*|ernaast|auch|aussi|tambien|anche|tambem"
    r"|ook)\b"
)


_TALES = (
    r"(?:film|movie|book|story|novel|series|show|game|dream|buch|roman|serie|spiel|traum|livre|histoire|reve"
    r"|pelicula|libro|novela|sueno|romanzo|sogno|filme|livro|novela|sonho|boek|verhaal|droom)"
)
_NOT_DEAD = WordPattern(
    r"\b(?:nearly|almost|beinahe|fast (?:\w+ )?gestorben|presque|a failli|casi|quasi|quase|bijna)\b"
    r"|\bdead (?:tired|asleep|set|serious|certain|easy|cute|clever|slow)\b"
    r"|\b(?:in|im|dans|en|nel|no|na) (?:(?:the|a|that|my|der|den|einem|le|un|mon|el|la|mi|il|mio|um|uma|de|het|een) )?"
    rf"(?:\w+ )?{_TALES}\b"
)
"""Matches an end that did not happen, or only in a story."""
_IN_TALES = WordPattern(rf"\b{_TALES}s?\b|\b(?:watched|watching|cinema|netflix|kino|bioscoop|episode|folge)\b")
_ACQUIRED = WordPattern(
    r"\b(?:i|we)(?:'ve)? (?:just |recently |finally )?(?:have |had )?(?:adopted|bought|got|rescued|took in)\b"
    r"|\b(?:adoptiert|gekauft|geholt|adopte|achete|compre|compramos|adottato|comprato|adotei|comprei|geadopteerd"
    r"|gekocht)\b"
)
"""Matches the way the speaker acquired something."""
_OWNS_ONE = WordPattern(
    r"\b(?:i|we)(?:'ve)? (?:\w+ )?(?:have|got|own|keep|ride|adopted|bought|rescued)\b|\b(?:i|we)'ve got\b"
    r"|\b(?:my|our|mein\w*|unser\w*|mon|ma|notre|mi|nuestr[oa]|mi[oa]|nostr[oa]|meu|minha|noss[oa]|mijn|onze|ons) \w+"
    r"|\b(?:ich|wir) (?:\w+ )?(?:habe|haben)\b|\b(?:j'ai|nous avons|on a)\b|\b(?:tengo|tenemos|he|hemos)\b"
    r"|\b(?:ho|abbiamo)\b|\b(?:tenho|temos|adotei|comprei)\b|\b(?:ik|wij|we) (?:heb|hebben)\b"
)
"""Matches an animal of the speaker."""


def ends_in_other_words(old: Frame, new: Frame) -> bool:
    """Return True if `new` reports the end of `old` in words that are no end elsewhere."""
    if old.negated or new.cues & {"past", "passing"}:
        return False
    if old.event:
        return not new.subject.startswith("other:") and _ACQUIRED.search(old.plain) is not None and _dead(old, new)
    if new.subject.startswith("other:"):  # "Max is allergic to egg", "He's grown out of the egg"
        return old.subject != "self" and _overcome(old, new)
    return _gone(old, new) or _dead(old, new) or _overcome(old, new) or takes_a_post(old, new)


def _gone(old: Frame, new: Frame) -> bool:
    """Return True if a thing of the speaker now belongs to another person."""
    return (
        _PARTED.search(new.plain) is not None
        and _OWNS.search(old.plain) is not None
        and not old.relations
        and bool(_topic(new) & (old.called_stems | old.names))
    )


def _dead(old: Frame, new: Frame) -> bool:
    """Return True if an animal of the speaker has died."""
    if _PASSED.search(new.plain) is None or _NOT_DEAD.search(new.plain) is not None:
        return False
    if not old.relations and not new.relations and _OWNS_ONE.search(old.plain) and not old.cues & {"past", "end"}:
        kinds = {kind for noun in THE.findall(new.plain) if (kind := kind_of(noun)) is not None}
        if any(may_be_called(old, kind) for kind in kinds):
            return True
    if _ANIMAL.search(old.plain) is None:
        return False
    if old.called_stems & (new.called_stems | new.stems):
        return True
    same = set(map(stem, _ANIMAL.findall(old.plain))) & set(map(stem, _ANIMAL.findall(new.plain)))
    return bool(same) and (new.own or _BOTH.search(new.plain) is not None)


def is_of_tale(talk: str) -> bool:
    """Return True if a talk is about a film, a book or a dream."""
    return _IN_TALES.search(plain(talk)) is not None


def may_die_in_tale(text: str) -> bool:
    """Return True if a sentence reports the death of an animal without a word for the speaker: in a talk about a film
    it is the film's ("How was it?" - "Sad. The dog died.").
    """
    frame = Frame(text)
    return _PASSED.search(frame.plain) is not None and not frame.own and any(map(kind_of, THE.findall(frame.plain)))


def _overcome(old: Frame, new: Frame) -> bool:
    """Return True if an ailment or a fear is over."""
    if _OVERCAME.search(new.plain) is None or _AILS.search(old.plain) is None or old.relations != new.relations:
        return False
    shared = {word for word in new.tokens if any(akin(word, other) for other in _objects(old))}
    return bool(shared)


def takes_a_post(old: Frame, new: Frame) -> bool:
    """Return True if `new` reports a new post of a person with work in `old`."""
    if not (_POST.search(new.plain) or joined(new)) or _BESIDE.search(new.plain) or new.relations or old.relations:
        return False
    return old.subject == "self" and works(old)


def joined(new: Frame) -> str | None:
    """Return the name of a new employer of the speaker: "I started at Globex on Monday"."""
    for part in new.said:
        found = _JOINS.search(part)
        if found is not None and not (_STUDIES.search(part) or _SINCE_LEFT.search(part, found.end())):
            return next(name for name in found.groupdict().values() if name)
    return None


def works(frame: Frame) -> bool:
    """Return True if a statement gives a person's work or workplace."""
    return "job" in frame.attributes or _WORKS.search(frame.plain) is not None


def recounts_by_order(old: Frame, new: Frame) -> bool:
    """Return True if `new` orders another number of the things counted in `old`, and names them again: "make that 23
    people at the party".
    """
    found = AMENDS.match(new.plain)
    if found is None or old.event or len(old.numbers) != 1 or not new.numbers - old.numbers:
        return False
    first = found["value"].split(" ", 1)[0].strip(".,")
    if not (first[:1].isdigit() or first in word_classes()["numbers"]):
        return False
    if any(old.slots(name) and new.slots(name) and old.slots(name) != new.slots(name) for name in MEMBERS):
        return False
    return bool(old.unnumbered & new.unnumbered)


@lru_cache(maxsize=256)
def tells_change(new: Frame) -> bool:
    """Return True if one of the rules here may apply to the statement, whatever the earlier one."""
    said = new.plain
    if any(words.search(said) for words in (_PARTED, _PASSED, _OVERCAME, _POST)) or AMENDS.match(said) is not None:
        return True
    return joined(new) is not None


def akin(one: str, other: str) -> bool:
    """Return True if two words differ only in their ending or a following noun: "Pollen", "Pollenallergie"."""
    if stem(one) == stem(other):
        return True
    return min(len(one), len(other)) >= SHORTEST_KIN and one[:SHORTEST_KIN] == other[:SHORTEST_KIN]


def _objects(frame: Frame) -> set[str]:
    """Return the content words of an ailment: the cause of an allergy or a fear; its name if it has none."""
    empty = word_classes()["empty"]
    words = {word for word in frame.tokens if word not in empty and len(word) > 2}
    objects = {word for word in words if _AILS.search(word) is None}
    return objects if len(words) > len(objects) and objects else words


def _topic(frame: Frame) -> frozenset[str]:
    return frozenset(stem(token) for token in frame.tokens[:FIRST])
