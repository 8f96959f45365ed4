"""Clauses without a lasting fact about the user, states of a single day and jokes marked as such among them, and the
reasons of an extraction for not storing them.
"""

from __future__ import annotations

from dataclasses import dataclass

from mnemic.language.sentences.casual_spelling import written_out
from mnemic.language.sentences.clauses import Clause
from mnemic.language.sentences.pasted_text import AMENDS_A_RECORD
from mnemic.language.sentences.remember import is_courtesy
from mnemic.language.sentences.standing_orders import is_standing_order
from mnemic.language.sentences.tables import other_languages, pattern
from mnemic.language.sentences.tables.english import AIM
from mnemic.language.skip_reason_codes import HYPOTHETICAL, JOKE, NOT_DURABLE, QUOTED, SARCASM, TRANSIENT

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


_TRIAL = pattern(
    r"^\W{0,3}(?:hi|hey|hello|good (?:morning|afternoon|evening|night)|hola|hallo|bonjour|ciao|olá|hoi|test|testing)"
    r"\W{1,3}(?:(?:number|no|message|world)\W{1,2})?\d{1,6}\W{0,5}$"
)
"""Matches a greeting or a trial with a number: "Hello 2"."""


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
    elif _HYPOTHETICAL.search(text) and not lasting:
        reason = HYPOTHETICAL
    reported = None if _SELF_REPORT.search(text) else _REPORTED.search(text) or other_languages.REPORTED.search(text)
    return Mood(lasting=lasting, reason=reason, quoted_from=reported.start() if reported else None)


def is_certain(clause: Clause, reason: str) -> bool:
    """Return True if the reason that `left_out` returns for a clause is beyond doubt: a request may last ("keep answers
    short"), a question does not.
    """
    return (
        reason in (SARCASM, JOKE, HYPOTHETICAL, QUOTED, NOT_DURABLE)
        or clause.asks
        or _REMEMBER_TO.search(clause.text) is not None
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
    if _TRIAL.search(text) or is_courtesy(text.strip(" .,!")):
        return NOT_DURABLE
    if mood.lasting or _PREFERENCE.search(text):
        return None
    return TRANSIENT if _is_of_the_moment(text) else None


def asks(text: str) -> bool:
    """Return True if a text asks a question."""
    return text.rstrip("\"'”’) ").endswith(("?", "？")) or _QUESTION.search(text) is not None


def asks_or_orders(text: str) -> bool:
    """Return True if a text asks a question, or for something to be done at once."""
    return asks(text) or any(form.search(text) is not None for form in (_REQUEST, _ORDER, _PLEASE))


def reports(sentence: str) -> bool:
    """Return True if a sentence reports what somebody said."""
    return mood_of(sentence).quoted_from is not None


def _is_own_conclusion(clause: Clause) -> bool:
    """Return True if a clause is the speaker's conclusion from a report: "the doctor said no coffee, so I'm on tea
    now".
    """
    return bool(_SO.search(clause.words_before)) and bool(_SPEAKER.search(clause.text))


def _is_of_the_moment(text: str) -> bool:
    """Return True if a clause asks for an immediate action or describes the state of a single day."""
    asked = _REQUEST.search(text) or _ORDER.search(text) or _PLEASE.search(text)
    return asked is not None or is_passing_state(text)
