"""Detection of other people's pasted text by its header: an introduction that ends in a colon, the head of a mail or a
reply, the timestamp of a chat line, marks of verses, the number of a chapter. Works line by
line, in linear time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mnemic.language.sentences.tables import pattern, straight
from mnemic.language.text.pattern import Pattern

Span = tuple[int, int]

# Bounded repetitions, the sentences before a head taken once and kept (`?+`): a line without a colon must not be
# scanned from each of its positions, nor from each of its sentences.
_HEAD = Pattern(r"\W{0,3}(?:[^\n:]{0,160}[.!?] )?+(?P<head>[^\n]{1,160}?)\s?[:：](?P<rest>\s[^\n]*|$)")
"""The start of a line up to its first colon before a space or the end of the line."""
_DASHED = Pattern(r"\W{0,3}(?:[^\n:]{0,160}[.!?] )?+(?P<head>[^\n]{1,160}?)\s(?:--?|[–—])(?P<rest>\s[^\n]*|$)")
"""The start of a line up to its first dash between spaces."""
PROSE = 4
"""Minimum number of words after a header for a text; fewer are the value of a field."""

_VERB = (
    r"(?:wrote|writes|says|said|told (?:me|us)|replied|posted|answered|schrieb|schreibt|sagte?|antwortete|a écrit|"
    r"écrit|a dit|dit|escribió|escribe|dijo|dice|ha scritto|scrisse|scrive|ha detto|escreveu|escreve|disse|schreef|"
    r"schrijft|zei|zegt)"
)
_SAYS = pattern(rf"\b{_VERB}\b|^(?:according to|laut|selon|d'après|según|secondo|segundo|volgens)\b")
_SAID_LAST = pattern(rf"\b{_VERB}(?: (?:me|us|to me|to us|this|that|mir|uns))?$")
_I_SAY = pattern(
    rf"\b(?:i|we|you|ich|wir|je|nous|yo|io|eu|ik)(?: (?:just|already|also|always|once|have|had|hereby|ever)){{0,2}} "
    rf"{_VERB}\b"
)
_NOUN = (
    r"(?:web site|website|site|web page|webpage|page|articles?|blog|(?:blog |forum )?post|e-?mail|mail|letter|message|"
    r"text|document|doc|pdf|logs?|transcript|chat|conversation|caption|subtitles?|lyrics|poem|verses?|quote|quotation|"
    r"excerpt|snippet|review|ticket|complaint|testimonial|"
    r"r[eé]sum[eé]|cv|bio|joke|output|(?:tool|search|query|api|function|command) (?:results?|response|answer)|results|"
    r"wikipedia|wiki|tweet|thread|comment|readme|manual|newsletter|listing|webseite|artikel|nachricht|liedtext|"
    r"ergebnisse|ausgabe|courriel|lettre|paroles|résultats|página|artículo|correo|letra|resultados?|pagina|articolo|"
    r"lettera|risultati|bericht|brief)"
)
# Verbs and prepositions at the beginning are excluded: a request for a text ("write the letter:") introduces none.
_SOURCE = pattern(
    rf"^(?!(?:always|never|write|keep|make|use|send|read|answer|sign|start|end|format|don't|please|prefer|for|in|with|"
    rf"when|about|to|all|every|regarding)\b)(?:[\w'.,-]+ ){{0,6}}?{_NOUN}"
    r"(?: (?:about|from|of|on|by|in|below|above|text|content|i (?:found|got|read|received|saw))\b[^:]{0,60})?$"
)
_OWN = pattern(
    r"\b(?:my|our|mine|me|favou?rite|preferred|mein\w*|unser\w*|mon|ma|mes|mi|mis|mio|mia|meu|minha|mijn)\b"
    r"(?!(?: [\w-]{1,20}){1,2}'s\b)"
)
"""Matches the user's own head: "my address", but not "my landlord's mail"."""
_MACHINE = (
    r"(?:assistants?|assistent[en]?|asistente|system|système|sistema|systeem|tools?|outil|herramienta|strumento|"
    r"ferramenta|hulpmiddel|werkzeug|functions?|funktion|fonction|función|funzione|função|functie|agent|agente|"
    r"(?:chat ?)?bot|ai|ki|ia|llm|model|modell|modèle|modelo|modello|retriever|retrieval|rag|api|search|plugin)"
)
_PASSED = (
    r"(?:results?|outputs?|responses?|reply|replies|messages?|answers?|prompt|reminder|observations?|ergebnis(?:se)?|"
    r"ausgabe|antwort|nachricht|résultats?|réponse|sortie|resultados?|respuesta|salida|mensaje|risultat[oi]|risposta|"
    r"resposta|saída|mensagem|resultaat|resultaten|antwoord|uitvoer)"
)
_OF = r"(?:of|from|by|der|des|vom|von|de|del|du|dell[oa]?|di|do|da|van)(?: (?:the|la|el|lo|le|il|het|de|der|dem|l))?"
_KNOWN = (
    r"(?:memor(?:y|ies)|contexts?|documents?|passages?|chunks?|snippets?|knowledge|history|erinnerung(?:en)?|kontext|"
    r"dokumente?|souvenirs?|mémoires?|contexte|recuerdos?|memorias?|contexto|documentos?|ricord[oi]|memorie|contesto|"
    r"document[oi]|memórias?|lembranças?|herinnering(?:en)?|documenten)"
)
_FETCHED = (
    r"(?:retrieved|recalled|fetched|injected|provided|relevant|matching|abgerufene?[nrs]?|gefundene?[nrs]?|relevante?[nrs]?|"
    r"récupérée?s?|pertinente?s?|recuperad[oa]s?|relevantes|recuperat[oaei]|rilevant[ei]|opgehaalde?|gevonden)"
)
_PASSED_ON = pattern(
    rf"^(?:{_MACHINE}(?:[ -]call)?[ -]{_PASSED}|{_PASSED} {_OF}[ ']{{1,2}}{_MACHINE}|"
    rf"{_FETCHED} {_KNOWN}|{_KNOWN} {_FETCHED}|"
    r"knowledge base|(?:chat|conversation) (?:history|so far)|"
    r"observation|beobachtung|observación|osservazione|observação|observatie)(?: ?#?\d{1,3})?$"
)
"""The head that a program puts before what it passes on: what a machine said, and what was fetched for it."""
_STEP = pattern(r"^(?:thought|action|action input|observation|final answer)$")
"""A head of a program that notes what it thinks and does; several of them show one."""
_MATERIAL = pattern(
    rf"^(?:{_FETCHED} )?(?:contexts?|kontext|contexte|contexto|contesto|passages?|chunks?|snippets?|knowledge base|"
    rf"(?:chat|conversation) history|documents? \d{{1,3}}|{_FETCHED} {_KNOWN})(?: ?\d{{1,3}})?$"
)
_TASK = pattern(
    r"^(?:(?:user|current|user's|new|input) )?(?:question|query|task|instructions?|input|frage|aufgabe|tâche|"
    r"pregunta|tarea|domanda|compito|pergunta|tarefa|vraag|taak)$"
)
_SECTION = Pattern(
    r"[\s#*_=\[-]{0,12}(?P<label>[^\W_](?:[\w '’-]{0,40}[\w])?)[\s*_=\]-]{0,12}(?:[:：][*_]{0,3}(?:\s|$)|$)"
)
"""The line that heads a section: "### Context", "**Question:** ...", "=== CONTEXT ===", "Context: ..."."""
_ROLE = pattern(
    r"^(?:assistant|system|tool|bot|ai|chatgpt|claude|gemini|copilot|function|interviewer)"
    r"(?: (?:call )?(?:result|output|response|reply|message))?$"
)
_FOUND = pattern(
    r"^(?:(?:i|we) )?(?:just )?(?:found|read|saw|seen|got|copied|pasted|taken|posted|overheard|came across)"
    r"(?=.)(?: (?:this|that|it|the following)(?: one)?(?: (?:today|yesterday|earlier|online|somewhere|just now))*"
    r"(?= |$))?(?: (?:on|in|at|from|by|off) [^.!?:]{1,40})?$|"
    r"^(?:gefunden|gelesen|kopiert) (?:auf|bei|in|von|aus) [^.!?:]{1,40}$|"
    r"^(?:trouvé|lu|copié) (?:ceci )?(?:sur|dans|de) [^.!?:]{1,40}$|"
    r"^(?:encontrado|leído|copiado|visto|trovato|letto|copiato) (?:esto )?(?:en|de|su|in|da) [^.!?:]{1,40}$"
)
"""Matches a header that names the source of the text after it."""
_TRANSLATED = pattern(
    r"^\W{0,3}(?:(?:please|pls|can you|could you|bitte) )?"
    r"(?:translate|übersetze?|traduis|traduce|traduci|traduz|vertaal)"
    r"(?: (?:this|it|that|das|ceci|esto|questo|isto|dit)(?: text)?)?(?: please)? (?:in|into|to|ins|auf|nach|en|al|para|"
    r"em|vers|naar)(?: (?:the|el|het))?\s?(?:l')?\w{4,20}(?: (?:please|for me|bitte))?\s*"
    r"(?P<end>$|[.;,]\s|\s[-–—]{1,2}\s)"
)
"""Matches a request to translate the following text, whatever is between the two."""
_CHAPTER = pattern(
    r"^\W{0,3}(?:chapter|kapitel|chapitre|capítulo|capitolo|hoofdstuk|prologue|prolog|epilogue)\s?"
    r"(?:\d{1,3}|[ivxl]{1,6}|one|two|three|four|five)?\s?(?:[.:–—-](?:\s|$)|$)"
)
"""The heading of a chapter."""
_FORWARDED = pattern(r"^(?:fwd?|fw|wg|tr|rv)$")
_POINTER = pattern(
    r"^\W{0,3}(?:fyi|see below|check this(?: out)?|look at this|read this|zur info(?:rmation)?|zk|siehe unten|"
    r"pour info|voir ci-dessous|para tu información|ver abajo|per conoscenza|ter info)\W{0,3}$"
)
"""Matches a line of the user that only points to the following text."""
# "From" and "To" alone also label a journey or a period; a subject or a time of sending proves a mail (`mail`).
_FIELD = pattern(
    r"^(?:from|to|date|von|an|datum|de|à|para|fecha|da|a|data|aan|van|cc|bcc|reply-to|(?P<mail>subject|sent|"
    r"betreff|gesendet|objet|envoyé|asunto|enviado|oggetto|inviato|assunto|onderwerp|verzonden))$"
)
_VERSES = pattern(
    r"^\W{0,3}(?:\[(?:verse|chorus|bridge|intro|outro|refrain|hook|pre-chorus|strophe|couplet|estribillo)[^\]\n]{0,20}"
    r"\]|[♪♫].*)\s*$"
)

