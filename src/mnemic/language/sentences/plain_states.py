"""Plain statements of the speaker's states and habits, in the supported languages other than English.

"Tengo un velero", "Ich habe vier Hühner", "Parlo polacco": a short clause with its verb in the first person of the
present. The classifier was trained mostly on English sentences, and underestimates them.
"""

from __future__ import annotations

from mnemic.language.sentences.tables import pattern

PLAIN_FROM = 0.3
"""Minimum probability for storing such a statement."""
_COUNT = (
    r"(?:\d+|ein(?:en?|em|s)?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|une?|deux|trois|quatre|cinq|six|sept|huit"
    r"|neuf|dix|un[ao]?|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|due|tre|quattro|cinque|sei|sette|otto|nove"
    r"|dieci"
    r"|uma?|dois|duas|três|quatro|sete|oito|dez|een|één|twee|drie|vijf|zes|zeven|acht|negen|tien)"
)
_FEW = r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|\d{1,2}|a few|some)"
_PETS = (
    r"(?:cats?|kittens?|dogs?|pupp(?:y|ies)|rabbits?|bunn(?:y|ies)|hamsters?|guinea pigs?|parrots?|budgies?"
    r"|canar(?:y|ies)|tortoises?|turtles?|snakes?|lizards?|geckos?|ferrets?|horses?|pon(?:y|ies)|goldfish|hens?|chickens?|ducks?|goats?"
    r"|sheep|bees)"
)
_PLAIN = pattern(
    r"^\W{0,3}(?:"
    rf"(?:ich habe|wir haben|j'ai|on a|nous avons|(?:yo )?tengo|tenemos|(?:io )?ho|abbiamo|(?:eu )?tenho|temos|ik heb"
    rf"|we"
    rf" hebben|wij hebben) {_COUNT} [^,.!?]{{3,60}}"
    r"|(?:ich habe|j'ai|tengo|ho|tenho|ik heb) (?:\w*angst|peur|le vertige|miedo|paura|medo|\w*vrees)\b[^,.!?]{0,40}"
    r"|ik ben bang (?:voor|om)\b[^,.!?]{2,40}"
    r"|(?:ich spreche|je parle|hablo|parlo|falo|ik spreek) (?!mit\b|avec\b|con\b|com\b|met\b|de\b|di\b|à\b|a\b"
    r"|jetzt\b|gerade\b)[^,.!?]{3,40}"
    r"|(?:ich wiege|je pèse|peso|ik weeg) (?:\w+ )?\d+[^,.!?]{0,20}"
    r"|(?:ich rauche|je fume|fumo|ik rook|ich trinke|je bois|bebo|bevo|ik drink|ich esse|je mange|como|mangio"
    r"|ik eet) (?!gerade\b|jetzt\b|heute\b)[^,.!?]{3,60}"
    r"|(?:ich fahre|ich gehe|ich laufe|je vais|voy|vado|vou|ik ga|ik fiets|ik rijd) [^,.!?]{0,40}\b(?:zur arbeit"
    r"|ins büro"
    r"|au travail|au bureau|al trabajo|al lavoro|para o trabalho|(?:naar|op) (?:mijn|het) werk|montags|dienstags"
    r"|mittwochs"
    r"|donnerstags|freitags|samstags|sonntags|(?:le|los|il|às) (?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche"
    r"|lunes|martes|miércoles|jueves|viernes|sábados|domingos|lunedì|martedì|mercoledì|giovedì|venerdì|sabato"
    r"|segundas|terças|quartas|quintas|sextas)|op \w+dag)\b[^,.!?]{0,40}"
    r"|(?:je porte|llevo|porto|uso|ich trage|ik draag|zum \w+ trage ich) [^,.!?]{3,30}\b(?:pour|para|per|om te|zum|beim"
    r"|brille|kontaktlinsen)\b[^,.!?]{0,40}"
    r"|(?:[^\W\d_]+(?: [^\W\d_]+){0,3} )?(?:j'utilise|j'écoute|j'apprends|je (?:joue(?! avec\b)|bosse|travaille|porte"
    r"|lis|bois|mange|prends"
    r"|collectionne|cours|nage|étudie)|(?:yo )?(?:uso|utilizo|juego(?! con\b)|toco|leo|escucho|estudio|tomo|colecciono"
    r"|trabajo|entreno)"
    r"|(?:eu )?(?:assino|jogo(?! com\b)|toco|ouço|leio|estudo|tomo|uso|trabalho|coleciono|treino|pratico)"
    r"|(?:io )?(?:suono|gioco(?! con\b)|leggo|ascolto|studio|uso|bevo|prendo|colleziono|lavoro|pratico)"
    r"|ich (?:benutze|nutze|spiele(?! mit\b)|lese|höre|lerne|studiere|sammle|nehme|trainiere)"
    r"|ik (?:gebruik|speel(?! met\b)|lees|luister|leer|studeer|neem|verzamel|train|bank|werk)|ho il conto"
    r"|tengo la cuenta|tenho conta)"
    r" [^,.!?]{3,60}"
    r"|j'ai mal (?:à|au|aux) [^,.!?]{3,30}|je vais (?:au|à la|à l') ?(?:boulot|école|fac|gym|salle"
    r"|piscine)\b[^,.!?]{0,30}"
    r"|(?:los|le|il|la|às|na|op) \w+ (?:voy|vado|vou|ga ik) [^,.!?]{3,40}"
    rf"|(?:i|we)(?: have|'ve(?: got)?| have got| keep| own) {_FEW} (?:\w+ ){{0,2}}{_PETS}"
    r"|(?:i|we) (?:mostly |mainly |always |usually |only )?use (?!(?:it|that|this|them|these|those|some|one|any|the"
    r"|your|to|my|both|all)\b)[\w.+#-]+(?: (?:for|as|at|with|on|in) [\w' -]{2,30})?"
    r"|i(?:'m| am) the (?:\w+ )?(?:treasurer|chair\w*|secretary|captain|president|coach|organi[sz]er|host|editor"
    r"|landlord|owner"
    r"|caretaker|director|head|lead|leader) of [^,.!?]{3,60}|i keep (?:all )?my [^,.!?]{3,40} (?:in|on"
    r"|with) [^,.!?]{2,30}"
    r"|(?:canto|ich singe|je chante|ik zing) (?:en|in|im|num|numa|na|no|dans) [^,.!?]{3,40}"
    r"|(?:je déjeune|je dîne|pranzo|ceno|almoço|janto|ik lunch|ich esse) (?:à|a|ao|alle|all'|um|om) ?[^,.!?]{2,30}"
    r"|(?:j'habite|ik woon|abito|moro|vivo|je vis|ich wohne|ich lebe|wir wohnen|nous habitons) (?:à|in|a|en|em|ad) "
    r"[^,.!?]{2,40}"
    r"|(?:los|le|il|à|às|op|am|an) ?(?:lunes|martes|miércoles|jueves|viernes|lundi|mardi|mercredi|jeudi|vendredi|lunedì"
    r"|martedì|mercoledì|giovedì|venerdì|segunda|terça|quarta|quinta|sexta) (?:hago|fais|je fais|faccio|faço|juego|joue"
    r"|je joue|gioco|jogo|voy|vado|vou|je vais) [^,.!?]{3,40}"
    r"|(?:mi|mon|ma|il mio|la mia|o meu|a minha|mein|meine|mijn) [\w-]{3,20} (?:es|est|è|é|ist|is) (?:el|le|am|na|no"
    r"|op|a"
    r"|il|à|um|om)? ?(?:\d|lunes|martes|miércoles|jueves|viernes|lundi|mardi|mercredi|jeudi|vendredi|lunedì|martedì"
    r"|mercoledì|giovedì|venerdì|segunda|terça|quarta|quinta|sexta|maandag|dinsdag|woensdag|donderdag|vrijdag|montag"
    r"|dienstag|mittwoch|donnerstag|freitag)[^,.!?]{0,30}"
    r"|(?:mein|meine|unser|unsere|mon|ma|notre|mi|nuestr[oa]|il (?:mio|nostro)|la (?:mia|nostra)|o (?:meu|nosso)"
    r"|a (?:minha|nossa)|mijn|onze|ons) [\w-]{3,20} (?:heißt|s'appelle|se llama|si chiama|chama-se|heet)"
    r" (?-i:[^\W\d_a-z])[\w'’-]{1,20}"
    r")[.!]?$"
)
_STEERS = pattern(
    r"^\W{0,3}(?:my|our) [^\W\d_][\w'’-]*(?: [\w'’-]+){0,3}? (?:now |still )?(?:drives|flies|steers|captains|sails)"
    r" (?:an? |the )?(?:[\w-]+ )?(?:taxis?|cabs?|bus(?:es)?|coach(?:es)?|trams?|trains?|lorr(?:y|ies)|trucks?"
    r"|ambulances?|forklifts?|cranes?|tractors?|helicopters?|planes?|jets?|airliners?|ferr(?:y|ies)|tugs?|tankers?|barges?)"
    r"(?: (?:for|at|in|on) (?!me\b|us\b|it\b|my\b|our\b|fun\b)[^,.!?]{2,30})?[.!]?$"
)
"""Matches a relative of the speaker and the vehicle that they drive for a living, as a whole sentence."""
_OF_THE_MOMENT = pattern(
    r"\b(?:heute|gerade|jetzt|gestern|morgen|aujourd'hui|hier|demain|hoy|ayer|mañana|ahora|oggi|ieri|domani|adesso"
    r"|hoje|ontem|amanhã|agora|vandaag|gisteren|frage|fragen|questions?|preguntas?|domand\w|perguntas?|pergunta|vraag"
    r"|idee|idée|idea|ideia|problem\w*|problème|lust|envie|ganas|voglia|vontade|zin|hunger|faim|hambre|fame|fome"
    r"|gedanken?|gedachten?|pensées?|pensamientos?|pensier[oi]|pensamentos?"
    r"|kaffee getrunken|gegessen|gekauft|gesehen|gelesen|gemacht)\b"
)
"""Matches words for the present day, or for the conversation."""


def is_plain_state(text: str) -> bool:
    """Return True if a clause plainly states a possession, habit, language or weight of its speaker, or the vehicle
    that a relative drives for a living.
    """
    if _STEERS.search(text) is not None:
        return True
    return _PLAIN.search(text) is not None and _OF_THE_MOMENT.search(text) is None
