"""Message as statements: the parts worth storing, each whole, and the reasons for not storing the others.

A small classifier decides. Rules decide only on the form: questions, other people's words, suppositions, requests to
remember. A remark in jest, a guess or an order needs a surer classifier, unless it may keep somebody safe. A part of a
sentence is stored together with the part it depends on: "Emma is my manager, she hates surprises" is one statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mnemic_language.sentences.categories import category_of
from mnemic_language.sentences.classify.classifier import Opinion
from mnemic_language.sentences.clauses import Clause, is_tag
from mnemic_language.sentences.exclusion_rules import Mood, is_certain, left_out
from mnemic_language.sentences.reasons import is_unsure, reason_of
from mnemic_language.sentences.remember import asked_to_remember, asks_alone, is_asked_afterwards
from mnemic_language.sentences.standing_orders import is_standing_order
from mnemic_language.sentences.unresolved_references import LEANING, leans
from mnemic_language.skip_reason_codes import NOT_DURABLE, NOT_UNDERSTOOD
from mnemic_language.text.pattern import Pattern

KEEP_FROM = 0.65
"""Minimum probability for storing a statement without a request to remember it."""
NAMED_FROM = 0.55
"""The same for a statement with a name or a number: one without either is more often small talk."""
URGENT_FROM = 0.45
"""The same if a loss does harm: for what may keep somebody safe."""
SAFETY_FROM = 0.25
"""Minimum probability of `safety` for a statement that may, whatever its other classes."""
PART_FROM = 0.65
"""The same for a part of a short sentence that is not worth storing whole ("I made it up, so I have no recipe")."""
ARRANGED_FROM = 0.1
"""The same for a standing order."""
SURE_FROM = 0.9
"""The same if a rule reads a jest, a guess, a remark of the moment or an order: "keep answers short" is one and lasts.
"""
ASKED_FROM = 0.3
"""The same for a statement that is perhaps asked to be remembered."""
SHORTEST_LEANT_ON = 3
"""Minimum words of a sentence that the next may depend on."""
LONGEST_LEANT_ON = 36
"""Maximum words of the sentences that the next may depend on; more are a story."""
WHOLE_WORDS = 18
"""Maximum words of a sentence that is stored whole; of a longer one only the parts worth storing are."""
LONGEST_TRAILING = 2
"""Maximum words after "but" that belong to the part before it."""
_LETTER = Pattern(r"[^\W\d_]")
_NAMED = Pattern(r"\d|(?<=[a-z,'] )[A-Z][a-z]")
_REMINDS = Pattern(r"(?i)\A\W{0,3}(?:and |but |so |do you |hey,? )?remember (?!to\b|please\b)")
"""Matches in a question: a reminder of something that both know ("Remember the sign in my kitchen?")."""
_BUT = Pattern(r"(?i)\w (?:but|pero)\s+\Z")
_COMMA = Pattern(r",\s+|\s[–—-]{1,2}\s|\s\(|\)\s|:\s+")


@dataclass(slots=True)
class Piece:
    """Part of a sentence: its span and the `reason` against it (`ruled`: by the rules, `certain`: beyond doubt,
    `unsure`: only because it means little alone); `asked`: the user asked to remember it (`hinted`: perhaps); the
    classifier's `opinion`, the probability of `world` talk; `trails`: a word or two after "but", only about the part
    before it ("tiny but nice").
    """

    start: int
    end: int
    text: str
    reason: str | None = None
    asked: bool = False
    said_from: int = 0
    opinion: Opinion | None = None
    ruled: bool = False
    certain: bool = False
    hinted: bool = False
    world: float = 0.0
    trails: bool = False
    unsure: bool = False

    @property
    def keep(self) -> float:
        """The classifier's share; 0 without one."""
        return self.opinion.keep if self.opinion else 0.0

    @property
    def is_safety(self) -> bool:
        """True if it may keep somebody safe."""
        return self.opinion is not None and self.opinion.share("safety") >= SAFETY_FROM


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A part of a message that is worth storing. `start` to `end` is its span, `said_from` the start of its content
    (after "remember that"), `category` its kind; `asked`: the user asked to remember it.
    """

    start: int
    end: int
    said_from: int
    category: str
    asked: bool
    confidence: float


def pieces_of(sentence: Sequence[Clause], text: str, mood: Mood) -> list[Piece]:
    """Return the parts of a sentence, with the rules' reasons; a long clause is cut at its commas."""
    found: list[Piece] = []
    asked = False
    for clause in sentence:
        reminds = clause.asks and not is_tag(clause.text) and _REMINDS.match(clause.text)
        request = None if reminds else asked_to_remember(clause.text)
        if request is not None and len(sentence) == 1 and not clause.text[request[0] :].strip(" .!"):
            request = None  # "Remember!" has no content
        asked = asked or (request is not None and request[1])
        reason = None if request or (asked and not clause.asks) else left_out(clause, mood)
        silent = not _LETTER.search(clause.text)
        reason = NOT_DURABLE if silent else reason
        for start, end in _cut(clause):
            opening = clause.start + request[0] if request and start == clause.start else start
            found.append(
                Piece(
                    start,
                    end,
                    text[start:end],
                    reason,
                    asked=asked,
                    said_from=opening if opening < end else start,
                    ruled=reason is not None,
                    hinted=request is not None,
                    trails=start == clause.start and _trails(clause),
                    certain=silent or (reason is not None and is_certain(clause, reason)),
                )
            )
    return found