# Times and dates in the formats of WhatsApp, Slack, Teams and subtitles (SRT).
_TIME = r"\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:[,.]\d{1,3})?\s?(?:[ap]\.?m\.?)?"
_DAY = r"\d{1,4}[./-]\d{1,2}[./-]\d{2,4}"
_STAMP = rf"(?:{_DAY},?[T ]\s?)?{_TIME}Z?"
_NAME = r"(?:@?\w[\w.'-]{0,19}(?: [\w.'-]{1,20}){0,3})"
_STAMPED = pattern(rf"^\W{{0,3}}(?:[\[(]{_STAMP}[\])]|{_DAY},? {_TIME})\s?(?:[-–—])?\s?{_NAME}:")
"""Matches a line of a chat: "[12.03.24, 10:11] Max: ..." or "12/03/24, 10:11 - Max: ..."."""
_STAMPED_HEAD = pattern(
    rf"^{_NAME}(?:,?\s?[\[(]{_STAMP}[\])]|\s{{2,3}}{_TIME}| [—–-] .{{0,14}}{_TIME}|,? {_DAY},? {_TIME})\s*:?$|"
    r"^(?:\d\d:)?\d\d:\d\d[.,]\d{3} -->"
)
"""The line above a message: "Max Huber  10:11 AM", "Max, [12.03.24 10:11]"; or above a subtitle."""
_STAMPED_NAME = pattern(rf"^{_NAME},? {_TIME}\s*$")
"""Matches a line of name and time, which may also be a diary entry: a header only above a message and next to another
header.
"""
_DAY_NAME = pattern(
    r"^\W{0,3}(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun|to|yester)(?:day)?\b|"
    r"^(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|heute|lundi|mardi|mercredi|jeudi|vendredi|samedi|"
    r"dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo)\b"
)
_BULLET = Pattern(r"\s{0,8}(?:[-*•–]|\d{1,2}[.)])\s+(?P<item>\S[^\n]*)")
_OF_SPEAKER = Pattern(r"[A-ZÀ-Þ][\w.'-]{0,19}(?: [A-Z][\w.'-]{0,19})?: (?P<said>\S[^\n]*)")
_FIRST_PERSON = pattern(r"^(?:i|i'\w+|my|we|ich|wir|je|j'\w+|yo|io|eu|ik)\b")
_TOLD = pattern(r"\b(?:i|you|we|ich|du|sie|wir|je|j'|tu|vous|nous|yo|tú|io|eu|você|ik|jij|je)\b")
"""Matches a person who tells, or is told, what follows."""
_MINE = pattern(r"\b(?:me|myself|mir|mich|moi|mí)\b")
LONGEST_LIST = 40
"""Lines of a list below a question: each entry of it may be a question again."""
HEADING = 6
"""Maximum words of a heading."""
_ENTRY = Pattern(r"\s{0,8}(?:[-*•–]|\d{1,2}[.)]|[A-Za-z][.)])\s+\S")
"""An entry of a list, by its mark, number or letter."""
_MEMBER = Pattern(r"\s{0,16}[a-z][\w.-]{0,39}: \S")
"""A member of data, as programs write it: a name in small letters, and its value."""
_LINKED = Pattern(r"\W{0,3}https?://\S{1,300}:\s")
"""The address of a page before words of it."""
_SENTENCE_ENDS = tuple('.!?:…"”»)')


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    text: str

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def header_spans(text: str) -> list[Span]:
    """Return the spans of `text` that others wrote, judged by their headers."""
    straightened = straight(text)
    lines = list(_lines(straightened))
    of_heads = [*_from_a_head_on(lines, straightened), *_mail(lines, straightened)]
    shown = [*_below_questions(lines), *_between(lines), *_data_and_pages(lines)]
    filled = _filled_in(lines, len(text))
    return [
        *of_heads,
        *shown,
        *filled,
        *_chats(lines),
        *_minutes(lines),
        *_continuation_spans(lines),
    ]


