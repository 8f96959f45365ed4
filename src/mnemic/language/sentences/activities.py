"""Activities of the speaker: their sports and music, their way to work, their weekly habits.

"I play bass", "Ich fahre mit dem Bus zur Arbeit", "I cook on Sundays": a short clause in the first person of the
present with a word that makes it lasting. The classifier is unsure of them, as they belong to none of its classes.
"""

from __future__ import annotations

from mnemic.language.sentences.tables import pattern

_OFTEN = (
    r"(?:also|always|usually|mostly|mainly|often|sometimes|normally|generally|still|regularly|auch|immer|meistens|oft"
    r"|aussi|toujours|souvent|tambien|también|siempre|anche|sempre|spesso|também|ook|altijd|vaak)"
)
_PLAYS = (
    rf"(?:i|we) (?:{_OFTEN} )?(?:play|teach) (?!with\b|it\b|that\b|this\b|them\b|along\b|around\b|dumb\b|safe\b|host\b"
    r"|(?:a|the|my|your) (?:role|part|game|joke|trick)\b)[^,.!?]{3,50}"
    rf"|ich (?:{_OFTEN} )?spiele (?!mit\b|es\b|das\b|gerade\b)[^,.!?]{{3,50}}|ich spiele {_OFTEN} [^,.!?]{{3,50}}"
    rf"|je joue (?:{_OFTEN} )?(?:de|du|au|aux|à|dans)\b[^,.!?]{{3,50}}"
    rf"|(?:yo )?(?:{_OFTEN} )?(?:toco|juego) (?!con\b)[^,.!?]{{3,50}}|(?:io )?(?:{_OFTEN} )?(?:suono|gioco) (?!con\b)"
    rf"[^,.!?]{{3,50}}|(?:eu )?(?:{_OFTEN} )?(?:toco|jogo) (?!com\b)[^,.!?]{{3,50}}"
    rf"|ik speel (?:{_OFTEN} )?(?!met\b)[^,.!?]{{3,50}}"
)
_TO_WORK = r"(?:to|into) (?:work|school|uni(?:versity)?|college|the office|town|campus)\b"
_COMMUTES = (
    rf"(?:i|we) (?:{_OFTEN} )?(?:take|get|catch|ride|use|drive) (?:the|a|my|our) [\w' -]{{2,30}} {_TO_WORK}"
    rf"[^,.!?]{{0,30}}|(?:i|we) (?:{_OFTEN} )?(?:walk|cycle|bike|drive|run|ride|commute|travel|go)"
    rf" (?:[\w' -]{{2,30}} )?{_TO_WORK}[^,.!?]{{0,30}}|i (?:{_OFTEN} )?commute\b[^,.!?]{{2,50}}"
    r"|ich (?:fahre|gehe|laufe|radle|pendle|nehme) [^,.!?]{0,40}\b(?:zur arbeit|ins büro|zur uni|zur schule)"
    r"|ich pendle\b[^,.!?]{2,40}"
    r"|je (?:prends|vais|fais) [^,.!?]{0,40}\b(?:au travail|au bureau|au boulot|à la fac|pour aller (?:au travail"
    r"|travailler))"
    r"|(?:tomo|cojo|voy) [^,.!?]{0,40}\b(?:al trabajo|a la oficina|a la universidad|para ir a trabajar)"
    r"|(?:prendo|vado|vengo) [^,.!?]{0,40}\b(?:al lavoro|in ufficio|all'università|per andare al lavoro)"
    r"|(?:apanho|pego|vou|tomo) [^,.!?]{0,40}\b(?:para o trabalho|ao trabalho|para o escritório|para ir trabalhar)"
    r"|ik (?:neem|ga|fiets|rijd|pak|loop) [^,.!?]{0,40}\b(?:naar (?:mijn |het )?(?:werk|kantoor|school))"
)
_PASSED = (
    r"(?!\w+ed\b|(?:had|was|thought|knew|said|got|went|saw|did|took|made|found|felt|came|heard|told|ate|won|lost|met|ran"
    r"|gave|been|bought|left|sold|sent|slept|spent|wrote|read the|need|want|have|am|can|could|might|may|will|would"
    r"|should|must|think|guess|hope|wish|know|mean|see|heard|just|finally|never|only)\b)"
)
_WEEKLY = (
    r"(?:on (?:mon|tues|wednes|thurs|fri|satur|sun)days|on weekends|at (?:the )?weekends?|on weekdays"
    r"|(?:every|each|most) (?:single )?(?:other )?(?:day|morning|evening|night|afternoon|week|weekend|month|year|summer"
    r"|winter|spring|autumn|(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?"
    r"|(?:once|twice|three times|four times|five times) (?:a|per|each) (?:day|week|month|year)"
    r"|before (?:work|breakfast)|after work|in my (?:spare|free) time)"
)
_OF_WEEKS = (
    rf"(?:i|we) (?:{_OFTEN} )?{_PASSED}[a-z]{{2,12}} (?:[^,.!?]{{2,50}}? )?{_WEEKLY}(?: [^,.!?]{{2,20}})?"
    rf"|(?:on (?:mon|tues|wednes|thurs|fri|satur|sun)days|every (?:morning|evening|day|weekend)),? (?:i|we)"
    rf" (?:{_OFTEN} )?{_PASSED}[a-z]{{2,12}} [^,.!?]{{2,50}}"
    r"|(?:ich|wir) (?:koche|kochen|backe|schwimme|laufe|jogge|lese|singe|tanze|turne|klettere|gehe|mache|trainiere)"
    r" [^,.!?]{0,40}\b(?:montags|dienstags|mittwochs|donnerstags|freitags|samstags|sonntags|jeden \w+|jede woche)"
    r"[^,.!?]{0,30}"
    r"|je (?:cuisine|nage|cours|lis|chante|danse|vais|fais) [^,.!?]{0,40}\b(?:le (?:lundi|mardi|mercredi|jeudi|vendredi"
    r"|samedi|dimanche)|tous les \w+|chaque \w+)[^,.!?]{0,20}"
    r"|(?:cocino|nado|corro|leo|canto|bailo|voy|hago) [^,.!?]{0,40}\b(?:los (?:lunes|martes|miércoles|jueves|viernes"
    r"|sábados|domingos)|todos los \w+|cada \w+)[^,.!?]{0,20}"
    r"|(?:cucino|nuoto|corro|leggo|canto|ballo|vado|faccio) [^,.!?]{0,40}\b(?:il|la|ogni|tutti i|tutte le) (?:lunedì"
    r"|martedì|mercoledì|giovedì|venerdì|sabato|domenica|giorn[oi]|mattin[ae]|sera|sere|settimana)[^,.!?]{0,20}"
    r"|(?:cozinho|nado|corro|leio|canto|danço|vou|faço) [^,.!?]{0,40}\b(?:aos|às|todos os|todas as|cada) (?:segundas"
    r"|terças|quartas|quintas|sextas|sábados|domingos|dias|manhãs|noites|semanas?)[^,.!?]{0,20}"
    r"|ik (?:kook|zwem|loop|ren|lees|zing|dans|ga|sport) [^,.!?]{0,40}\b(?:op \w+dag(?:en)?|elke \w+|iedere \w+)"
    r"[^,.!?]{0,20}"
)
_ACTIVITY = pattern(rf"^\W{{0,3}}(?:{_PLAYS}|{_COMMUTES}|{_OF_WEEKS})[.!]?$")
_OF_THE_MOMENT = pattern(
    r"\b(?:today|tonight|tomorrow|yesterday|right now|at the moment|this (?:week|month|weekend|morning|evening)|next"
    r" (?:week|month|weekend)|again|would|if|heute|morgen|gestern|gerade|aujourd'hui|demain|hier|hoy|mañana|ayer|oggi"
    r"|domani|ieri|hoje|amanhã|ontem|vandaag|gisteren|you|your|dich|dir|toi|te|ti)\b"
)
"""Matches words for the present day, or for the conversation."""


def does_regularly(text: str) -> bool:
    """Return True if a clause plainly states a sport, music, a way to work or a weekly habit of its speaker."""
    return _ACTIVITY.search(text) is not None and _OF_THE_MOMENT.search(text) is None
