"""Extraction without a language model: the statements of the user's own words, each whole.

A message is split into sentences and clauses. Displayed text (pasted text, quotations, roles to play) is blanked out
first. Rules leave out questions, requests, guesses and other people's words, and always store statements that the user
asks to remember; on the rest a classifier (`classify`) decides, and with the default embedder a judge that reads each
part together with the words around it. Tables then look for typed facts, which are stored under their key with the
statement as context; a statement with more content than its values is also stored whole.

The patterns have bounded repetitions and run over clauses of at most 400 characters, so the cost is linear in the
length of the message.
"""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from math import exp
from types import MappingProxyType

import numpy as np

from mnemic.errors import EmbedderFailed, RunStopped
from mnemic.extract import Extraction, is_users_own, name_parts
from mnemic.extract.conversation_context import SPOKEN_ALONE, Talk, answer_in, is_kept_between_people
from mnemic.extract.operations import source_of
from mnemic.extract.reading_thread import QUICK_CHARS, judges_keeping, read_in_thread
from mnemic.extract.typed_facts import says_more, typed_facts
from mnemic.language.sentences.casual_spelling import written_out
from mnemic.language.sentences.classify.classifier import LABELS, Floats, Opinion, log_odds, weights
from mnemic.language.sentences.classify.general_knowledge import world
from mnemic.language.sentences.clauses import Clause, clauses
from mnemic.language.sentences.disputes import FROM_NOW_ON, as_sentence, only_disputes
from mnemic.language.sentences.exclusion_rules import (
    DENIES_SAYING,
    mood_of,
    orders_on_occasion,
    payload_follows,
    takes_back_in_jest,
)
from mnemic.language.sentences.general_knowledge_messages import expounds, speaks_of_self
from mnemic.language.sentences.pasted_text import announces_text, data_spans, fiction_from, merge_spans
from mnemic.language.sentences.remember import bare_request
from mnemic.language.sentences.speaker_labels import heading_spans
from mnemic.language.sentences.statements import Piece, Statement, context_of_next, decide_pieces, pieces_of
from mnemic.language.sentences.tables import other_languages, straight
from mnemic.language.skip_reason_codes import JOKE, NOT_DURABLE, NOT_UNDERSTOOD, QUOTED, TRANSIENT
from mnemic.language.statement import is_english
from mnemic.language.text.normalise import invisible
from mnemic.language.text.pattern import Pattern
from mnemic.policy.budget import Budget, check_time
from mnemic.policy.key_rules import Policy
from mnemic.policy.proposal_check import check_candidate, drop_duplicates
from mnemic.policy.statement_dates import timed
from mnemic.ports import Embedder, JudgesKeeping
from mnemic.reason_codes import MAX_CAPTURE_ITEMS, ORIGIN
from mnemic.types import BETWEEN_PEOPLE, Candidate, Deadline, Message, Skipped
from mnemic.types.values import clean_content

SHORTEST_CONTENT_WORDS = 3
LONGEST_TITLE, LONG_IN_TITLES = 6, 4
"""Words of a title ("The Name of the Wind"), and letters of those words in it that have a capital."""
MARKER = "\ufffc"
_QUOTATION = Pattern(
    r"(?<!\w)\"[^\"\n]{1,300}\"|“[^”\n]{12,300}”|«[^»\n]{12,300}»|„[^“”\n]{12,300}[“”]"
    r"|(?<![^\s(:])'(?!s\b)(?:[^'\n]|(?<=\w)'(?=\w)){12,300}'(?!\w)"
)
"""Straight marks are paired from the first on: text between two short titles is no quotation."""
_INJECTED = Pattern(r"<memory\b.{0,8000}?</memory>", re.DOTALL | re.IGNORECASE)


def readable(text: str, own: Collection[str] = ()) -> str:
    """Return `text`, character for character, with straight apostrophes and without the words of others.

    Injected memories, pasted text and longer quotations are blanked out; a marker replaces each. `own`: the writer's
    name, in parts. Headings before what the user says of themselves are left out, too.
    """
    shown = [match.span() for match in _INJECTED.finditer(text)] + data_spans(text, own)
    shown += [match.span() for match in _QUOTATION.finditer(text) if _is_speech(match[0])]
    for start, end in merge_spans(shown):
        text = text[:start] + MARKER + "".join("\n" if c == "\n" else " " for c in text[start + 1 : end]) + text[end:]
    for start, end in heading_spans(text):
        text = text[:start] + " " * (end - start) + text[end:]
    if invisible(text.replace("\n", " ").replace("\t", " ")):
        text = "".join(c if c in "\n\t" or not invisible(c, strict=True) else " " for c in text)
    return straight(text)


