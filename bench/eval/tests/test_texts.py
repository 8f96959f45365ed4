from __future__ import annotations

from itertools import islice

import pytest

from mnemic_eval.texts import questions, statements


def test_statements_are_distinct_and_of_the_length_of_chat() -> None:
    texts = list(islice(statements(3), 5_000))
    words = sorted(len(text.split()) for text in texts)

    assert len(set(texts)) == 5_000
    assert words[0] >= 5
    assert words[-1] <= 60
    assert 12 <= words[len(words) // 2] <= 30
    assert not any("{" in text or "  " in text for text in texts)


@pytest.mark.parametrize("make", [statements, questions])
def test_a_seed_gives_the_same_texts_again(make) -> None:  # type: ignore[no-untyped-def]
    assert list(islice(make(5), 50)) == list(islice(make(5), 50))
    assert list(islice(make(5), 50)) != list(islice(make(6), 50))


def test_questions_do_not_run_out() -> None:
    assert len(set(islice(questions(1), 3_000))) == 3_000
