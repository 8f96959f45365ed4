"""Message as statements: the parts worth storing, each whole, and the reasons for not storing the others.

Rules decide if they are certain (questions, other people's words, requests to remember); a classifier decides on the
rest. A part of a sentence is stored together with the part it depends on: "Emma is my manager, she hates surprises" is
one statement.

A statement to which no rule objects is left out by the classifier's opinion, which also gives the reason. What a
person says of their own body is never left out by a rule on how it is said (a joke, a condition, a report): such a
rule only lowers its confidence, and what is then unsure is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from mnemic.language.comparison import is_safety
from mnemic.language.sentences.categories import HABIT, LASTS, MEDICATED, PREFERS, category_of, is_order
from mnemic.language.sentences.classify.classifier import LABELS, Opinion
from mnemic.language.sentences.clauses import Clause
from mnemic.language.sentences.exclusion_rules import Mood, is_certain, left_out, mood_of, orders_on_occasion
from mnemic.language.sentences.general_knowledge_messages import (
    NAMED,
    is_about_the_world,
    is_singled_out,
    speaks_of_self,
)
from mnemic.language.sentences.remember import asked_to_remember, asks_alone, is_asked_afterwards
from mnemic.language.sentences.standing_orders import is_standing_order
from mnemic.language.sentences.unresolved_references import LEANING, hangs, is_of_a_person, leans
from mnemic.language.skip_reason_codes import (
    HYPOTHETICAL,
    JOKE,
    NOT_DURABLE,
    NOT_UNDERSTOOD,
    OPINION,
    QUOTED,
    SARCASM,
    THIRD_PARTY,
    TRANSIENT,
)
from mnemic.language.text.pattern import Pattern

UNSURE_FROM = 0.35
"""Probability of being worth storing below which the classifier's label alone excludes a statement."""
REASON_FROM = 0.27
"""Minimum probability for a label to be the reason; below it, the only known reason is that the statement is not worth
storing. In a table of 92 sentences in seven languages most wrong labels were below, when this was chosen.
"""
_OF_LABELS: Mapping[str, str] = MappingProxyType(
    {
        "question": TRANSIENT,
        "request": TRANSIENT,
        "transient": TRANSIENT,
        "opinion": OPINION,
        "chat": NOT_DURABLE,
        "dangling": NOT_UNDERSTOOD,
        "hypothetical": HYPOTHETICAL,
        "gossip": THIRD_PARTY,
        "joke": JOKE,
        "quoted": QUOTED,
    }
)
_TOLD_APART = frozenset({OPINION, TRANSIENT, THIRD_PARTY})
"""Reasons that the classifier may give for a statement that it nearly stored."""
_UNLIKELY = frozenset({OPINION, QUOTED, THIRD_PARTY})
"""Reasons that need more than the likeliest of weak labels."""


def label_reason(opinion: Opinion) -> str:
    """Return the reason of the likeliest label, whatever its probability."""
    return _OF_LABELS[opinion.left_as]


def reason_of(opinion: Opinion) -> str:
    """Return the reason for not storing a statement: that of its likeliest label, or `not_understood` if no label is
    likely enough, or if a nearly stored statement is more likely worth storing than covered by that label.
    """
    reason, share = label_reason(opinion), opinion.shares[LABELS.index(opinion.left_as)]
    if opinion.keep < UNSURE_FROM:
        return NOT_UNDERSTOOD if reason in _UNLIKELY and share < REASON_FROM else reason
    if reason in _TOLD_APART and share >= (opinion.keep if reason == TRANSIENT else REASON_FROM):
        return reason
    return NOT_UNDERSTOOD


