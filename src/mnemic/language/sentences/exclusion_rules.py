"""Clauses without a lasting fact about the user, and the reasons of an extraction for not storing them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mnemic.language.sentences.casual_spelling import written_out
from mnemic.language.sentences.clauses import Clause
from mnemic.language.sentences.general_knowledge_messages import speaks_of_self
from mnemic.language.sentences.judgements import is_gossip
from mnemic.language.sentences.likings import LIKING
from mnemic.language.sentences.pasted_text import AMENDS_A_RECORD
from mnemic.language.sentences.social_remarks import NAMED, is_company
from mnemic.language.sentences.standing_orders import is_standing_order
from mnemic.language.sentences.tables import other_languages, pattern
from mnemic.language.sentences.tables.english import AIM
from mnemic.language.sentences.temporary_states import is_in_jest, is_passing_state
from mnemic.language.skip_reason_codes import (
    HYPOTHETICAL,
    JOKE,
    NOT_DURABLE,
    NOT_UNDERSTOOD,
    QUOTED,
    SARCASM,
    THIRD_PARTY,
    TRANSIENT,
)

MAX_SENTENCE_CHARS = 400

LASTING = pattern(
    r"(?:(?:^|\bi |\bplease |\byou |[,;] )never|(?<!\w)(?:always|from now on|going forward|in (?:the )?future|"
    r"for (?:all )?future|for all my|by default|every time|"
    r"whenever|remember|keep in mind|note that|for the record|please note|as a rule|in general|generally|usually|"
    r"de ahora en adelante|a partir de ahora|siempre|nunca|recuerda|ten en cuenta|en adelante|por defecto|"
    r"en (?:el )?futuro))\b"
)
"""Words that make a statement valid from now on."""

WISH = pattern(
    r"\b(?:prefer|prefers|like|love|favou?r|favou?rite|preferred|enjoy|usual|usually|always|remember|"
    r"prefiero|me gustan?|me encantan?|siempre|suelo|recuerda)\b"
)
"""Words that state a preference."""

NEGATED = pattern(r"\b(?:don't|do not|not|never|hate|dislike|avoid|can't stand|cannot stand|no me|odio|nunca|evito)\b")

_PREFERENCE = pattern(
    r"\b(?:like|as) i (?:always |usually |generally )?prefer\b|\bmy (?:\w{4,12} )?preference (?:for|is|to)\b|" + AIM
)
"""Matches a preference or an aim that a request mentions in passing: it outlives the request."""

_REMEMBER_TO = pattern(r"^\W{0,3}(?:please )?(?:don't forget|remember|remind me) to\b")
_REQUEST = pattern(
    r"^\W{0,3}(?:(?:and|so|then|also|ok|okay|hey|hi|hello|well|now|y|pero)\W{1,3}){0,2}(?:please |por favor,? )?"
    r"(?:i (?:want|need|wish)\b|i(?:'| )?d (?:like|love|prefer|rather)\b|i would (?:like|love|prefer|rather)\b|"
    r"i wanna\b|(?:want|wanna|need) to (?:find|see|hear|book|watch|know)\b|"
    r"i(?:'| a| )?m (?:also )?(?:looking|searching|requesting|trying|hoping|wondering|calling|asking|"
    r"interested in (?:an?|the|\w+ing))\b|i have to\b|"
    r"i (?:was|am) wondering|we (?:want|need)\b|we(?:'| woul)?d like\b|let(?:'| )?s\b|let me\b|may i\b|help\b|"
    r"(?:can|could|would|will|should|may|might) (?:you|i|we|someone)\b|do you\b|is there\b|are there\b|"
    r"quiero\b|necesito\b|quisiera\b|me gustaría\b|puedes\b|podrías\b|vamos a\b)"
)
_ORDER = pattern(
    r"^\W{0,3}(?:(?:and|so|then|also|ok|okay|hey|hi|hello|now|y|pero)\W{1,3}){0,2}(?:please |kindly |just |"
    r"por favor,? )?"
    r"(?:find|get|book|play|show|tell|give|set|add|remind|search|look|call(?! me [\w'-]+[.!]?$)|send|make|"
    r"schedule|order|open|close|turn|start|"
    r"stop|put|rate|list|buy|check|create|draft|prepare|plan|cancel|change|update|delete|remove|help|explain|describe|"
    r"compare|recommend|suggest|summari[sz]e|translate|rewrite|write (?:an?|the|me|my|this)|compose|calculate|convert|"
    r"display|bring|take|reserve|run|fix|review|read|fetch|pull|generate|download|upload|navigate|go|come|wait|try|let|"
    r"include|name|pick|choose|arrange|locate|watch|see|hear|listen|award|use (?:the|this|that|a|an) |"
    r"busca|encuentra|reserva|pon|muestra|dime|dame|añade|agrega|manda|envía|haz|compra|abre|cierra|pide|traduce|"
    r"resume|"
    r"explica|recomienda|crea|prepara|programa|cancela|llama)\b"
)
_PLEASE = pattern(r"\b(?:please|kindly) (?:schedule|book|reserve|find|show|list|give|tell|send|get|search|look)\b")
_INQUIRY = pattern(
    r"^\W{0,3}(?:(?:and|so|also|ok|okay|now) )?(?:(?:all|any|the|some|what|cheap\w*|direct|ground|public|american|"
    r"one way|round trip|early|late|first class|next|last) ){0,3}(?:(?:flights?|fares?|airlines?|trains?|bus(?:es)?|"
    r"hotels?|rooms?|restaurants?|tables?|tickets?|taxis?|weather|forecasts?|transport\w*|showtimes) "
    r"(?:(?:in|for|near|at|between|to) )?(?:from )?|from (?=[a-z' ]{2,30} to ))"
    r"(?!is\b|are\b|was\b|were\b|has\b|have\b|only\b|must\b|should\b)\w+"
)
"""Matches a phrase without a verb that names a service and a place, or a route: "from Leeds to York on a Monday"."""
_STATED = pattern(
    r"\b(?:is|are|was|were|has|have|had|am|do|does|did|will|can|must|should|prefer\w*|\w{2,}ed|\w+'s|i'm|only|never|"
    r"always|every|now|instead|no|not|broke|went|left|work|works|please|my name|i live)\b|[:=]"
)
"""Matches words of a clause with a statement."""
_PAYLOAD = pattern(
    r"^\W{0,3}(?:please )?(?:(?:can|could|would) you (?:please )?)?"
    r"(?:translate|rewrite|proofread|paraphrase|summari[sz]e|correct|edit|continue|complete|write an?|compose|draft|"
    r"pretend|act as|roleplay|role-play|repeat|classify|extract|analy[sz]e|traduce|resume|corrige|reescribe)\b"
)
_QUESTION = pattern(
    r"^\W{0,3}(?:(?:and|so|then|also|but|ok|well)\W{1,3})?(?:what|which|where|when|who|whom|whose|why|how|whats|wheres"
    r"|whos|hows|is|are|"
    r"am|was|"
    r"were|do|does|did|has|have you|have i|have we|can|could|will|would|should|shall|qué|que tal|cuál|dónde|"
    r"cuándo|quién|"
    r"cómo|por qué|cuánto|cuánta|cuántos)\b(?! a (?:treat|shame|day))"
)
_HYPOTHETICAL = pattern(
    r"^\W{0,3}(?:(?:and|but|so|well|y|pero)\W{1,3})?(?:if|unless|suppose|supposing|imagine|assuming|what if|let's say|"
    r"say i|in case|were i|had i|pretend|for example|for instance|e\.g\.|si|imagina|supongamos|supón|por ejemplo)\b"
)
_UNREAL = pattern(
    r"^\W{0,3}(?:se (?:mi |ci |io |noi )?\w{2,20}(?:ass|ess|iss)[ei](?:mo|ro)?\b|si (?:me |nos |yo )?\w{2,20}"
    r"(?:ara|iera|aras|ieras|áramos|iéramos|ase|iese)\b|se (?:me |eu |nós )?\w{2,20}(?:asse|esse|isse)(?:m|mos)?\b"
    r"|(?:se|si) (?:[^\W\d_]+ ){1,4}?(?!spesso\b|passe\b|desse\b)\w{2,20}(?:ass|ess|iss)(?:ero|[ei](?:mo)?|em)\b"
    r"|si (?:[^\W\d_]+ ){1,4}?\w{2,20}(?:ara|iera|iese|iesen|ieran|aran)\b"
    r"|als .{2,80}\bzou(?:den)?\b|misschien\b|wellicht\b)"
)
"""Matches a supposition by its mood or its verb."""
_ORDERED_WHEN = pattern(
    r"^\W{0,3}(?:when(?:ever)?|if|each time|every time|(?:immer )?wenn|falls|jedes mal,? wenn|quand|si|chaque fois que"
    r"|cuando|cada vez que|quando|se|ogni volta che|sempre que|als|wanneer|elke keer (?:dat|als)) (?:i|we|ich|wir|je"
    r"|nous"
    r"|te|you|ti|le|lhe|yo|io|eu|ik|wij)?\b[^,.!?]{2,90},? (?:(?:please|bitte|then|dann|alors|immer|toujours|siempre"
    r"|sempre"
    r"|altijd|always|just|por favor|per favore|s'il te plaît|alsjeblieft) ){0,2}(?:don't (?:use|write|add|give)|answer"
    r"|reply"
    r"|respond|write|use|give me|show me|keep (?:it|your|the)|call me|explain|add|include|put|start|antworte|schreibe?"
    r"|benutze|nutze|verwende|gib|zeig|nenn|erklär|réponds|écris|utilise|donne|montre|explique|responde|contesta"
    r"|escribe"
    r"|usa|dame|muéstrame|rispondi|rispondimi|scrivi|dammi|mostrami|escreve|dá-me|mostra|responde-me|respóndeme"
    r"|antwoord"
    r"|schrijf|gebruik|geef)\b"
)
"""Matches an order for a kind of occasion: "When I ask for code, answer in Python"."""
_PERHAPS = pattern(
    r"\b(?:i (?:might|may|could|would|wish|should)|i'd (?!rather)|maybe|perhaps|possibly|probably|i(?:'m| am|'ve been) "
    r"(?:thinking (?:of|about)|considering|deciding|not sure|unsure|(?:toying|playing|flirting) with the "
    r"(?:idea|thought|notion))|i guess|i wonder|if i (?:were|was|had)|hopefully"
    r"|idk|i dunno|i (?:don't|do not) (?:know (?:if|what|why|whether|who|when|where)|get (?:why|how))|i can't think of"
    r"|i (?:think|believe) (?:he|she|they|it)\b|quizás?|tal vez|a lo mejor|ojalá)\b"
)
_REPORTED = pattern(
    r"\b(?:(?:he|she|they|someone|somebody|people|everyone|everybody|my \w{2,20}(?: \w{2,20})?|"
    r"the \w{2,20}(?: \w{2,20})?|"
    r"(?!you\b)[\w'-]{2,20}|él|ella|alguien|mi \w{2,20}) (?:said|says|told|claims|claimed|wrote|mentioned|"
    r"argues|argued|insists|insisted|reckons|dijo|dice(?=:| que| «)|me contó|cree que)|according to|quote:|según)\b"
)
_SELF_REPORT = pattern(
    r"\b(?:i|we)(?: (?:have )?never)? (?:said|told|mentioned|wrote|claimed)\b|\bas (?:they|people) say\b|"
    r"\b(?:i|we)(?:'ve| have| was| were)? (?:just )?(?:been )?(?:told|informed) (?:that )?"
    r"(?=(?:[\w'-]+,? ){0,12}(?:my|our|me|us|i|we|i'm|we're)\b)|"
    r"\b(?:card|passport|ticket|certificate|calendar|invoice|receipt|label|badge|licen[cs]e) says? [^.!?]{1,60}\bnot\b"
)
DENIES_SAYING = pattern(
    r"\b(?:i|we) (?:have )?(?:never|didn't|did not) (?:said|say|told|tell|mentioned|mention|wrote|claimed|claim)\b|"
    r"\b(?:ich|wir) (?:habe?n?|hatten?) (?:\w+ )?nie (?:gesagt|behauptet)\b|\bn'ai jamais dit\b|"
    r"\bnunca (?:dije|he dicho|disse|te he dicho|te dije)\b|\bnon ho mai detto\b|\bheb (?:\w+ )?nooit gezegd\b"
)
"""Matches a denial of the following words, which therefore state nothing."""
_SARCASM = pattern(
    r"(?:\byeah,? right\b|\bas if\b|\boh,? (?:great|joy|wonderful|lovely|fantastic|brilliant|sure|perfect)\b|"
    r"\bsure, because\b|"
    r"\bjust what i (?:needed|wanted)\b|\b(?:just |absolutely |really )?love (?:it )?when\b.{0,60}\b(?:crash|fail|"
    r"break|late|"
    r"ignore|cancel|lose|lost|delay)|\bthanks a lot\b|(?:^|\s)/s\b|🙄|\bnot!\s*$|\bsaid no one\b|\bwhat a (?:joy|"
    r"treat)\b|"
    r"\bcomo no\b|\bsí, claro\b)"
)
_SO = pattern(
    r"\b(?:so|therefore|hence|which is why|deshalb|darum|donc|alors|así que|por eso|quindi|perciò|por isso|dus|"
    r"daarom)\W{0,3}$"
)
_SPEAKER = pattern(r"^\W{0,3}(?:so )?(?:i|i'm|im|i've|ive|we|we're|we've|my|our|ich|wir|je|j'ai|yo|io|eu|ik|wij)\b")
_CHAT = pattern(
    r"^\W{0,3}(?:hi|hey|hello|good (?:morning|afternoon|evening|night)|thanks?|thank you|bye|goodbye|ok|okay|sure|"
    r"great|cool|"
    r"nice|lol|haha|wow|yes|no|yeah|yep|nope|please|sorry|hola|gracias|adiós|vale|buenos días|buenas)\b\W{0,5}"
    r"(?:there|everyone|all|you|so much|again|a lot)?\W{0,5}$"
    r"|^\W{0,3}(?:hi|hey|hello|good (?:morning|afternoon|evening|night)|hola|hallo|bonjour|ciao|olá|hoi|test|testing)"
    r"\W{1,3}(?:(?:number|no|message|world)\W{1,2})?\d{1,6}\W{0,5}$"
)
_THANKS = pattern(
    r"^\W{0,3}(?:thanks?|thank you|danke\w*|vielen dank|merci|gracias|grazie|obrigad[oa]|bedankt|dank je)\b"
    r"[^.?\d]{0,30}$"
)
_UNNAMED = pattern(
    r"\b(?:i|we) (?:\w+ ){0,2}?(?:love|like|enjoy|adore) (?:this|that|these|those)"
    r"(?: (?:genre|place|song|book|game|movie|film|one|series|idea|thing|story|show|author|"
    r"band|recipe|style|part|stuff))?"
    r"\W*$|\bfan of (?:this|that|these|those)(?: \w+)?\W*$"
)
"""Matches a liking of a thing that another person named."""
_ANSWER = pattern(
    r"^\W{0,3}(?:since|because|until) (?:[\w'-]+ ){1,6}[\w'-]+\W*$|"
    r"^\W{0,3}(?-i:[A-Z][a-z]+(?:, [A-Z][a-z]+)*,? and [A-Z][a-z]+)\W*$"
)
"""Matches a whole sentence that answers a question without repeating its subject ("Since I was nine")."""
_PASSING = pattern(
    r"\bi(?:'m| am|'ve been| have been| feel)(?: (?:so|very|really|a bit|quite|just))? (?:hungry|tired|bored|"
    r"thirsty|sleepy|"
    r"cold|hot|busy|late|sick|back|here|done|ready|sorry|glad|stuck|confused|lost|fine|good|ok|okay|well|great|"
    r"happy|sad|"
    r"excited|exhausted|stressed)\b|\b(?:right now|at the moment|for now|just now|ahora mismo|por ahora)\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mood:
    """Mood of a sentence: valid from now on, ironic, a guess; and the index at which another person's words begin."""

    lasting: bool
    reason: str | None
    quoted_from: int | None = None

    def quotes(self, clause: Clause) -> bool:
        """Return True if another person's words begin in this clause or before it."""
        return self.quoted_from is not None and self.quoted_from < clause.end - clause.sentence_start


