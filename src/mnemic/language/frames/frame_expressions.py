"""Expressions that extract a frame from a text: in lower case and without accents, unless noted otherwise."""

from __future__ import annotations

import re

from mnemic.language.text.german import AFTER_ORDINALS
from mnemic.language.text.pattern import Pattern, WordPattern

TOKEN = re.compile(r"\d+(?:[.,:/]\d+)*|[^\W\d_]+(?:['-][^\W\d_]+)*")
NUMBERED = re.compile(r"(\d)(?:st|nd|rd|th|k|t|x|m)\b")
SENTENCE = Pattern(
    rf"(?<=[.!?…])(?!(?<=\d\.)\s(?:{AFTER_ORDINALS})\b)"
    r"[\s)]+|\n+|(?<=[;])\s+|(?:(?<!\s)\s+)?[\U0001F300-\U0001FAFF\u2600-\u27BF]+\s*"
)
ASCII_SENTENCE = re.compile(
    rf"[\s)](?:(?<=[.!?][\s)])(?!(?<=\d\.\s)(?:{AFTER_ORDINALS})\b)[\s)]*|(?<=\n)\n*|(?<=;\s)\s*)"
)
"""The same for ASCII text: the expression begins with the separator, which is faster to find."""
DISPUTES = WordPattern(
    r"\A\W*(?:(?:no|nope|nein|non|nee|nao)\b[,.]? )?"
    r"(?:(?:that|this|it)(?:'s| is| was) (?:all )?(?:not (?:true|right|correct)|wrong|false|incorrect|untrue)"
    r"|(?:das )?stimmt(?: so)? nicht|das ist falsch|c'est faux|ce n'est pas (?:vrai|juste)"
    r"|(?:eso )?no es (?:verdad|cierto|correcto)|eso esta mal|non e (?:vero|giusto)|(?:e )?sbagliato"
    r"|(?:isso )?nao e verdade|(?:isso )?esta errado|dat klopt niet|dat is (?:fout|niet waar))\b(?P<then>[,.;: ]*)"
)
"""Matches an opening that denies the preceding statement, in plain letters, and the separator after it."""
CLAUSE = re.compile(r"[,;:]\s+|\s[–—-]+\s|\s(?=(?:but|so|aber|mais|pero|ma|mas|maar)\s)")
ASKS = WordPattern(
    r"(?i)(?:^|,|\s-|\s(?:and|und|et|y|e|en))\s*(?:any|anyone|can|could|do|does|did|is|are|was|would|should|will"
    r"|how|what|whats|what's"
    r"|when|where|which|who|why|help|wie|was|wo|wer|wann|welche\w*|kann|konn\w*|gibt|tu|est-ce|quel\w*|comment|ou"
    r"|que|qué|cuál|cómo"
    r"|dónde|quién|puedes|che|cosa|come|dove|quale|puoi|qual|como|onde|podes|hoe|wat|waar|wie|kun|kan)\b[^,]*\?+$"
)
ASIDE = WordPattern(
    r"(?i)[,;–—(-]\s*(?:(?:and )?(?:which|that|this|it) is |which's |it's |kind of |a bit |bit |how |quite |was |ce"
    r" qui est |c'est |lo cual es |es "
    r"|che è |è |o que é |é |wat |is |ist |das ist |schon |schön |ganz |ziemlich |sehr |très |muy |molto |muito |best "
    r"|wel |assez |plutôt |un peu |un poco |un po' |um pouco |een beetje |un |what an? )*"
    r"(?:ironic\w*|funny|funnily|weird\w*|odd\w*|strange\w*|hilarious|unusual|embarrassing|a shame|not bad|not ideal"
    r"|rare|rich"
    r"|komisch|ironisch\w*|witzig\w*|lustig\w*|seltsam\w*|verrückt|peinlich|ungewöhnlich|ironique\w*|drôle\w*"
    r"|bizarre\w*"
    r"|marrant\w*|comble|dommage|insolite|irónic\w+|gracios\w+|curios\w+|rar[oa]|lástima|divertid\w+|ironic[oa]"
    r"|buff[oa]"
    r"|stran[oa]|assurd\w+|peccato|divertente|irônic\w+|engraçad\w+|estranh\w+|grappig\w*|gek|raar|vreemd|jammer"
    r"|bijzonder)"
    r"(?: enough)?,? (?:for|as|given|considering|coming from|since|für|pour|quand on|de la part|para|per|voor|siendo"
    r"|sendo"
    r"|essendo|als|comme|como|come|vindo|viniendo)\b[^.!?;]{0,80}"
)
"""A comment that names another property of somebody and adds nothing: "ironic for a baker"."""
ORDERS = re.compile(
    r"(?i)^\W*(?:can|could|would|will) (?:you|we) (?:please )?(?:switch|change|move|make|stop|use|put|set|go)\b"
)
QUOTED = WordPattern(
    r"\"[^\"\n]{8,2000}\"|“[^“”]{8,2000}”|«[^«»]{8,2000}»|„[^“”]{8,2000}[“”]|```.{0,4000}?```"
    r"|(?<![\w'])'(?!s\b)\w(?:[^'\n]|(?<=\w)'(?=\w)){8,400}'(?![\w'])",
    re.DOTALL,
)
ENDINGS = ("ing", "ies", "ed", "es", "en", "er", "s", "e", "a", "o", "i", "n")
BORN = WordPattern(
    r"\b(?:was born|were born|gave birth|is born|geboren|zur welt gekommen"
    r"|(?:got|have|had|welcomed|expecting) (?:our|my) [a-z]+ (?:grand)?(?:baby|child|kid|son|daughter|nephew|niece)"
    r"|(?:got|have|had|welcomed|expecting) an? (?:second|third|fourth|fifth) (?:grand)?(?:baby|child|kid|son|daughter)"
    r"|(?:had|welcomed) (?:an?|our|my) (?:(?:little|healthy|beautiful) ){0,2}(?:baby(?: girl| boy)?|girl|boy)"
    r"(?! (?:shower|seat|monitor|name|room|scan))"
    r"|(?:zweite|dritte|vierte|funfte)[nrs]? (?:kind|sohn|tochter|enkel\w*) (?:bekommen|ist da)"
    r"|(?:viertes|drittes|zweites|funftes) (?:kind|enkel\w*) ist da"
    r"|avons eu (?:un|une) (?:deuxieme|second|seconde|troisieme|quatrieme) (?:enfant|fils|fille|bebe)"
    r"|(?:hemos|he) tenido (?:un|una) (?:segund[oa]|tercer[oa]?|cuart[oa]) (?:hij[oa]|niet[oa]|bebe)"
    r"|(?:abbiamo|ho) avuto (?:un|una) (?:second[oa]|terz[oa]|quart[oa]) (?:figli[oa]|bambin[oa]|nipote)"
    r"|(?:tivemos|tive) (?:um|uma) (?:segund[oa]|terceir[oa]|quart[oa]) (?:filh[oa]|net[oa]|bebe)"
    r"|een (?:tweede|derde|vierde) (?:kind|zoon|dochter|kleinkind) gekregen"
    r"|baby \w+ (?:arrived|came|is here|made (?:his|her) entrance)|(?:kam|ist|sind) (?:\w+ ){1,5}(?:zur welt"
    r"|auf die welt)"
    r"|(?:a|ont) vu le jour|(?:vino|vinieron|llego) al mundo|(?:venut[oa]|e arrivat[oa]) (?:al mondo|il|la|l')"
    r"|veio ao mundo|ter wereld"
    r"|(?:our|unser\w?|notre|nuestr[oa]|il nostro|la nostra|o nosso|a nossa|onze) (?:\w+ )?(?:third|second|fourth"
    r"|dritte\w?|zweite\w?|vierte\w?"
    r"|troisieme|deuxieme|quatrieme|tercer[oa]?|segund[oa]|cuart[oa]|terz[oa]|second[oa]|quart[oa]|terceir[oa]"
    r"|derde|tweede|vierde)"
    r"(?: (?:child|kid|son|daughter|boy|girl|baby|enfant|fils|fille|hij[oa]|bebe|nin[oa]|figli[oa]|bimb[oa]"
    r"|filh[oa]|kind|sohn"
    r"|tochter|zoon|dochter)(?: [a-z]+)?)? (?:arrived|est arrivee?|llego|ha llegado|e arrivat[oa]|chegou|is gekomen"
    r"|kwam|kam)"
    r"|est ne|est nee|sont nes|naquit|nacio|ha nacido|e nato|e nata|nasceu|geboren is|is [a-z]+ geboren"
    r"|is geboren)\b"
)
JEST = WordPattern(
    r"\b(?:(?:just |only |i'm |totally )?(?:kidding|joking)|jk|just an? joke|(?:war |das war )?(?:nur )?(?:ein )?"
    r"(?:kleiner )?(?:scherz|spass)|je (?:blague|plaisante|rigole)|c'(?:est|etait) une (?:blague|plaisanterie)"
    r"|(?:es|era) (?:una )?broma|scherzo|scherzavo|sto scherzando|(?:(?:e|era) )?(?:brincadeira|piada)"
    r"|estou a brincar|grapje|geintje)\W*$"
)
"""Matches at the end of a sentence, and retracts all of it."""
UNREAL_MOOD = WordPattern(
    r"\A\W*(?:(?:se|si) (?:[\w']+ ){0,4}?(?!spesso\b|passe\b|desse\b)\w{2,20}(?:ass|ess|iss)(?:ero|[ei](?:mo)?|em)\b"
    r"|si (?:[\w']+ ){0,4}?\w{2,20}(?:ara|iera|iese|iesen|ieran|aran)\b"
    r"|si (?:[\w']+ ){1,5}?\w{2,20}(?:ait|aient)\b|als .{2,80}\bzou(?:den)?\b|if .{2,80}\b(?:would|were to|'d)\b)"
)
"""Matches a supposition, in plain letters, by the mood of its verb: "Se le Poste chiudessero la filiale"."""
STANDING_WISH = WordPattern(
    r"\b(?:i'd|we'd|(?:i|we) would) (?:like|prefer) (?=(?:my|our|all|every)\b)"
    r"|\b(?:je voudrais|j'aimerais) (?=(?:mes|mon|ma|tous|toutes)\b)"
    r"|\b(?:vorrei|gostaria d[eo]s?|quisiera) (?=(?:le|i|gli|la|il|os|as|las|los|mis|meus|minhas)\b)"
)
"""Matches a wish for one's own things, which lasts: "I'd like my invoices by post"."""
BYGONE = WordPattern(
    r"\bbefore (?:i|we) (?:met|knew|had|got|came|married|moved)\b|\bback (?:in (?:19|20)\d\d|when|in the day)\b"
    r"|\bwhen (?:i|we) (?:was|were) (?:small|young|little|a (?:kid|child|boy|girl|student)"
    r"|at (?:school|university|college))\b"
    r"|\b(?:my|our|mein\w*|mon|ma|mi|il mio|la mia|o meu|a minha|mijn) (?:very )?(?:first|erste\w*|premiere?"
    r"|primer[oa]?|prim[oa]|primeir[oa]|eerste) \w+ (?:was|war|etait|fue|era|foi)\b"
    r"|\b(?:fruher|damals|autrefois|antigamente|vroeger)\b"
)
"""Matches a reference to an earlier period of life."""
CONDITION = re.compile(
    r"\b(?:on|for|during|in|bei|auf|pour|sur|para|per|su|voor|op) (?:the |my |our |all )?([a-z-]{2,20})"
    r" ([a-z-]{3,20}(?:s|en|fluge))\b"
)
"""An occasion, in the plural: its qualifier and its noun."""
TURNS = frozenset({"end", "change", "correct", "weak_end", "weak_change", "weak_correct"})
PAST = WordPattern(
    r"\b(?:i|we|he|she|they|it|kids?|[a-z]+) (?:just |also |recently |really |finally )?"
    r"(?:went|got|had|was(?! born)|were(?! born)|made|took|felt|saw|met|found|told|gave|came|did"
    r"|ran|bought|sold|wrote|read|won|lost|ate|sent|brought|heard|spent|learned|learnt"
    r"|(?!(?:need|feed|speed|indeed|seed|breed|bleed|exceed|proceed|wed|bed|red|shed)\b)[a-z]{2,}ed)\b(?!')"
)
GERMAN_PAST = WordPattern(r"(?i)\b(?:wurden?|hatten?|konnten?)\b")
"""Without accents, unreal forms ("würde") look like these, which state past facts."""
SINCE_NOW = WordPattern(
    r"\b(?:as of|since|from|starting|seit|ab|depuis|desde|da|vanaf|sinds)"
    r" (?:this|dies\w+|ce|cette|est[ea]|quest[oa]|deze)\b"
)
FROM_NOW_ON = WordPattern(
    r"(?i)\W{0,3}(?:from (?:now|here|today) on|going forward|in future|ab (?:jetzt|sofort|heute)|von nun an|künftig"
    r"|in zukunft|désormais|dorénavant|à partir de maintenant|à l'avenir|de ahora en adelante|a partir de ahora"
    r"|en adelante"
    r"|d'ora in (?:poi|avanti)|da (?:adesso|ora) in poi|de agora em diante|a partir de agora|voortaan|vanaf nu)\b"
)
"""Matches an opening after which the rest is true from now on, and was not before."""
AMENDS = WordPattern(
    r"\W{0,20}(?:(?:actually|no|oh|oops|sorry|please|wait|nein|nee|non|no|perdon|scusa|desculpa|pardon|entschuldigung"
    r"|ah|ay|ach),? ){0,2}(?:make (?:that|it)|i meant?|let's say|let's make (?:it|that)"
    r"|(?:ich|wir) mein(?:t)?en?|sagen wir|rechne (?:lieber )?mit|plan\w* (?:lieber )?mit|mach(?:en wir)? (?:daraus"
    r"|das|es)|mach daraus"
    r"|je v(?:oulais|eux) dire|disons(?: plutot)?|mett(?:ez|ons)(?: plutot)?|mets(?: plutot)?|compte(?:z"
    r"|ons)? plutot|plutot"
    r"|pon(?:me|gamos|ga)?(?: que (?:seremos|seamos|somos|son|sean))?|apunta|queria decir|quiero decir|quise decir"
    r"|digamos"
    r"|mejor que sean|que sean|mejor|volevo dire|voglio dire|intendevo|facciamo|diciamo|queria dizer|quero dizer"
    r"|quis dizer|ponha|poe|coloca|metti(?:amo)?|fai|que sejam|melhor|ik bedoel(?:de)?|maak (?:daar|er"
    r"|dat)(?: maar)?|doe maar)"
    r"\b,?\s*(?P<value>.*)"
)
"""An opening that replaces the previous value, also an ordinal: "make that the fifth floor"."""
TO_ORDINAL = WordPattern(
    r"\b(?:to|into|auf|in|zu[mr]?|au|a|al|alla|para|naar)"
    r" (?:the |den |die |das |dem |der |la |le |el |il |o |de |het )?"
    r"(?:second|third|fourth|fifth|sixth|zweit|dritt|viert|funft|sechst|deuxieme|troisieme|quatrieme|cinquieme|sixieme"
    r"|segund|tercer|cuart|quint|sext|second|terz|quart|sest|tweede|derde|vierde|vijfde|zesde|first|erste|premier"
    r"|primer|prim[oa])"
)
"""A change to another ordinal: "our office has moved to the sixth floor"."""
TOTAL = WordPattern(
    r"\b(\d{1,6}|[a-z]{2,12}) (?:altogether|in total|all in all|of us|insgesamt|en tout|en total|in totale|ao todo"
    r"|in totaal)\b"
    r"|\b(?:that makes|that's|das macht|das sind(?: jetzt| nun)?|ca fait|avec ca on en est a|ya son|con este son"
    r"|con questo sono|siamo a|com este sao|ja sao|dat maakt|dat zijn er(?: nu)?) (\d{1,6}|[a-z]{2,12})\b"
)
_DAY = "segunda|terca|quarta|quinta|sexta"
WEEKDAY_ALONE = WordPattern(
    rf"\b({_DAY})s?-feiras?\b|(?:(?<=\b[nd]a )|(?<=\bpara )|(?<=\bas )|(?<=\b[dn]as ))({_DAY})s?"
    r"(?=\W*$|[.,;!?]| (?:as|que vem|passada|de manha|a tarde|a noite|em vez|faco|tenho|ja|agora)\b)"
)
"""Portuguese days of the week, which are also ordinal numbers."""
ORDINALS = {
    word: str(number)
    for number, words in enumerate(
        (
            "first erste erster erstes premier premiere primer primera primo prima primeiro primeira eerste",
            "second zweite zweiter zweites deuxieme segundo segunda secondo seconda tweede",
            "third dritte dritter drittes troisieme tercer tercera terzo terza terceiro terceira derde",
            "fourth vierte vierter viertes quatrieme cuarto cuarta quarto quarta vierde",
            "fifth funfte funfter funftes cinquieme quinto quinta vijfde",
            "sixth sechste sechster sechstes sixieme sexto sexta sesto sesta zesde",
        ),
        start=1,
    )
    for word in words.split()
}
TOO_MUCH = WordPattern(r"\btoo (?!and\b|but\b|so\b|now\b|because\b)(?=[a-z])")
"""Before a word it expresses a degree ("too busy"), and adds nothing."""
DUTCH = WordPattern(r"\b(?:ik|wij|mijn|onze|het|een|niet|geen|zijn|wordt|hebben)\b")
NIECE = WordPattern(r"(?i)\b(mijn|onze|jouw|haar|zijn|een|de) nicht\b")
"""The Dutch niece; the word alone is the German "not"."""
PRESENT = WordPattern(
    r"\b(?:am|is|are|i'm|we're|he's|she's|it's|i've|have|has|live|lives|work|works|use|uses|like|love|prefer|always"
    r"|every|never|usually|drive|take|takes|eat"
    r"|drink|play|speak|need|needs|want|wants|own|rent|do|does|don't|doesn't|can't|won't)\b"
)
NOT_ENDED = WordPattern(
    r"\b(?:don't|do not|never|not|didn't|did not|won't|haven't|isn't|nicht|pas|nunca|non|nao|niet)"
    r" (?:ever |even |be |gonna |going to )?(?:quit\w*|giv\w+ up|stop\w*|cancel\w*|sold|sell\w*"
    r"|left|leav\w+|moved|moving|changed|switch\w*)"
    r"|\b(?:nearly|almost|i(?:'d)? (?:really |just |only |sometimes |often )?(?:want|wanted|like|love|hope|wish) to"
    r"|i(?:'m| am) (?:tempted|inclined) to|(?:thinking|thought) (?:of|about)|considering|consider|dream of)"
    r" (?:just )?(?:quit\w*|giv\w+ up|gave up|stop\w*|cancel\w*|sold|sell\w*|left|leav\w+|resign\w*|retir\w+)"
)
OFF_IT = re.compile(
    r"\A\W{0,3}(?:(?:and|finally|now|so|fully) )?off (?:the|my) (?!record\b|grid\b|hook\b|market\b|cuff\b|top\b|bat\b)"
    r"\w+(?: \w+)?(?=\W*\Z|[!.,;])"
)
"""Matches a statement without a subject that the speaker no longer takes something: "Off the statins!"."""
NOT_MEANT = WordPattern(
    r"\bsorry (?:to (?:hear|see|tell|say|bother)|(?:for|about) your|you\b|i (?:haven't|wasn't|couldn't|missed|was))"
    r"|\bgone (?:on|to|through|for|camping|fishing|swimming|hiking|skiing|shopping|diving|surfing|climbing|dancing)\b"
    r"|\b(?:you're|you are|they're|they are|he's|he is|she's|she is) (?:so |just |all |both )?wrong\b"
    r"|\bmix(?:ing)? (?:things|it|stuff) up\b|\bto switch off\b|\b(?:\w+ )for good (?:in|reason|measure|luck|health)\b"
    r"|\bi mean,? (?=(?:we|you|he|she|they|even|like|who|what|come on|really|honestly|if|when|there)\b)"
    r"|\b(?:ever )?since (?:i|we) (?:was|were)\b|\bsince (?:childhood|school|then)\b"
    r"|\b(?:some|any|no|every)(?:thing|one|body) new\b|\bwhat's new\b"
    r"|\b(?:try|tries|tried|trying)(?: out)?(?: a| some)? new\b"
    r"|\bnew (?:things|stuff|people|places|ideas|ways|skills|experiences|friends|adventures|challenges|beginnings)\b"
    r"|\bstarted\b(?=[^.,;]{0,60}\b(?:years|a while|(?:not )?(?:so |too |that )?long) ago\b)"
    r"|\b(?:when|after|since|because|before) (?:my|his|her|our|their|the) (?:\w+ ){1,2}"
    r"(?:passed away|died|broke up|split up|divorced)\b"
    r"|\bleft (?:me|us|him|her|them) (?:in|with|feeling|wanting|speechless|breathless|stunned|amazed)\b"
    r"|\b(?:has|have) (?:really )?changed (?:a lot|so much|quite a bit|(?:over|through) the years|over time)\b"
    r"|\bleft (?:my|our) \w+ (?:at|behind|(?:in|on|by|under) (?:the|my|our|an?))\b"
    r"|\bleft (?:the |my )?(?:[\w']+ ){1,2}?(?:at (?:about |around |half )?(?:\d|noon|midnight|one|two|three|four|five"
    r"|six|seven|eight|nine|ten|eleven|twelve|lunch)|early|late|to (?:get|buy|catch|fetch|pick|have|go|meet)"
    r"|for (?:lunch|dinner|the day|today|the night))\b"
    r"|\bborn and raised\b|\bend(?:ed|ing|s)? up\b|\bcom(?:e|es|ing) off (?:as|like|so|too|really|a bit)\b"
    r"|\bever since\b(?=\W*$)"
    r"|\bsince (?:there|it|it's|they|you|he|she|i (?:don't|do not|have|like|love|can|can't|am)|i'm)\b"
    r"|\bcan't wait (?:to|for|until|till) (?:\w+ ){0,3}(?:back|again|over|new)\b"
    r"|\b(?:this|that|it) (?:isn't|is not|wasn't|was not) [^.;]{2,40} but (?:it|they|i)\b"
    r"|\b(?:that's|it's) not [^.;]{2,40} but (?:it|they|i)\b"
    r"|\bwould rather be (?!in|on|at|by|near|called|addressed|told|seated)\b"
    r"|\bbefore (?:it|they) expire[sd]?\b|\bstarted off\b"
    r"|\bafter all,? (?=(?:i|we|it|he|she|they|you|that|the|my)\b)"
    r"|\b(?:i|we) actually (?=(?:went|got|had|saw|met|bought|made|took|found|attended|used)\b)"
    r"|\bfrom scratch\b|\b(?:go|goes|going|gone|went) wrong\b|\bwrong with\b"
    r"|\b(?:nothing|something|anything|what's|what is)(?:'s| is| was)? wrong\b"
    r"|\bnot (?:right|true) that\b|\bmixed (?:feelings|emotions|media)\b|\bconfused (?:about|by|why|how)\b"
    r"|\b(?:i'm|am|we're|is|are|he's|she's|they're) off to\b"
    r"|\b(?:when|whenever|once|before|until|every time) (?:i|we|you|they|it)(?:'ve)? (?:ever |have )?r[au]ns? out\b"
)
"""Comfort, blame of others and set phrases: in them the words for a mistake or an end do not mean one."""
_GREETING = (
    r"(?:^|(?<=[.!?]\s)|(?<=\n))\W{0,3}(?i:hey|hi|hello|thanks|thank you|yeah|yep|yup|wow|woah|whoa|woohoo|congrats"
    r"|cool|oh|haha|hallo|danke|merci|salut|hola|gracias|ciao|grazie|ol[aá]|obrigad[oa]|hoi|bedankt)\b[,!]?\s{1,3}"
    r"[A-Z][\w'’-]{1,20}(?=[,!.])"
)
_CALLED_OUT = (
    r",(?:(?<=[a-z]{3},)(?<!wait,)(?<!Wait,)(?<!orry,)(?<!meant,)(?<!not,)\s[A-Z][\w'’-]{1,20}(?=!)"
    r"|(?:(?<=\bthat,)|(?<=\bthis,)|(?<=\byou,))\s[A-Z][\w'’-]{1,20}(?=[.?]))"
)
CALLED_OUT = re.compile(_CALLED_OUT)
GREETED = WordPattern(_GREETING)
CALLED = Pattern(rf"{_GREETING}|{_CALLED_OUT}")
"""The name of the person addressed: after a greeting or thanks, or at the end of an exclamation."""
IS = WordPattern(
    r"\A\W*+(?:(?:actually|eigentlich|korrektur|correction|en fait|en realidad|in realta|na verdade|eigenlijk|sorry"
    r"|no|nein|non|wait)[,:]? ){0,2}(?:the|my|our|der|die|das|mein\w*|unser\w*|le|la|les|l'|mon|ma|mes|notre|el|los"
    r"|las|mi|mis|nuestr\w+|il|lo|i|gli|mio|mia|nostr\w+|o|a|os|as|meu|minha|noss\w+|de|het|mijn|ons|onze)?\s*+"
    r"([^.,;]{2,60}?)(?:\s(?:is|are|was|will be|takes place|costs"
    r"|betragt|kostet|coute|cuesta|costa|custa|kost|ist|sind|est|sont|es|son|e|sono|sao|zijn)\s|'s\s|\s?:\s|\s?=\s)"
)
ALLOWED = WordPattern(r",\s(?:the |die |der |das |les? |la )?([^\W_]{3,30}) (?:is|are) (?:fine|ok|okay|no problem)\b")
"""A thing that a correction declares to be fine: "I'm allergic to sesame, mustard is fine"."""
DENIED = WordPattern(
    r"\b(?:not|instead of|rather than|isn't|wasn't|aren't|nicht|statt|pas|au lieu d(?:e|u|es)|plutot que|no|en vez del?"
    r"|en lugar del?|non|invece d(?:i|el|ella)|al posto d(?:i|el|ella)|nao|em vez d(?:e|o|a)|niet|in plaats van)\s+"
    r"(?:(?:the|in|at|on|an?|der|die|das|den|le|la|les|el|los|il|o|os|de|het)\s+)?([^\W_](?:[\w.:/-]*\w)?)"
)
NOT = WordPattern(
    r"\b(?:no|not(?! (?:so |too |that )?(?:long ago|only|just)\b)"
    r"|never|none|without|\w+n't|cannot|kein\w*|nicht|nie|ohne|pas|jamais|sans|nunca|sin|non|mai|senza|nao|sem"
    r"|niet|geen|nooit|zonder)\b"
)
_IN_THE = re.compile(r"(?<=\w )no(?= \w)")
"""The Portuguese "in the", within a sentence; elsewhere the word is a negation."""
_PORTUGUESE = WordPattern(
    r"\b(?:o|os|eu|ao|aos|do|dos|da|das|meu|minha|um|uma|moro|moramos|prefiro|trabalho|estou|gosto|nasci|estudo|fico|vou"
    r"|vivo)\b"
)
_UNLIKE_PORTUGUESE = WordPattern(r"\b(?:i|the|my|is|are|el|la|los|las|yo|me|mi|una|en|il|lo|non|ho)\b")
"""Words of English, Spanish and Italian that Portuguese does not have, in sentences with "no"."""
YOU = WordPattern(r"\b(?:you|your|you're|yourself|congrats|hope|let's)\b|^(?:keep|don't)\b")
HEAD = WordPattern(
    r"\A\W*+([^.,;:!?]{2,60}?)\s(?:is|are|was|were|starts?|begins?|ends?|opens?|closes?|ist|sind|war|beginnt|est"
    r"|sont|commence"
    r"|es|son|empieza|e|sono|sao|inizia|comeca|zijn|begint)\s"
)
ONE_OF = WordPattern(
    r"\b(?:one of|einer? (?:der|meiner)|eines (?:der|meiner)|une? de(?:s| mes| nos)|un[oa] de (?:l[oa]s|mis)"
    r"|un[oa] dei|un[oa] delle"
    r"|uma? d[oa]s|een van)\b"
)
"""Matches a reference to one of several, without their number: "one of my favourite films"."""
SHOWN = WordPattern(
    r"\b(?:this|that|these|those) (?:isn't|is not|is no|aren't|are not|wasn't|was not|weren't) (?:an?|the)\b"
)
"""Matches a denial that something shown is what it seems to be."""
SIDED = re.compile(r"\A(linker|rechter)(?=[a-z]{3})")
"""The side in a Dutch compound: "linkerheup"."""
MEASURES = frozenset(
    "tiene tienen tengo tenemos peso pesa mide tem temos weigh weighs wiege wiegt zahlt pese compte conta"
    " weeg weegt telt employs".split()
)
"""Verbs before an amount: after any other content word a number is more likely part of a name ("parcel 24")."""
IMPERSONAL = frozenset({"they", "ils", "eles", "ze"})
SPELT = WordPattern(
    r"\b(?:with|mit|avec|con|com|met) (?:just )?(?:one|an?|two|double|ein|einem|zwei|doppel|un|une|deux|una|dos|doble"
    r"|due|doppia|um|dois|een|twee|dubbele?) [a-z](?:'?s)?(?!\w)"
)
"""Matches a spelling by the number of a letter."""


def without_in_the(text: str) -> str:
    """Return a Portuguese text without its "no" ("in the"), which is no negation; any other text unchanged."""
    low = text.lower()
    if _IN_THE.search(low) and _PORTUGUESE.search(low) and not _UNLIKE_PORTUGUESE.search(low):
        return _IN_THE.sub(" ", text)
    return text


def is_negated(plain: str) -> bool:
    """Return True if a text in plain letters contains a negation."""
    return NOT.search(without_in_the(plain)) is not None
