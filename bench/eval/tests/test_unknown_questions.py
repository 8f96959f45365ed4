"""The figures of knowing that nothing is known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Message
from mnemic_eval.chats import ADVERSARIAL, Chat, ChatSet, Question, run
from mnemic_eval.tables import set_table
from mnemic_eval.unknown_questions import auc, evenly


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9), st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_auc_is_the_share_of_pairs_in_order(higher: list[float], lower: list[float]) -> None:
    assert abs(auc(higher, lower) + auc(lower, higher) - 1) < 1e-9
    assert auc([2.0], lower) == 1
    assert auc([0.5], [0.5]) == 0.5


@given(st.integers(0, 300), st.integers(1, 50))
def test_evenly_takes_from_all_over_each_once(count: int, most: int) -> None:
    chosen = evenly([str(number) for number in range(count)], most)
    assert len(chosen) == len(set(chosen)) == min(count, most)


def chat(name: str, thing: str) -> Chat:
    messages = [
        Message(role="user", content=f"My {thing} number {number} is old.", message_id=f"{name}{number}", session=name)
        for number in range(40)
    ]
    evidence = frozenset({f"{name}1"})
    texts = {f"How old is the {thing}?": "one", "Which violin was played in Madrid?": ADVERSARIAL}
    asked = [Question(question_id=name, text=text, category=kind, evidence=evidence) for text, kind in texts.items()]
    return Chat(name=name, messages=tuple(messages), questions=tuple(asked))


def test_each_chat_is_asked_about_itself_and_the_others_of_its_half(tmp_path: Path) -> None:
    things = ("telescope", "sourdough", "greyhound", "lighthouse")
    chats = [chat(name, thing) for name, thing in zip("abcd", things, strict=True)]
    result = run(ChatSet(name="beam", chats=chats, figures=("recall@5",)), embedder=WordEmbedder())
    for split in ("dev", "test"):
        known = result["known"][split]
        assert (known["own"], known["others"], known["adversarial"]) == (2, 4, 2)
        assert known["auc"] == known["auc_adversarial"] == 1
        assert known["adversarial_abstained"] == 1
    assert "is anything known?" in set_table(result)


def test_chats_too_small_to_tell_are_left_out() -> None:
    small = [replace(one, messages=one.messages[:3]) for one in (chat("a", "boat"), chat("b", "boat"))]
    assert "known" not in run(ChatSet(name="beam", chats=small, figures=("recall@5",)), embedder=WordEmbedder())