def _is_speech(quotation: str) -> bool:
    """Return True if a quoted span is another person's words rather than a short word or a title."""
    words = [word for word in quotation.strip("\"'“”«»„ ").split() if len(word) >= LONG_IN_TITLES]
    titled = len(quotation.split()) <= LONGEST_TITLE and all(word[0].isupper() for word in words)
    least = SHORTEST_CONTENT_WORDS - speaks_of_self(quotation)
    return len(quotation.split()) > least and not titled


TOO_LONG = "too_long"
MAX_MESSAGE_CHARS = 32_768
MAX_CLAUSE_CHARS = 400
MAX_PIECES = 600
"""Maximum number of clauses, and of the pieces that they are cut into, that are read of one message; prose of
`MAX_MESSAGE_CHARS` has fewer.
"""
MAX_SKIPPED = 20
"""Reasons reported for one message; a long text is not answered with a longer report."""
MAX_STATEMENTS = 60
"""Maximum number of candidates of one message. The budget's `max_capture_items` limits a model, not the user's words.
"""
MAX_EMBEDDED = 96
"""Maximum number of pieces of one message that are embedded; later ones are judged by their words alone."""
BY_CLASSIFIER = 0.5
"""Weight of the classifier's logarithm of the odds beside the judge's."""
SURE = 0.999
"""Maximum probability of the classifier for the logarithm of the odds; the minimum is 1 minus it."""
AROUND_BEFORE, AROUND_AFTER = 160, 120
"""Characters before and after a part of a message that are read to judge it."""
SHORTEST_UNTRAINED_CHARS = 5
ANSWERED_CONFIDENCE = 0.8
"""Confidence of the answer to a plain question, which the classifier cannot judge."""
BESIDE_VALUE_CONFIDENCE = 0.6
"""Confidence of words that are kept only for the typed fact in them."""
_GAP = 8
"""Separators between two clauses that are reported as one span: a comma, an "and"."""
_OCCASION = Pattern(r"(?:when|whenever|if|each time|every time)\s", re.IGNORECASE)
"""Matches the occasion of an order, without which it would always apply ("When I ask for code, answer in Python")."""
_PREAMBLE = Pattern(
    r"^(?:for|in|from|going|as|please|when|whenever|para|en|a partir|de)\b[^,;.]{0,60}$|^(?:from now on|"
    r"going forward)$",
    re.IGNORECASE,
)
"""A sentence's opening that only limits the scope of the rest ("For future incident updates")."""
_NUMBER = re.compile(r"\d+")
_UNTRAINED = Pattern("[\u0900-\u097f\u0400-\u04ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
"""Scripts that the classifier was not trained on; tables read the plainest statements in them."""
_HAN = Pattern("[\u3400-\u4dbf\u4e00-\u9fff]")
_LABELS: Mapping[str, str] = MappingProxyType({"decision": "event", "commitment": "event"})
"""Labels that replace those of the tables of plain statements."""


class RuleExtractor:
    """Finds typed facts by tables of patterns and whole statements by a classifier, in English, German, French,
    Spanish, Italian, Portuguese and Dutch; of four more languages the plainest statements.

    With the `embedder` of the classifier's training it judges by meaning, too; else by words alone.
    """

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder if embedder is not None and embedder.space.model == weights().space else None

    reads_talk = True

    async def extract(
        self,
        message: Message,
        *,
        policy: Policy,
        budget: Budget,
        deadline: Deadline,
        talk: Talk = SPOKEN_ALONE,
    ) -> Extraction:
        """Return the candidates of `message`; see `Extractor`. A breach of policy is never proposed, so nothing here
        stops a run. `talk`: the conversation around the message.

        Raises InvalidInput for text with a NUL or half a surrogate pair, BudgetSpent past the deadline. Other tasks run
        between two sentences, and while a text that is longer than a chat message is read.
        """
        if not is_users_own(message):
            return Extraction(skipped=(Skipped(reason=ORIGIN),))
        clean_content(message.content)
        if len(message.content) <= QUICK_CHARS:
            return await self._extract(message, policy, budget, deadline, talk)

        async def read(embedder: Embedder | None, deadline: Deadline) -> Extraction:
            return await RuleExtractor(embedder)._extract(message, policy, budget, deadline, talk)

        return await read_in_thread(read, self._embedder, deadline)

    async def _extract(
        self, message: Message, policy: Policy, budget: Budget, deadline: Deadline, talk: Talk
    ) -> Extraction:
        if announces_text(talk.other) or announces_text(talk.own):
            return Extraction(skipped=(Skipped(reason=QUOTED),))
        answer = answer_in(message, talk)
        if answer is not None:
            stated = replace(message, content=answer.statement)
            answered = await self._read(stated, policy, budget, deadline, talk)
            if answer.lasts and not answered.candidates:
                answered = _Findings(stated, policy, budget, talk).whole()
            if answered.candidates:
                rest = await self._read(answer.rest, policy, budget, deadline, talk)
                return answer.join_findings(answered, rest)
        return await self._read(message, policy, budget, deadline, talk)

    async def _read(
        self, message: Message, policy: Policy, budget: Budget, deadline: Deadline, talk: Talk
    ) -> Extraction:
        """Return the candidates of a message in its surroundings."""
        found = _Findings(message, policy, budget, talk)
        # Cut before anything is parsed, so that the cost of a message is bounded.
        text = readable(message.content[:MAX_MESSAGE_CHARS], name_parts(message.speaker))
        if len(message.content) > MAX_MESSAGE_CHARS:
            found.leave_out(TOO_LONG, (MAX_MESSAGE_CHARS, len(message.content)))
        sentences = _sentences(text, found)
        await self._judge(sentences, text, deadline)
        if expounds(message.content, [sentence.whole.world for sentence in sentences]):
            for piece in _pieces(sentences):
                piece.expounds = True
        before: Piece | None = None
        for sentence in sentences:
            check_time(deadline)
            await asyncio.sleep(0)  # others' turn, and the place to be cancelled
            if len(found.candidates) >= MAX_STATEMENTS:
                found.leave_out(MAX_CAPTURE_ITEMS, (sentence.whole.start, len(text)))
                break
            opening: int | None = None
            for one in decide_pieces(sentence.pieces, sentence.whole, before):
                if isinstance(one, Statement):
                    found.keep(one if opening is None else _add_opening(one, opening, text), text, sentence)
                # "From now on, ..." belongs to the statement after it, and so does "that's wrong, ...".
                elif len(sentence.pieces) > 1 and (_PREAMBLE.search(one.text) or only_disputes(one.text)):
                    opening = one.start if _binds(one.text) else opening
                    continue
                elif one.ruled or not found.keep_value(one, sentence):
                    found.leave_out(one.reason or TRANSIENT, (one.start, one.end))
            before = context_of_next(before, sentence.pieces, text)
        return found.extraction()

    async def _judge(self, sentences: Sequence[Sentence], text: str, deadline: Deadline) -> None:
        """Classify every piece that no rule is certain of."""
        parts = to_judge(sentences, text)
        asked = [piece for piece, _ in parts]
        texts = [text_of(piece) for piece in asked]
        vectors = await self._vectors(texts[:MAX_EMBEDDED], deadline)
        split = 0 if vectors is None else len(vectors)
        opinions = weights().opinions(texts[:split], vectors) + weights().opinions(texts[split:])
        shares = world().shares(texts[:split], vectors) + world().shares(texts[split:])
        for piece, opinion, share in zip(asked, opinions, shares, strict=True):
            piece.opinion, piece.world = opinion, share
        if vectors is not None and judges_keeping(self._embedder) and is_english(text):
            await self._weigh(parts[:split], self._embedder, deadline)
        for sentence in sentences:
            if len(sentence.pieces) == 1:
                sentence.pieces[0].opinion = sentence.whole.opinion
                sentence.pieces[0].world = sentence.whole.world
                sentence.pieces[0].judged = sentence.whole.judged
            for piece in (sentence.whole, *sentence.pieces):
                if piece.opinion is None:
                    _by_tables(piece)

    async def _weigh(self, parts: Sequence[tuple[Piece, str]], judge: JudgesKeeping, deadline: Deadline) -> None:
        """Let the judge read each part and the words around it."""
        read = [(text_of(piece), near) for piece, near in parts]
        try:
            found = await judge.judge_keeping(read, deadline=deadline)
        except EmbedderFailed:
            return  # the classifier decides
        for (piece, _), odds in zip(parts, found, strict=True):
            if odds is not None and piece.opinion is not None:
                piece.judged = 1 / (1 + exp(-odds - BY_CLASSIFIER * log_odds(piece.opinion.keep, SURE)))

    async def _vectors(self, texts: list[str], deadline: Deadline) -> Floats | None:
        if self._embedder is None or not texts:
            return None
        try:
            found = await self._embedder.embed(texts, deadline=deadline)
        # The classifier also works by words alone, less precisely: better than losing the message.
        except EmbedderFailed:
            return None
        return np.stack([np.frombuffer(one, np.float32) for one in found])


def to_judge(sentences: Sequence[Sentence], text: str) -> list[tuple[Piece, str]]:
    """Return each part that is judged, with the words around it in the message."""
    parts = [p for s in sentences for p in (s.whole, *(s.pieces if len(s.pieces) > 1 else ()))]
    return [(part, around(text, part.start, part.end)) for part in parts if not _UNTRAINED.search(part.text)]


def around(text: str, start: int, end: int) -> str:
    """Return the words before and after a part of a text, as far as the judge reads them, with a mark for the part."""
    before, after = text[max(0, start - AROUND_BEFORE) : start], text[end : end + AROUND_AFTER]
    if start > AROUND_BEFORE:
        before = before.partition(" ")[2]
    if not (before.strip(" .,!?\n") or after.strip(" .,!?\n")):
        return after.strip()
    return f"{before} | {after}".replace(MARKER, "").strip()


def pieces_to_judge(message: str) -> list[tuple[int, int, str, str]]:
    """Return the parts of a message that are judged: their span, their words, and the words around them."""
    text = readable(message)
    found = _Findings(Message(role="user", content=message), Policy(), Budget())
    return [(p.start, p.end, text_of(p), near) for p, near in to_judge(_sentences(text, found), text)]


def _binds(opening: str) -> bool:
    """Return True if words before a statement belong to it: they state its time of validity, or deny something else."""
    return bool(FROM_NOW_ON.match(opening) or _OCCASION.match(opening) or only_disputes(opening))


def _add_opening(statement: Statement, start: int, text: str) -> Statement:
    """Return a statement with its opening, which the quote includes; the occasion of an order belongs to its words."""
    occasion = _OCCASION.match(text, start) is not None
    return replace(statement, start=start, said_from=start if occasion else statement.said_from)


@dataclass(slots=True)
class Sentence:
    """A sentence with its parts."""

    whole: Piece
    pieces: list[Piece]
    lasting: bool
    clauses: list[Clause]

    def clauses_in(self, start: int, end: int) -> list[Clause]:
        """Return the clauses that lie at least in part between two places."""
        first = bisect_right(self.clauses, start, key=lambda clause: clause.end)
        return self.clauses[first : bisect_left(self.clauses, end, first, key=lambda clause: clause.start)]


def text_of(piece: Piece) -> str:
    """Return the words of a piece that the classifier reads: of a number only its length counts, so that which one it
    is does not decide whether a statement is kept.
    """
    said = piece.text[max(0, piece.said_from - piece.start) :].replace(MARKER, " ").strip()
    return _NUMBER.sub(lambda number: "2" * max(2, len(number[0])), written_out(said[:MAX_CLAUSE_CHARS]))


def _sentences(text: str, found: _Findings) -> list[Sentence]:
    """Return the sentences of `text` that may state a fact; the others are reported."""
    sentences: list[Sentence] = []
    fiction = payload = False
    asked: str | None = None
    told = clauses(text)
    if len(told) > MAX_PIECES:
        found.leave_out(TOO_LONG, (told[MAX_PIECES].start, len(text)))
    read = 0
    for _, group in groupby(told[:MAX_PIECES], key=lambda clause: clause.sentence_start):
        parts = list(group)
        if read > MAX_PIECES:
            found.leave_out(TOO_LONG, (parts[0].start, len(text)))
            break
        start, end = parts[0].start, parts[-1].end
        fiction = fiction or fiction_from(parts[0].sentence)
        if payload or fiction:
            found.leave_out(TRANSIENT, (start, end))
            continue
        spoken = [clause for clause in parts if _speaks(clause, found)]
        # "Translate this: ..." makes the rest of the message data.
        payload = any(payload_follows(clause) and ":" in clause.sentence for clause in spoken)
        if not spoken:
            continue
        # "Just kidding" takes back the sentence before it.
        if sentences and takes_back_in_jest(parts[0].sentence):
            found.leave_out(JOKE, (sentences.pop().whole.start, end))
            continue
        # "Remember that please." and "Please remember this." have their words in the sentence beside them.
        where = bare_request(parts[0].sentence)
        if where is not None:
            found.leave_out(NOT_DURABLE, (start, end))
            if where == "before" and sentences:
                _mark_asked(sentences[-1])
            else:
                asked = where
            continue
        mood = mood_of(parts[0].sentence)
        pieces = pieces_of(spoken, text, mood)
        read += len(pieces)
        whole = Piece(pieces[0].start, pieces[-1].end, text[pieces[0].start : pieces[-1].end], asked=pieces[0].asked,
                      said_from=pieces[0].said_from, hinted=pieces[0].hinted)  # fmt: skip
        sentences.append(Sentence(whole, pieces, mood.lasting, spoken))
        if asked is not None:
            _mark_asked(sentences[-1])
            asked = None
    if asked is not None and sentences:
        _mark_asked(sentences[-1])
    return sentences


def _mark_asked(sentence: Sentence) -> None:
    """Mark a sentence as one that the user asked to remember, unless it is a question or of others' words."""
    if not any(clause.asks for clause in sentence.clauses):
        for piece in (sentence.whole, *sentence.pieces):
            if not piece.certain:
                piece.asked, piece.reason, piece.ruled = True, None, False


def _pieces(sentences: Sequence[Sentence]) -> Iterator[Piece]:
    """Yield the sentences of a message and their parts."""
    return (piece for sentence in sentences for piece in (sentence.whole, *sentence.pieces))


def _speaks(clause: Clause, found: _Findings) -> bool:
    span = clause.start, clause.end
    if len(clause.text) > MAX_CLAUSE_CHARS:
        found.leave_out(TOO_LONG, span)
        return False
    words = clause.text.replace(MARKER, " ")
    if words != clause.text and (len(clause.text.split()) < SHORTEST_CONTENT_WORDS * 2 or not speaks_of_self(words)):
        found.leave_out(QUOTED, span)  # a remark on a quotation means nothing without it
        return False
    return True


def _by_tables(piece: Piece) -> None:
    """Judge a piece in a script that the classifier does not know: stored if a table has a plain statement like it."""
    text = piece.text.strip()
    rule = next((rule for rule in other_languages.FREE if rule.pattern.search(text)), None)
    long_enough = len(text.split()) >= SHORTEST_CONTENT_WORDS or len(_HAN.findall(text)) >= SHORTEST_UNTRAINED_CHARS
    label = "chat" if rule is None or not long_enough else _LABELS.get(rule.category, rule.category)
    piece.opinion = Opinion(shares=tuple(float(one == label) for one in LABELS))


@dataclass(slots=True)
class _Findings:
    """Findings of one message so far."""

    message: Message
    policy: Policy
    budget: Budget
    talk: Talk = SPOKEN_ALONE
    candidates: list[Candidate] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    def leave_out(self, reason: str, span: tuple[int, int], key: str | None = None) -> None:
        """Report a reason, once for neighbours that share it."""
        last = self.skipped[-1] if self.skipped else None
        near = last is not None and last.span is not None and span[0] - last.span[1] <= _GAP
        if near and last and last.span and key is None and last.key is None and last.reason == reason:
            self.skipped[-1] = Skipped(reason=reason, span=(last.span[0], span[1]))
        elif len(self.skipped) < MAX_SKIPPED:
            self.skipped.append(Skipped(reason=reason, key=key, span=span))

    def keep(self, statement: Statement, text: str, sentence: Sentence) -> None:
        """Propose the typed facts of a statement, and the statement itself if it has more content than they do."""
        values = self.keys_of(sentence, statement.start, statement.end)
        content = as_sentence(text[statement.said_from : statement.end].replace(MARKER, ""))
        # Next to a clause with a value, one without ("and I love kayaking") says more by a single word.
        least = 1 if self._has_keyless(sentence, statement) else 2
        if values and not (self.policy.allows_keyless and says_more(content, values, least=least)):
            return
        span = statement.start, statement.end
        if not content:
            self.leave_out(NOT_UNDERSTOOD, span)
        elif not (statement.asked or is_kept_between_people(content, sentence.whole, sentence.pieces, self.talk)):
            self.leave_out(NOT_DURABLE, span)
        else:
            self._propose(content, span, None, statement.category, statement.confidence)

    def keep_value(self, piece: Piece, sentence: Sentence) -> bool:
        """Propose the typed facts of a part of a sentence that is not worth storing by itself, and its words if they
        have more content: "I'm now the new kid at Acme". Return True if there was such a fact.
        """
        values = self.keys_of(sentence, piece.start, piece.end)
        content = as_sentence(self.message.content[piece.start : piece.end].replace(MARKER, ""))
        if values and self.policy.allows_keyless and says_more(content, values):
            self._propose(content, (piece.start, piece.end), None, "fact", BESIDE_VALUE_CONFIDENCE)
        return bool(values)

    def keys_of(self, sentence: Sentence, start: int, end: int) -> list[str]:
        """Propose the typed facts of the clauses between two places; their values and keys."""
        texts: list[str] = []
        if self.policy.allows_keyless and orders_on_occasion(sentence.whole.text):
            return texts  # the value alone would always apply
        for clause in sentence.clauses_in(start, end):
            if not clause.asks and not DENIES_SAYING.search(clause.text):
                for rule, key, value in typed_facts(clause.text, sentence.lasting, self.policy):
                    self._propose(value, (clause.start, clause.end), key, rule.category, rule.confidence, (start, end))
                    texts += [value, key.replace("_", " ")]
        return texts

    def whole(self) -> Extraction:
        """Return the message as one statement."""
        self._propose(self.message.content, (0, len(self.message.content)), None, "fact", ANSWERED_CONFIDENCE)
        return self.extraction()

    def _has_keyless(self, sentence: Sentence, statement: Statement) -> bool:
        """Return True if a clause of the statement gave no typed fact."""
        inside = [one for one in sentence.clauses_in(statement.start, statement.end) if not one.asks]
        return any(next(typed_facts(c.text, sentence.lasting, self.policy), None) is None for c in inside)

    def _propose(
        self,
        content: str,
        span: tuple[int, int],
        key: str | None,
        category: str,
        confidence: float,
        around: tuple[int, int] = (0, 0),
    ) -> None:
        """Add a candidate, if the policy knows its key and takes its value. The words around it help to find it."""
        if (key is None and not self.policy.allows_keyless) or (key is not None and not self.policy.allows(key)):
            self.leave_out("key_not_in_policy", span, key)
            return
        quote = self.message.content[span[0] : span[1]]
        candidate = Candidate(
            content=content,
            key=key,
            category=category,
            confidence=confidence,
            context="" if key is None else self.message.content[slice(*around)],
            data={BETWEEN_PEOPLE: True} if self.talk.people else {},
            source=source_of(self.message, quote=quote, span=span),
            occurred_at=self.message.sent_at,
        )
        candidate = timed(candidate, quote, self.message.sent_at)
        try:
            self.candidates.append(check_candidate(candidate, self.policy, self.budget))
        except RunStopped as breach:
            self.leave_out(breach.reason, span, key)

    def extraction(self) -> Extraction:
        """Return the result without duplicates, and name the candidates beyond the maximum of one message."""
        kept, doubles = drop_duplicates(self.candidates)
        spans = [one.source.span for one in kept if one.source.span is not None]
        left = [one for one in self.skipped if one.key is not None or not _is_inside(one.span, spans)]
        over = tuple(
            Skipped(reason=MAX_CAPTURE_ITEMS, key=candidate.key, span=candidate.source.span)
            for candidate in kept[MAX_STATEMENTS : MAX_STATEMENTS + MAX_SKIPPED]
        )
        return Extraction(
            candidates=kept[:MAX_STATEMENTS], skipped=(*left, *doubles, *over), between_people=self.talk.people
        )


def _is_inside(span: tuple[int, int] | None, spans: Sequence[tuple[int, int]]) -> bool:
    """Return True if `span` is inside one of `spans`."""
    return span is not None and any(start <= span[0] and span[1] <= end for start, end in spans)