def orders_on_occasion(sentence: str) -> bool:
    """Return True if a sentence is an order for a kind of occasion, without which it would always apply."""
    return _ORDERED_WHEN.search(sentence) is not None or is_standing_order(sentence)


def mood_of(sentence: str) -> Mood:
    """Return the mood of a sentence, judged by its first 400 characters."""
    text = sentence[:MAX_SENTENCE_CHARS]
    lasting = bool(LASTING.search(text))
    reason = None
    if _SARCASM.search(text):
        reason = SARCASM
    elif is_in_jest(text):
        reason = JOKE
    elif orders_on_occasion(text):
        lasting = True
    elif (_HYPOTHETICAL.search(text) or _UNREAL.search(text)) and not lasting:
        reason = HYPOTHETICAL
    reported = None if _SELF_REPORT.search(text) else _REPORTED.search(text) or other_languages.REPORTED.search(text)
    return Mood(lasting=lasting, reason=reason, quoted_from=reported.start() if reported else None)


_CALLED_OUT = re.compile(
    r"\A\W*(?:(?:(?i:yep|yes|yeah|yup|wow|woah|whoa|woohoo|yay|hooray|haha|aww?|oh|ooh|"
    r"congrats|congratulations|thanks|thank you|definitely|totally"
    r"|absolutely|exactly|hey|hi|hello|sure|right|cool|nice|great|awesome|indeed|agreed|same here|no way|good luck"
    r"|ja|genau|danke|oui|merci|claro|gracias|certo|grazie|sim|obrigad[oa]|nee|bedankt)\b[\s,!.]*)+"
    r"(?:[A-Z][\w'’-]{1,20})?[\s!.,]*|[A-Z][\w'’-]{1,20}!+\W*)\Z"
)
"""Matches a word of agreement or greeting and a name: "Wow, Maria!" states nothing."""
_STAGE = re.compile(r"\A\W{0,3}\[[^\]\n]*\s[^\]\n]*\]?\W*\Z")
"""Matches a whole clause in square brackets: a caption or a stage direction, not the user's words."""


