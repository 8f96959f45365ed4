"""Text that the user shows without saying it: pasted pages, mails, chats, code, drafts, roles to play.

Such text is data. It provides no fact about the user and no instruction, whatever its content.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from mnemic.language.comparison import is_safety
from mnemic.language.sentences.classify.classifier import weights
from mnemic.language.sentences.clauses import sentences
from mnemic.language.sentences.general_knowledge_messages import speaks_of_self
from mnemic.language.sentences.pasted_headers import PROSE, header_spans
from mnemic.language.sentences.remember import asked_to_remember
from mnemic.language.sentences.speaker_labels import speaker_spans
from mnemic.language.sentences.standing_orders import is_standing_order
from mnemic.language.sentences.tables import pattern
from mnemic.language.text.pattern import Pattern

Span = tuple[int, int]

SAFETY_FROM = 0.5
"""Probability by which a sentence before a request on a text is one on the user's own safety."""
_FENCED = (
    Pattern(r"```.{0,8000}?(?:```|\Z)", 16),
    Pattern(r"~~~.{0,8000}?(?:~~~|\Z)", 16),
    Pattern(r"<!--.{0,8000}?(?:-->|\Z)", 16),
    Pattern(
        r"(?m:^[ \t]*(?:-{3,}|={3,}|\*{3,}|_{3,})[ \t]*$).{0,8000}?(?m:^[ \t]*(?:-{3,}|={3,}|\*{3,}|"
        r"_{3,})[ \t]*$)",
        16,
    ),
    Pattern(r"(?m:^>[^\n]*)"),
    Pattern(r"(?m:^[\w./-]{1,80}\.[A-Za-z]\w{0,4}:[ \t]*$).{1,8000}", 16),
    Pattern(
        r"❝[^❞\n]{12,600}❞|‹[^›\n]{12,600}›|「[^」\n]{12,600}」|『[^』\n]{12,600}』|(?<![^\s(:])»[^«\s][^«\n]{10,600}«"
    ),
)
"""Text marked by the writer: code fences, comments, rules above and below, quoted lines, what follows the name of a
file, marks that only quote.
"""
_OPENED = Pattern(r"<(?P<tag>[a-z][a-z0-9:_-]{0,39})(?:\s[^<>]{0,200})?>", 2)
"""An opening tag, possibly closed by another, of HTML or as programs name them: `<function_results>`, `<web-page>`."""
# Any other unclosed tag may be the user's placeholder ("<name>"), with the user's own text after it.
_QUOTING = frozenset({"blockquote", "q", "pre", "code", "cite"})
"""Tags that quote to the end of the text if they are not closed."""
_LOWERED = {letter: letter + 32 for letter in range(ord("A"), ord("Z") + 1)}
_WITHIN = 8000
"""Maximum number of characters between two tags."""
_QUOTATION = Pattern(
    r"(?<!\w)\"[^\"\n]{1,600}\"|“[^”\n]{12,600}”|«[^»\n]{12,600}»|„[^“”\n]{12,600}[“”]"
    r"|(?<=[:\s(])'[^\n]{12,600}?'(?!\w)"
)
_TITLE = 13
"""Maximum number of characters, with its marks, of a mere word or title in quotation marks."""
_MAIL = Pattern(
    r"(?mi:^(?:-+ ?)?(?:begin forwarded message|forwarded message|original message|weitergeleitete nachricht|"
    r"ursprüngliche nachricht|message transféré|mensaje reenviado|messaggio inoltrato|mensagem encaminhada|"
    r"doorgestuurd bericht)\b[^\n]*$|^(?:from|von|de|da|van): [^\n]{3,120}\n(?:[^\n]{1,120}\n){0,4}?(?:subject|"
    r"betreff|objet|"
    r"asunto|oggetto|assunto|onderwerp): )"
)
"""The head of a forwarded mail: it and all after it."""
_CHAT_LINE = Pattern(r"(?m)^\s{0,4}\[[\d:., /-]{4,20}\]\s?[^:\n]{1,30}: ?[^\n]*")
# Possessive quantifiers (*+) after the beginning of a line: otherwise an indented line without code would be tried with
# each part of its indentation.
_CODE_LINE = Pattern(
    r"(?m)^[^\n]*(?:[{};][^\S\n]*$|^[^\S\n]*+(?:def|class|import|from|return|function|const|let|var|public|"
    r"private|SELECT|INSERT|UPDATE)\b[^\n]*"
    r"[(:;=]|\bprint\(|=>|\);|</|\w\(\w{0,64}\)|"
    r"^[^\S\n]{4,}\S|^[^\S\n]*+#\s|^Traceback|^[^\S\n]*+File \"|^\w*Error:|^npm ERR)[^\n]*$"
)
_OBJECT = Pattern(r"[{\[]\s*\"[^{}\[\]]{0,2000}[}\]]")
_TEMPLATE = Pattern(
    r"\{\{\w+\}\}|\[(?:your |first |last )?(?:name|company|rest of \w+|date|address)\]|<(?:name|company|date)>"
)
_LETTER = pattern(
    r"^\W{0,3}(?:dear (?:sir|madam|hiring|customer|mr|mrs|ms)|to whom it may concern|sehr geehrte[rn]?|"
    r"(?:chère? )?(?:madame|monsieur),|estimad[oa]s? (?:señor|cliente)|gentile (?:signor|cliente)|geachte|"
    r"prezad[oa])\b"
)
_HEADED = Pattern(
    r"(?mi:^\[(?:(?:system|tool|assistant|developer|function)\b[^\]\n]{0,30}\](?!\()"
    r"|[^\W\d_][\w -]{2,38}\]:?[ \t]{0,8}$)).{0,8000}",
    16,
)
"""A heading in brackets, as programs put it before what they pass on: "[Tool result]", and all after it."""
_TURNS = Pattern(
    r"(?:<\|[^|<>\s]{1,40}\|>|<｜[^｜<>\n]{1,40}｜>|\[/?INST\]|<</?SYS>>|</?(?:start|end|begin)_of_[a-z]{1,20}>).{0,8000}",
    16,
)
"""The marks between the turns of a chat as a model is given it: "<|im_start|>user", "[INST]", and all after them."""
_PRESENTED = pattern(
    r"\bhere(?:'s| is| are) (?:the|an?) (?:[\w'-]{1,20} ){1,4}?(?:of|from|by) (?!my\b|our\b|me\b)[^:\n]{1,40}:\s|"
    r"\b(?:here(?:'s| is| are)|this is|below is|i (?:found|got|received|read)|look at|see) (?:the|a|an|my|this|"
    r"what|some|our|his|her|"
    r"their) (?:[\w']{1,20} ){0,5}?(?:page|text|article|mail|e-?mail|message|draft|letter|review|document|"
    r"transcript|log|"
    r"guide|post|bio|ad|poem|lyrics|story|essay|wrote|says|sent|manual|readme|paragraph|summary|answer|"
    r"code)\b[^:\n]{0,60}:|"
    r"^\W{0,3}(?:document|text|page|article|review|transcript|article|source|quote|log|e-?mail|caption|script|"
    r"dokument|texte|texto|"
    r"testo|tekst)\s?:"
)
"""An announcement of a text that follows a colon."""
# Verbs of work on a text. The text after such a request is material, even if it is in the first person.
_WORK = (
    r"(?:translate|proofread|proof-read|rewrite|rephrase|paraphrase|summari[sz]e|sum up|correct|edit|shorten|"
    r"improve|review|rate|"
    r"check|fix|polish|grade|comment on|analy[sz]e|classify|spell-?check|merge|reply to|answer|"
    r"übersetze?|prüfe?|korrigiere?|kürze?|fasse? zusammen|verbessere?|überarbeite?|bewerte?|lies|"
    r"traduis|corrige|relis|résume|reformule|améliore|vérifie|"
    r"traduce|corrige|resume|revisa|mejora|reescribe|"
    r"traduci|correggi|riassumi|rileggi|migliora|rivedi|"
    r"traduz|corrija|reescreve|revê|melhora|"
    r"vertaal|verbeter|controleer|corrigeer|vat samen|herschrijf)"
)
_ORDER_ON_TEXT = pattern(
    rf"(?:^|[.!?\n,;>]\s?|->\s?|–\s?|—\s?|--\s?|\b(?:please|pls|can you|could you|would you|bitte|kannst du|"
    rf"peux-tu|puedes|puoi|podes|kun je|and|"
    rf"und|then) ){_WORK}\b(?P<rest>[^.!?\n:]{{0,80}})(?P<colon>:)?"
)
_ORDER_ON_THIS = pattern(
    r"(?:^|[.!?\n]\s?)(?:please |bitte |por favor,? |per favore,? )?[^\W\d_]{3,20}(?: me)? "
    r"(?:this|these|that|those|the following|diese[nrs]?|folgende[nrs]?|cett?e|ces|est[eao]s?|quest[oaei]|ess[ea]s?|"
    r"deze|dit|dat)(?: [\w'-]{1,20}){1,4}:\s"
)
"""Matches an order about "this joke: ...", whatever the verb and the kind of text."""
AMENDS_A_RECORD = pattern(
    r"\b(?:correct|fix|amend|edit) (?:the|my|our|his|her|their|this|that)\b[^.!?\n:]{0,40}?\b(?:entry|record|contact|"
    r"profile|number|address|name|surname|spelling|price|date|birthday|budget|figure|amount|e-?mail address)\b"
)
"""Matches a request to correct a memory: the following text is the correct value, not a text to work on."""
_ABOUT_TEXT = pattern(
    r"(?:^|[.!?\n>”»\"]\s?|-- )(?:is (?:this|that|the|it)|are (?:these|those)|does (?:this|that|the)|"
    r"what does (?:this|it)|"
    r"what do you think (?:of|about) (?:this|"
    r"the|my)|how does (?:this|that)|ist (?:der|dieser|das)|est-ce que (?:cette|ce)|qué significa|cosa significa|"
    r"o que significa)\b"
    r".{0,50}\b(?:sentence|text|ad|template|paragraph|bio|tweet|letter|mail|e-?mail|draft|version|readme|essay|"
    r"correct|mean|sound|work|"
    r"good|ok|right|grammar|satz|text|richtig|phrase|texte|frase|texto|testo|better than mine)\b|"
    r"\bthat's from \w+|\b(?:list|extract|count|find) the (?:facts|names|errors|mistakes|main points)\b|"
    r"\bignore (?:the|what) follow"
)
_THIS_TEXT = pattern(
    r"^\s?(?:this|that|it|these|those|them|the following|das|ihn|ça|ceci|le|esto|lo|questo|lo|isto|isso|dit|dat|het)"
    r"(?: (?:please|for me|bitte|into .*|to \w+|for .*|auf .*|en .*|in .*))?\s?$|"
    r"\b(?:text|sentences?|mail|e-?mail|letter|paragraph|essay|draft|bio|tweet|ad|satz|brief|texte|phrase|texto|"
    r"frase|testo|zin|"
    r"tekst)\b"
)
"""Object of a request to work on a text: a bare "this", or a text."""
_FICTION = pattern(
    r"^\W{0,3}(?:please )?(?:(?:i want you to |i'd like you to |can you |let's |lets )?(?:act as|act like|"
    r"pretend|role-?play|play the role|"
    r"imagine (?:that )?(?:you|i|we)|be my)\b|you are (?:an?|my|the) (?!right|star|life)[\w -]{3,40}[.,!]|"
    r"(?:write|tell|make up|invent|compose|draft)(?: me)? (?:an?|the|some) (?:[\w-]{1,20} ){0,3}(?:story|tale|"
    r"poem|scene|dialogue|song|"
    r"letter|speech|essay|bio|novel|script|monologue|post|tweet|review|profile|cover letter)\b|"
    r"i am an? [\w ]{3,30}\. you are an?\b|let's (?:practi[sc]e|play)\b|my character\b|in (?:my|the|"
    r"this) (?:story|novel|game|play)\b|"
    r"(?:stell dir vor|tu so|spiel)\b|(?:imagine|fais comme|joue)[sz]? (?:que|si)\b|(?:imagina|finge|haz como) que\b|"
    r"(?:immagina|fingi) (?:che|di)\b)"
)
"""Matches a role to play or a text to invent: "I" and "you" in the text after it are part of the fiction."""