def _trails(clause: Clause) -> bool:
    before = clause.sentence[: clause.start - clause.sentence_start]
    return _BUT.search(before) is not None and not clause.asks and len(clause.text.split()) <= LONGEST_TRAILING


def _cut(clause: Clause) -> list[tuple[int, int]]:
    if len(clause.text.split()) <= WHOLE_WORDS:
        return [(clause.start, clause.end)]
    cuts, start = [], clause.start
    for gap in _COMMA.finditer(clause.text):
        if len(clause.text[start - clause.start : gap.start()].split()) > 2:
            cuts.append((start, clause.start + gap.start()))
            start = clause.start + gap.end()
    return [*cuts, (start, clause.end)] if start < clause.end else cuts


def decided(pieces: list[Piece], whole: Piece, before: Piece | None) -> Iterator[Statement | Piece]:
    """Yield the statements of a sentence, and its parts that are not stored, each with its `reason`.

    `before` is the last part of the previous sentence, which the first part may depend on.
    """
    asked_afterwards = is_asked_afterwards(whole.text)
    if whole.asked and all(piece.text.count(" ") == 0 for piece in pieces):
        for piece in (whole, *pieces):
            piece.asked, piece.hinted, piece.reason = False, False, NOT_DURABLE
    for piece in pieces:
        if piece.asked and asks_alone(piece.text):
            piece.asked, piece.hinted, piece.reason, piece.said_from = False, False, NOT_DURABLE, piece.end
        _settle(piece, asked_afterwards)
    short = len(whole.text.split()) <= WHOLE_WORDS or is_standing_order(whole.text)
    if short and not any(piece.ruled and piece.reason for piece in pieces):
        _settle(whole, asked_afterwards)
        kept = [piece for piece in pieces if piece.reason is None]
        if whole.reason is not None and all(map(_says_little_alone, kept)):
            for piece in kept:  # "It was full of memories, she loved it": the person is unknown
                piece.reason, piece.unsure = whole.reason, whole.unsure
        elif whole.reason is None or kept:
            yield _statement([whole], pieces, before)
            return
    yield from _runs(pieces, before)


def anchored(before: Piece | None, pieces: Sequence[Piece], text: str) -> Piece:
    """Return the context of the next sentence: the last of the `pieces` of this one, with the previous sentence if this
    one depends on it.
    """
    last = pieces[-1]
    if before is None or not leans(pieces[0].text):
        return last
    both = text[before.start : last.end]
    return last if len(both.split()) > LONGEST_LEANT_ON else Piece(before.start, last.end, both)


def _says_little_alone(piece: Piece) -> bool:
    """Return True if a part of a sentence not worth storing is not stored on its own."""
    if piece.asked or piece.is_safety:
        return False
    return LEANING.search(piece.text) is not None or piece.keep < PART_FROM


def _runs(pieces: list[Piece], before: Piece | None) -> Iterator[Statement | Piece]:
    run: list[Piece] = []
    for place, piece in enumerate(pieces):
        if piece.reason is None:
            if not run and place and LEANING.search(piece.text) and _is_doubtful(pieces[place - 1]):
                run.append(pieces[place - 1])
            run.append(piece)
        elif run and piece.trails:
            run.append(piece)
        else:
            if run:
                yield _statement(run, run, before)
                run = []
            yield piece
    if run:
        yield _statement(run, run, before)


def _is_doubtful(piece: Piece) -> bool:
    """Return True if a part is not stored only because it means little alone."""
    return piece.unsure or ((piece.opinion is None or piece.ruled) and piece.reason in (NOT_UNDERSTOOD, NOT_DURABLE))


def _settle(piece: Piece, asked_afterwards: bool) -> None:
    """Set the reason of the piece, or None if it is stored."""
    if piece.asked and piece.reason is None:
        return
    if piece.certain or piece.opinion is None:
        piece.reason = piece.reason or NOT_UNDERSTOOD
        return
    least = _least(piece, piece.opinion, asked=asked_afterwards or piece.hinted)
    if piece.keep >= least:
        piece.reason = None
    elif piece.reason is None:
        piece.reason, piece.unsure = reason_of(piece.opinion), is_unsure(piece.opinion)


def _least(piece: Piece, opinion: Opinion, *, asked: bool) -> float:
    """Return the minimum probability for storing a statement."""
    if piece.reason is not None:
        return URGENT_FROM if piece.is_safety or asked else SURE_FROM
    if is_standing_order(piece.text):
        return ARRANGED_FROM
    if asked:
        return ASKED_FROM
    if piece.is_safety:
        return URGENT_FROM
    return NAMED_FROM if opinion.words_alone or _NAMED.search(piece.text) else KEEP_FROM


def _statement(run: list[Piece], judged: list[Piece], before: Piece | None) -> Statement:
    first = run[0]
    start, said_from = first.start, max(first.said_from, judged[0].said_from if judged else first.start)
    if before is not None and leans(first.text) and not first.asked:
        start = said_from = before.start
    opinions = [piece.opinion for piece in (*run, *judged) if piece.opinion is not None]
    asked = any(piece.asked for piece in judged)
    return Statement(
        start=start,
        end=run[-1].end,
        said_from=said_from,
        category=category_of(opinions, [piece.text for piece in (*run, *judged)]),
        asked=asked,
        confidence=0.9 if asked else round(0.6 + 0.3 * max((one.keep for one in opinions), default=0.0), 2),
    )