def is_called_out(text: str) -> bool:
    """Return True if a clause only addresses a person by name, agrees or greets, or is a caption in square brackets."""
    return bool(_CALLED_OUT.search(text) or _STAGE.search(text))


def is_certain(clause: Clause, reason: str) -> bool:
    """Return True if the reason that `left_out` returns for a clause is beyond doubt: a request may last ("keep answers
    short"), a question does not.
    """
    text = clause.text
    return (
        reason in (SARCASM, JOKE, HYPOTHETICAL, QUOTED)
        or clause.asks
        or is_called_out(text)
        or is_gossip(text)
        or is_company(text)
        or bool(_REMEMBER_TO.search(text) or _CHAT.search(text) or other_languages.LEANING.search(text))
    )


def payload_follows(clause: Clause) -> bool:
    """Return True if the clause orders work on a text that follows."""
    return bool(_PAYLOAD.search(clause.text)) and AMENDS_A_RECORD.search(clause.text) is None


def left_out(clause: Clause, mood: Mood) -> str | None:
    """Return the reason for storing nothing of this clause, or None."""
    text = written_out(clause.text)
    if mood.reason in (SARCASM, JOKE):
        return mood.reason
    if not clause.asks and is_standing_order(clause.sentence):
        return None
    if _REMEMBER_TO.search(text) or clause.asks or _QUESTION.search(text):
        return TRANSIENT
    if mood.reason is not None:
        return mood.reason
    if mood.quotes(clause) and not _is_own_conclusion(clause):
        return QUOTED
    if (remark := _remark(text)) is not None or mood.lasting or _PREFERENCE.search(text) or LIKING.match(text):
        return remark
    if _is_of_the_moment(text):
        return TRANSIENT
    if _PERHAPS.search(text) or other_languages.PERHAPS.search(text):
        return HYPOTHETICAL
    if _UNNAMED.search(text) or (clause.text == clause.sentence and _ANSWER.search(text)):
        return NOT_UNDERSTOOD
    return NOT_DURABLE if other_languages.LEANING.search(text) else None