def _lines(text: str) -> Iterator[_Line]:
    start = 0
    for line in text.split("\n"):
        yield _Line(start, line)
        start += len(line) + 1


def _from_a_head_on(lines: Sequence[_Line], text: str) -> list[Span]:
    """Find the first head of another person: with all after it, or, if it reports a saying, with its line."""
    found: list[Span] = []
    last = len(text.rstrip())
    for line in lines:
        start = _others_from(line, follows=line.end < last)
        if start is not None:
            return [*found, (start, len(text))]
        head = _HEAD.match(line.text)
        if head is not None and head["rest"].strip() and _is_said(head["head"]):
            found.append((line.start, line.end))
    return found


def _others_from(line: _Line, *, follows: bool) -> int | None:
    """Return the start of another person's text, by this line: it points to the following text or is its head."""
    if follows and _POINTER.search(line.text):
        return line.end + 1
    if _VERSES.search(line.text) or _CHAPTER.search(line.text):
        return line.start
    order = _TRANSLATED.search(line.text)
    if order is not None and (follows or order.end() < len(line.text)):
        return line.start + order.end()
    if _is_announced(line, follows=follows):
        return line.start
    head = _HEAD.match(line.text)
    rest = [] if head is None else head["rest"].split()
    if head is None or not (rest or follows):
        return None
    is_head = _FORWARDED.search(head["head"]) or (not rest and _is_said(head["head"]))
    # A program's head needs no minimum of words after it: nobody else gives a field such a name.
    if is_head or _PASSED_ON.search(head["head"]) or (_is_sources(head["head"]) and (not rest or len(rest) >= PROSE)):
        return line.start + head.start("head")
    return None


