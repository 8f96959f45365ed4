"""Preferences and instructions that a message tells in passing: kept whole, with the occasion that they are for."""

from __future__ import annotations

from mnemic.language.sentences.classify.classifier import LABELS, Opinion
from mnemic.language.sentences.clauses import clauses
from mnemic.language.sentences.exclusion_rules import left_out, mood_of
from mnemic.language.sentences.statements import Piece, Statement, decide_pieces, pieces_of


def _opinion(keep: float, label: str) -> Opinion:
    shares = {label: keep, "request": 1 - keep}
    return Opinion(shares=tuple(shares.get(one, 0.0) for one in LABELS))


def _kept(text: str, *judged: tuple[float, str]) -> list[tuple[str, str]]:
    """The category and text of what is kept of one sentence, whose parts the classifier judges so."""
    parts = clauses(text)
    pieces = pieces_of(parts, text, mood_of(text))
    assert len(pieces) == len(judged)
    for piece, (keep, label) in zip(pieces, judged, strict=True):
        piece.opinion = _opinion(keep, label)
    whole = Piece(pieces[0].start, pieces[-1].end, text[pieces[0].start : pieces[-1].end], opinion=_opinion(0, "fact"))
    found = decide_pieces(pieces, whole, None)
    return [(one.category, text[one.start : one.end]) for one in found if isinstance(one, Statement)]


def test_what_is_no_occasion_stays_away_from_a_preference() -> None:
    text = (
        "Can you help me with the first chapter of the thesis tonight, because I prefer to start with an outline of it"
    )
    assert _kept(text, (0.5, "fact"), (0.9, "preference")) == [
        ("preference", "I prefer to start with an outline of it")
    ]


def test_a_statement_that_prefers_nothing_leaves_the_occasion_out() -> None:
    text = (
        "I'm trying to decide where to write my thesis this month, and I work at the quiet library on the second floor"
    )
    assert _kept(text, (0.5, "fact"), (0.9, "fact")) == [("fact", "I work at the quiet library on the second floor")]


def test_an_instruction_for_requests_is_one_whatever_the_classifier_takes_it_for() -> None:
    assert _kept("Always cite the year when I ask about films", (0.9, "preference")) == [
        ("instruction", "Always cite the year when I ask about films")
    ]


def test_what_always_happens_is_no_instruction() -> None:
    assert _kept("Always late when it snows", (0.9, "fact")) == [("fact", "Always late when it snows")]


def test_safety_comes_before_a_preference() -> None:
    assert _kept("I prefer meals without nuts", (0.9, "safety")) == [("constraint", "I prefer meals without nuts")]


def test_how_to_reach_somebody_and_what_person_one_is_are_preferences() -> None:
    assert _kept("The best way to reach me is Signal", (0.8, "fact"))[0][0] == "preference"
    assert _kept("Not a morning person", (0.35, "preference"))[0][0] == "preference"


def test_nothing_without_a_letter_is_kept() -> None:
    text = ">-> 2,27"
    (piece,) = pieces_of(clauses(text), text, mood_of(text))
    piece.opinion = _opinion(0.99, "fact")
    assert [one.reason for one in decide_pieces([piece], piece, None) if isinstance(one, Piece)] == ["not_durable"]


def test_dice_are_rolled_in_english_and_speak_in_spanish() -> None:
    english = "I prefer examples with coins and dice rolls"
    spanish = "Marta dice que prefiere el tren"
    assert left_out(clauses(english)[0], mood_of(english)) is None
    assert left_out(clauses(spanish)[0], mood_of(spanish)) == "quoted"


def test_an_unsure_part_that_the_next_one_leans_on_is_kept_with_it() -> None:
    text = "My neighbour of the upper floor who sails a lot in May, and he prefers boats made of steel to all others"
    cut = text.index(", and")
    pieces = [
        Piece(0, cut, text[:cut], opinion=_opinion(0.55, "fact")),
        Piece(cut + 6, len(text), text[cut + 6 :], opinion=_opinion(0.9, "fact")),
    ]
    whole = Piece(0, len(text), text, opinion=_opinion(0, "fact"))
    (kept,) = decide_pieces(pieces, whole, None)
    assert isinstance(kept, Statement)
    assert (kept.start, kept.end) == (0, len(text))