def asks_or_orders(text: str) -> bool:
    """Return True if a text asks a question, or for something to be done at once."""
    asking = _QUESTION.search(text) or _REQUEST.search(text) or _ORDER.search(text) or _PLEASE.search(text)
    return text.rstrip("\"'”’) ").endswith(("?", "？")) or asking is not None


def _remark(text: str) -> str | None:
    """Return the reason for not storing a clause that is gossip, the state of a day or only a social remark."""
    if is_gossip(text):
        return THIRD_PARTY
    if is_company(text) and is_passing_state(text):
        return TRANSIENT
    if _THANKS.search(text) and not speaks_of_self(text) and not NAMED.search(text):
        return NOT_DURABLE
    return NOT_DURABLE if _CHAT.search(text) or is_called_out(text) or is_company(text) else None


def _is_own_conclusion(clause: Clause) -> bool:
    """Return True if a clause is the speaker's conclusion from a report: "the doctor said no coffee, so I'm on tea
    now".
    """
    return bool(_SO.search(clause.words_before)) and bool(_SPEAKER.search(clause.text))


def _is_of_the_moment(text: str) -> bool:
    """Return True if a clause asks for an immediate action or describes the state of a single day."""
    if _REQUEST.search(text) or _ORDER.search(text) or _PLEASE.search(text):
        return True
    if _PASSING.search(text) or is_passing_state(text):
        return True
    return bool(_INQUIRY.search(text) and not _STATED.search(text))