_PASTES = pattern(
    r"\b(?:paste|pasting|einfügen|einfüge|füge? [^.!?]{1,30} ein|coller|colle[rz]?|pega(?:r|ré)?|pego|"
    r"incolla(?:re|rò|mi)?|incollo|cola(?:r|rei)?|plak(?:ken|t)?)\b"
)


def announces_text(text: str) -> bool:
    """Return True if a turn announces a text that the next message shows, or asks for one: "Please paste it here"."""
    return bool(_PASTES.search(text))


def data_spans(text: str, own: Collection[str] = ()) -> list[Span]:
    """Return the spans of shown text in `text`, in order and without nesting. `own`: the writer's name, in
    parts.
    """
    spans = [span for one in _FENCED for span in _all(one, text)]
    spans += _tagged_spans(text)
    spans += _code(text)
    spans += _all(_CHAT_LINE, text)
    # An order on a text ("Proofread: ...") is no label.
    spans += [span for span in speaker_spans(text, own) if not _ORDER_ON_TEXT.match(text, span[0])]
    spans += header_spans(text)
    spans += _all(_HEADED, text)
    spans += _all(_TURNS, text)
    mail = _MAIL.search(text)
    if mail:
        spans.append((mail.start(), len(text)))
    spans += _announced_spans(text)
    spans += _worked_on(text, spans)
    return merge_spans(spans)