def _is_announced(line: _Line, *, follows: bool) -> bool:
    """Return True if this line names the place or author of a text, and the text follows it, or its dash or colon."""
    if follows and _FOUND.search(line.text.strip()):
        return True
    for head in (_HEAD.match(line.text), _DASHED.match(line.text)):
        if head is not None and (head["rest"].strip() or follows) and _FOUND.search(head["head"]):
            return True
    dashed = _DASHED.match(line.text)
    says = dashed is not None and _SAID_LAST.search(dashed["head"]) and _is_said(dashed["head"])
    return dashed is not None and bool(says and dashed["rest"].strip())


def _filled_in(lines: Sequence[_Line], end: int) -> Iterator[Span]:
    """Find a form that a program filled in, from its first head on: the material and the question about it, or several
    steps of its own work.
    """
    labels = [(line.start, found["label"]) for line in lines if (found := _SECTION.match(line.text))]
    material = [start for start, label in labels if _MATERIAL.search(label)]
    tasks = [start for start, label in labels if _TASK.search(label)]
    steps = [start for start, label in labels if _STEP.search(label)]
    if material and tasks:
        yield min(material[0], tasks[0]), end
    if len(steps) > 1:
        yield steps[0], end


def _mail(lines: Sequence[_Line], text: str) -> list[Span]:
    """Find the head of a mail, lines such as "From: ..." and "Subject: ...", with all after it."""
    start, fields, mail = 0, 0, False
    for line in lines:
        head = _HEAD.match(line.text)
        field = None if head is None else _FIELD.search(head["head"])
        if field is None:
            fields, mail = 0, False
            continue
        start = start if fields else line.start
        fields, mail = fields + 1, mail or field["mail"] is not None or "@" in line.text
        if fields > 1 and mail:
            return [(start, len(text))]
    return []