KEEP_FROM = 0.7
"""Minimum probability for storing a statement without a request to remember it. In long chats between two people, 68 of
100 statements from 0.6, 76 from 0.7 and 81 from 0.76 were useful when this was chosen; a higher threshold loses more of
those.
"""
NAMED_FROM = 0.6
"""The same for a statement with a name or a number: one without either is more often small talk."""
URGENT_FROM = 0.6
"""The same if a loss does harm: statements about safety, and about the assistant's behaviour."""
SAFETY_FROM = 0.15
"""Minimum probability of `safety` for a statement that may concern it, whatever its other classes."""
WANTED_FROM = 0.6
"""The same for a wish that a rule reads as a request: "I want everything in X"."""
SAID_FROM = 0.3
"""The same for a worded preference or instruction, also within a question: "I prefer X", "always do X when I ask"."""
ALOOF_FROM = 0.9
"""The same for world talk."""
WORDS_KEEP_FROM = 0.55
"""The same if the words' model decides alone. It is less sure of everything ("I love tea": 0.65 instead of 0.9); of
unseen frames it stored 49 % at 0.7, 79 % here, with a precision of 93 and 79 %, when chosen.
"""
ARRANGED_FROM = 0.1
"""The same for a standing order."""
ORDERED_FROM = 0.96
"""The same if a rule reads a request: "keep answers short" is one and lasts."""
ASKED_FROM = 0.3
"""The same if the user asked to remember it, or may have."""
JUDGED_FROM = 0.5
"""The same if the judge read it, whatever its wording. Of messages written by people whose words trained nothing, 88 to
89 % of what was stored from here on was worth it, and 89 to 94 % of what was worth it was stored, when chosen.
"""
RULED_FROM = 0.8
"""The same for what a rule takes for a request or a state of the day."""
VETOES = frozenset({HYPOTHETICAL, QUOTED, JOKE, SARCASM})
"""Reasons for how something is said, not for what it says."""
BODY_SHARE = 0.3
"""Minimum probability of `safety` for a statement that may be on its speaker's body, if no word of it is."""
BODY_FROM = 0.2
"""The same, by the judge, for what a person says of their own body, however it is said."""
BODY_KEEP_FROM = 0.4
"""The same by the classifier."""
VETOED_CONFIDENCE = 0.6
"""Maximum confidence of a statement that is stored against a rule."""
CERTAIN_FROM = 0.9
"""The same for what a rule is certain not to be one: "Since I'm deaf in the left ear, which headset?" is a question."""
SHORTEST_LEANT_ON = 3
"""Minimum words of a sentence that the next may depend on."""
LONGEST_LEANT_ON = 36
"""Maximum words of the sentences that the next may depend on; more are a story."""
_LETTER = Pattern(r"[^\W\d_]")
_REMINDS = Pattern(
    r"(?i)\A\W{0,3}(?:and |but |so |do you |hey,? )?remember (?!to\b|please\b)(?!.*\b(?:ok(?:ay)?|please|pls)\W*\Z)"
)
"""Matches in a question: a reminder of something that both know ("Remember the sign in my kitchen?")."""
_AIMS = Pattern(
    r"(?i)\b(?:important|crucial|vital|good|great|nice|easy|hard|need|have|try|trying|want|love|like"
    r"|helps? (?:me|us|you)) to\b"
    r"[^.!?;:]{0,80}\band\s*\Z"
)


@dataclass(slots=True)
class Piece:
    """Part of a sentence: its span and the `reason` against it (`ruled`: by the rules, `certain`: beyond doubt);
    `asked`: the user asked to remember it (`hinted`: perhaps); the classifier's `opinion`, the probability of `world`
    talk; `expounds`: its message is such talk; `vetoed`: it is stored against a rule's reason.
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
    expounds: bool = False
    judged: float | None = None
    vetoed: bool = False

    @property
    def keep(self) -> float:
        """The probability that it is worth storing: the judge's, else the classifier's; 0 without either."""
        if self.judged is not None:
            return self.judged
        return self.opinion.keep if self.opinion else 0.0


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
    """Return the parts of a sentence, with the rules' reasons."""
    found: list[Piece] = []
    asked = False
    for clause in sentence:
        reminds = (clause.asks and _REMINDS.match(clause.text)) or _is_one_of_two_aims(clause)
        request = None if reminds else asked_to_remember(clause.text)
        if request is not None and len(sentence) == 1 and not clause.text[request[0] :].strip(" .!"):
            request = None  # "Remember!" has no content
        asked = asked or (request is not None and request[1])
        reason = None if request or (asked and not clause.asks) else left_out(clause, mood)
        silent = not _LETTER.search(clause.text)
        reason = NOT_DURABLE if silent else reason
        opening = clause.start + request[0] if request else clause.start
        found.append(
            Piece(
                clause.start,
                clause.end,
                text[clause.start : clause.end],
                reason,
                asked=asked,
                said_from=opening if opening < clause.end else clause.start,
                ruled=reason is not None,
                hinted=request is not None,
                certain=silent or (reason is not None and is_certain(clause, reason)),
            )
        )
    return found


