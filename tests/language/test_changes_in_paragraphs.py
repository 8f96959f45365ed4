"""Changes by messages of many sentences: what they may cost, and what one clause is enough for."""

from __future__ import annotations

from typing import Any

import pytest

from mnemic.language.changes import changes_in_paragraphs
from mnemic.language.changes.changes_in_paragraphs import MAX_JUDGED, is_changed_by_a_clause
from mnemic.language.frames.statement_frame import Frame


def _long(name: str) -> Frame:
    return Frame("".join(f"I switched to {name} {number}, not coffee. " for number in range(80)))


def test_two_long_messages_are_judged_in_few_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    judged = []

    def counted(old: Frame, new: Frame, *given: Any, **named: Any) -> None:
        judged.append((old, new))

    monkeypatch.setattr(changes_in_paragraphs, "judge", counted)

    assert not is_changed_by_a_clause(_long("tea"), _long("cocoa"), among=1, one_talk=False)
    assert 0 < len(judged) <= MAX_JUDGED


def test_one_of_several_sentences_is_enough() -> None:
    old = Frame("I live in Bonn with two cats. I work at Acme.")

    assert is_changed_by_a_clause(old, Frame("Good news. We moved to Kiel."), among=1, one_talk=False)
    assert not is_changed_by_a_clause(old, Frame("Good news. We painted the shed."), among=1, one_talk=False)


def test_sentences_about_it_need_the_same_thing_before_them() -> None:
    old, other = Frame("We bought a tent. It weighs 4 kilos."), Frame("We bought a kayak. It weighs 22 kilos.")
    same = Frame("We weighed the tent again. It weighs 5 kilos.")

    assert not is_changed_by_a_clause(old, other, among=1, one_talk=False)
    assert is_changed_by_a_clause(old, same, among=1, one_talk=False)