def _is_said(head: str) -> bool:
    """Return True if `head` attributes the following text to another person."""
    return bool(_SAYS.search(head)) and not _I_SAY.search(head)


def _is_sources(head: str) -> bool:
    """Return True if the text that `head` announces comes from a page, a mail, a tool or another model."""
    return bool(_ROLE.search(head) or (_SOURCE.search(head) and not _OWN.search(head)))


def _chats(lines: Sequence[_Line]) -> Iterator[Span]:
    """Find chat messages: between the first and the last timestamp of a paragraph, and below a message header."""
    first: int | None = None
    headed = False
    end = 0
    named = _named_heads(lines)
    for line in lines:
        if _STAMPED.search(line.text) or _STAMPED_HEAD.search(line.text) or line.start in named:
            headed = not _STAMPED.search(line.text)
            first, end = line.start if first is None else first, line.end
        elif not line.text.strip():
            if first is not None:
                yield first, end
            first, headed = None, False
        elif headed:
            end = line.end
    if first is not None:
        yield first, end


def _named_heads(lines: Sequence[_Line]) -> set[int]:
    """Return the starts of the lines with a name and a time above a message, if there are several."""
    of = [bool(_STAMPED_NAME.search(line.text)) and not _DAY_NAME.search(line.text) for line in lines]
    heads = [
        line.start for at, line in enumerate(lines[:-1]) if of[at] and not of[at + 1] and lines[at + 1].text.strip()
    ]
    return set(heads) if len(heads) > 1 else set()