def _is_one_of_two_aims(clause: Clause) -> bool:
    """Return True if a clause continues general advice: "it's vital to rest and remember life's beauty"."""
    return _AIMS.search(clause.words_before) is not None


def decide_pieces(pieces: list[Piece], whole: Piece, before: Piece | None) -> Iterator[Statement | Piece]:
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
    # Of "If I eat shrimp I die, I'm allergic" the second part alone does not say to what.
    if any(piece.vetoed for piece in pieces) and not any(_asks(piece) for piece in pieces):
        yield _statement([whole], pieces, before)
        return
    if not any(piece.ruled and piece.reason for piece in pieces):
        _settle(whole, asked_afterwards)
        kept = [piece for piece in pieces if piece.reason is None]
        if whole.reason is None or kept:
            yield from _keep_run([whole], pieces, before)
            return
    yield from _runs(pieces, before)


def context_of_next(before: Piece | None, pieces: Sequence[Piece], text: str) -> Piece:
    """Return the context of the next sentence: the last of the `pieces` of this one, with the previous sentence if this
    one depends on it.
    """
    last = pieces[-1]
    if before is None or not leans(pieces[0].text):
        return last
    both = text[before.start : last.end]
    return last if len(both.split()) > LONGEST_LEANT_ON else Piece(before.start, last.end, both)


def _runs(pieces: list[Piece], before: Piece | None) -> Iterator[Statement | Piece]:
    run: list[Piece] = []
    for place, piece in enumerate(pieces):
        if piece.reason is None:
            # Of "My neighbour who sails, and he prefers steel" the second part needs the first.
            leant_on = pieces[place - 1] if place and not run and LEANING.search(piece.text) else None
            if leant_on is not None and leant_on.reason in (NOT_UNDERSTOOD, NOT_DURABLE):
                run.append(leant_on)
            run.append(piece)
            continue
        if run:
            yield from _keep_run(run, run, before)
            run = []
        yield piece
    if run:
        yield from _keep_run(run, run, before)


def _keep_run(run: list[Piece], judged: list[Piece], before: Piece | None) -> Iterator[Statement | Piece]:
    """Yield a run of parts as one statement, or its parts as not understood if it refers to something unknown."""
    alone = before is None or len(before.text.split()) < SHORTEST_LEANT_ON
    if (alone or not leans(run[0].text)) and _hangs(run[0], judged):
        for piece in run:
            piece.reason = NOT_UNDERSTOOD
            yield piece
    else:
        yield _statement(run, judged, before)


def _hangs(piece: Piece, run: Sequence[Piece]) -> bool:
    if any(one.asked for one in run):
        return False
    risky = piece.opinion is not None and piece.opinion.kept_as == "safety"
    return hangs(piece.text) and not (risky and is_of_a_person(piece.text))


def _settle(piece: Piece, asked_afterwards: bool) -> None:
    """Set the reason of the piece, or None if it is stored."""
    if piece.asked and piece.reason is None:
        return
    if _is_of_own_body(piece):
        piece.vetoed, piece.reason = piece.reason is not None, None
        return
    if piece.opinion is None or (piece.certain and piece.judged is None):
        piece.reason = piece.reason or NOT_UNDERSTOOD
        return
    asked_afterwards = asked_afterwards or piece.hinted
    if piece.judged is not None:
        _settle_judged(piece, piece.opinion, asked_afterwards)
        return
    least = _least(piece, piece.opinion)
    if asked_afterwards:
        least = ASKED_FROM
    if piece.reason is not None:
        wanted = WANTED_FROM if HABIT.match(piece.text) else ORDERED_FROM
        least = URGENT_FROM if asked_afterwards else wanted
    if piece.keep >= least:
        piece.reason = None
    elif piece.reason is None:
        piece.reason = reason_of(piece.opinion)
    if piece.reason is None and not asked_afterwards and _is_world_talk(piece):
        piece.reason = THIRD_PARTY