def fiction_from(sentence: str) -> bool:
    """Return True if a role or an invented text begins with this sentence."""
    return bool(_FICTION.search(sentence))


def merge_spans(spans: list[Span]) -> list[Span]:
    """Return `spans` in order, with touching ones joined."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _all(one: Pattern, text: str) -> Iterator[Span]:
    return (match.span() for match in one.finditer(text))


def _tagged_spans(text: str) -> Iterator[Span]:
    """Find the text between two tags. The closing tag is searched for literally: an expression that tries every
    character after every tag takes quadratic time in many tags.
    """
    lowered, end = text.translate(_LOWERED), 0
    for found in _OPENED.finditer(text):
        if found.start() >= end:
            closing = f"</{found['tag'].translate(_LOWERED)}>"
            at = lowered.find(closing, found.end(), found.end() + _WITHIN + len(closing))
            if at >= 0:
                end = at + len(closing)
                yield found.start(), end
            elif found["tag"].translate(_LOWERED) in _QUOTING:
                end = len(text)
                yield found.start(), end


def _code(text: str) -> list[Span]:
    """Find lines of code and objects; a single such line may be a figure of speech, several are not."""
    lines = list(_all(_CODE_LINE, text))
    found = lines if len(lines) > 1 else []
    return found + list(_all(_OBJECT, text))


def _announced_spans(text: str) -> list[Span]:
    """Find the text after an announcement or the head of a letter, and a text with blanks to fill in."""
    spans = [(match.start(), len(text)) for match in [_PRESENTED.search(text)] if match]
    if _TEMPLATE.search(text) or _LETTER.search(text):
        spans.append((0, len(text)))
    return spans


def _worked_on(text: str, marked: list[Span]) -> list[Span]:
    """Return the text that a request to work on it means: the quoted part, the part after the colon, or the rest."""
    if is_standing_order(text):
        return []  # it is about future texts
    on_this = _ORDER_ON_THIS.search(text)
    if on_this and len(text[on_this.end() :].split()) >= PROSE and not asked_to_remember(on_this[0].strip(".!?\n ")):
        return [(on_this.end(), len(text))]
    order = _ORDER_ON_TEXT.search(text)
    about = _ABOUT_TEXT.search(text)
    if (order is None and about is None) or (order is not None and AMENDS_A_RECORD.search(text)):
        return []
    quotations = [(start, end) for start, end in _all(_QUOTATION, text) if end - start > _TITLE]
    if order is not None and order["colon"]:
        return [(order.end(), len(text)), *quotations]
    if quotations or marked:
        return quotations
    if order is not None and _THIS_TEXT.search(order["rest"]):
        after = text[order.end() :].strip(" ?!.\n")
        first = order.start() if after and not text[: order.start()].strip() else 0
        return list(_around_own_safety(text, first, order.start()))
    return list(_around_own_safety(text, 0, about.start())) if about else []


def _around_own_safety(text: str, start: int, request: int) -> Iterator[Span]:
    """Yield the text from a place on without what the user says of their own safety on the line of a `request`, before
    it: "I can't eat gluten. Could you shorten this mail?". A false fact of this kind does less harm than a lost one.
    """
    while not text[request].isalnum():  # the mark before a request is part of its match
        request += 1
    line = text.rfind("\n", 0, request) + 1
    for first, last in sentences(text[line:request]):
        said = text[line + first : line + last]
        if speaks_of_self(said) and (is_safety(said) or weights().opinions([said])[0].share("safety") >= SAFETY_FROM):
            if start < line + first:
                yield start, line + first
            start = line + last + text.startswith(" ", line + last)
    if start < len(text):
        yield start, len(text)