def _minutes(lines: Sequence[_Line]) -> Iterator[Span]:
    """Find lists of quotations: a heading that is not the user's, and below it an item with a speaker's label."""
    heading: _Line | None = None
    last: _Line | None = None
    spoken = False
    for line in (*lines, _Line(0, "")):
        item = _BULLET.match(line.text)
        if item is not None and heading is not None:
            label = _OF_SPEAKER.match(item["item"])
            spoken |= label is not None and bool(_FIRST_PERSON.search(label["said"]))
            last = line
            continue
        if heading is not None and last is not None and spoken:
            yield heading.start, last.end
        heading, last, spoken = (line if _is_heading(line.text) else None), None, False


def _is_heading(text: str) -> bool:
    """Return True if a line may be another person's heading of a list."""
    words = text.split()
    own = _OWN.search(text) or _MINE.search(text)
    return 0 < len(words) <= HEADING and not text.rstrip().endswith((".", "!", "?")) and not own


def _below_questions(lines: Sequence[_Line]) -> Iterator[Span]:
    """Find the lists that a question is about: several entries right below it, but not below one about the user."""
    for at, line in enumerate(lines):
        if line.text.rstrip().endswith(("?", "？")) and not _MINE.search(line.text):
            entries: list[_Line] = []
            for below in lines[at + 1 : at + 1 + LONGEST_LIST]:
                if not (_ENTRY.match(below.text) or (not entries and not below.text.strip())):
                    break
                entries += [below] if below.text.strip() else []
            if len(entries) > 1:
                yield entries[0].start, entries[-1].end


def _between(lines: Sequence[_Line]) -> Iterator[Span]:
    """Find paragraphs between a heading with a colon that is not the user's, and a last paragraph that is the user's
    again: what is to be done with them.
    """
    gaps = [at for at, line in enumerate(lines) if not line.text.strip()]
    if len(gaps) < 2:
        return
    head = next((line for line in lines[: gaps[0]] if line.text.rstrip().endswith((":", "："))), None)
    if head is None or head is not lines[gaps[0] - 1] or len(head.text.split()) <= PROSE - 1:
        return
    if not (_OWN.search(head.text) or _MINE.search(head.text) or _TOLD.search(head.text)):
        yield head.start, lines[gaps[-1]].start


def _data_and_pages(lines: Sequence[_Line]) -> Iterator[Span]:
    """Find several lines of data beside a paragraph of the user's, and the words after the address of their page."""
    block: list[_Line] = []
    alone = len([line for line in lines if line.text.strip()])
    for line in (*lines, _Line(0, "")):
        if _MEMBER.match(line.text):
            block.append(line)
            continue
        if 1 < len(block) < alone:
            yield block[0].start, block[-1].end
        block = []
        if _LINKED.match(line.text):
            yield line.start, line.end


def _continuation_spans(lines: Sequence[_Line]) -> Iterator[Span]:
    """Find the lines that continue the sentence of a quoted line (`> ...`), by the rules of Markdown."""
    open_from: int | None = None
    for line in lines:
        words = line.text.strip()
        if words.startswith(">"):
            open_from = None if words.endswith(_SENTENCE_ENDS) else line.start
        elif open_from is not None:
            if words:
                yield open_from, line.end
            open_from = None if not words or words.endswith(_SENTENCE_ENDS) else open_from