def _asks(piece: Piece) -> bool:
    return piece.certain and piece.reason == TRANSIENT


def _is_of_own_body(piece: Piece) -> bool:
    """Return True for a statement of its speaker on an allergy, an illness, a medicine or the like that is not clearly
    something else; a request or a passing state is.
    """
    opinion = piece.opinion
    if opinion is None or piece.reason not in (None, *VETOES) or not speaks_of_self(piece.text):
        return False
    named = is_safety(piece.text)
    if not named and (opinion.words_alone or opinion.share("safety") < BODY_SHARE):
        return False
    if piece.judged is not None and piece.judged >= BODY_FROM:
        return True
    # A condition that is told of oneself ("if I had an allergy") is one if the judge, or else the classifier, says so.
    if piece.judged is None:
        return opinion.keep >= BODY_KEEP_FROM and opinion.share("hypothetical") < REASON_FROM
    return opinion.keep >= URGENT_FROM and mood_of(piece.text).reason != HYPOTHETICAL


def _settle_judged(piece: Piece, opinion: Opinion, asked: bool) -> None:
    """Set the reason of a piece that the judge read, or None if it is stored."""
    least = CERTAIN_FROM if piece.certain else ASKED_FROM if asked else RULED_FROM if piece.reason else JUDGED_FROM
    # What does harm if it is lost is stored if either of both takes it for worth it.
    risky = opinion.share("safety") >= SAFETY_FROM and opinion.keep >= URGENT_FROM and piece.reason is None
    ordered = orders_on_occasion(piece.text) and opinion.keep >= ARRANGED_FROM
    if piece.keep >= least or risky or ordered:
        piece.reason = None
    elif piece.reason is None:
        piece.reason = reason_of(opinion)


def _is_world_talk(piece: Piece) -> bool:
    """Return True if a statement without a word for its speaker is world talk: its message is, or the statement itself
    is and is not clearly worth storing.
    """
    risky = piece.opinion is not None and piece.opinion.kept_as == "safety" and is_of_a_person(piece.text)
    if risky or speaks_of_self(piece.text) or is_singled_out(piece.text):
        return False
    if is_standing_order(piece.text):
        return False
    return piece.expounds or (piece.keep < ALOOF_FROM and is_about_the_world(piece.text, piece.world))


def _least(piece: Piece, opinion: Opinion) -> float:
    """Return the minimum probability for storing a statement without a request to remember it."""
    if is_standing_order(piece.text):
        return ARRANGED_FROM
    if PREFERS.match(piece.text) or LASTS.match(piece.text) or HABIT.match(piece.text):
        return SAID_FROM
    if MEDICATED.search(piece.text):
        return ASKED_FROM
    if opinion.words_alone:
        return WORDS_KEEP_FROM
    if is_order(piece.text, opinion) or opinion.share("safety") >= SAFETY_FROM:
        return URGENT_FROM
    return NAMED_FROM if NAMED.search(piece.text) else KEEP_FROM


def _statement(run: list[Piece], judged: list[Piece], before: Piece | None) -> Statement:
    first = run[0]
    start, said_from = first.start, max(first.said_from, judged[0].said_from if judged else first.start)
    if before is not None and leans(first.text) and not first.asked:
        start = said_from = before.start
    opinions = [piece.opinion for piece in (*run, *judged) if piece.opinion is not None]
    asked = any(piece.asked for piece in judged)
    confidence = 0.9 if asked else round(0.6 + 0.3 * max((one.keep for one in opinions), default=0.0), 2)
    if not asked and any(piece.vetoed for piece in judged):
        confidence = VETOED_CONFIDENCE
    return Statement(
        start=start,
        end=run[-1].end,
        said_from=said_from,
        category=category_of(opinions, [piece.text for piece in (*run, *judged)]),
        asked=asked,
        confidence=confidence,
    )
