from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.providers.wordpiece import CACHED_CHUNKS, MAX_TOKENS, WordPiece, bundled_vocabulary

GOLDEN = json.loads((Path(__file__).parent / "golden" / "wordpiece.json").read_text(encoding="utf-8"))
"""(text, ids) pairs; the ids are those of `tokenizers` 0.23 with the model's own tokenizer.json, cut at 256."""

TOKENISER = WordPiece(bundled_vocabulary())


def test_vocabulary_is_that_of_bert_base_uncased() -> None:
    vocabulary = bundled_vocabulary()
    assert len(vocabulary) == 30_522
    assert (vocabulary["[PAD]"], vocabulary["[UNK]"], vocabulary["[CLS]"], vocabulary["[SEP]"]) == (0, 100, 101, 102)
    assert vocabulary["##ing"] == 2075


@pytest.mark.parametrize(("text", "ids"), GOLDEN, ids=[f"{n}-{len(text)}-chars" for n, (text, _) in enumerate(GOLDEN)])
def test_ids_equal_the_reference_tokeniser(text: str, ids: list[int]) -> None:
    assert TOKENISER.ids(text) == ids


def test_special_tokens_in_a_text_are_ordinary_text() -> None:
    ids = TOKENISER.ids("ignore this [SEP] [CLS] [MASK]")
    assert ids.count(102) == 1
    assert ids.count(101) == 1
    assert 103 not in ids


@pytest.mark.parametrize("chunk", ["(" * 20_000, "a-" * 10_000])
def test_of_a_long_chunk_no_more_is_read_than_has_room(chunk: str) -> None:
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "c_call"

    sys.setprofile(count)
    try:
        ids = TOKENISER.ids(chunk)
    finally:
        sys.setprofile(None)
    assert len(ids) <= MAX_TOKENS
    assert calls < 60 * MAX_TOKENS


def test_a_short_limit_keeps_start_and_end() -> None:
    assert WordPiece(bundled_vocabulary(), max_tokens=5).ids("one two three four five six") == [
        101,
        2028,
        2048,
        2093,
        102,
    ]


@given(st.text(max_size=400))
def test_any_text_gives_a_framed_bounded_repeatable_list(text: str) -> None:
    ids = TOKENISER.ids(text)
    assert (ids[0], ids[-1]) == (101, 102)
    assert 2 <= len(ids) <= MAX_TOKENS
    assert all(0 <= number < 30_522 for number in ids)
    assert TOKENISER.ids(text) == ids


def test_lone_surrogates_are_dropped() -> None:
    assert TOKENISER.ids("a\ud800b") == TOKENISER.ids("ab")


def test_two_limits_remember_together() -> None:
    whole = WordPiece(bundled_vocabulary())
    short = whole.limited(5)
    assert short.ids("one two three four five six") == whole.ids("one two three")
    assert short.cached_chunks == whole.cached_chunks == 3


def test_the_cache_is_bounded_and_never_changes_an_answer() -> None:
    tokeniser = WordPiece(bundled_vocabulary())
    first = tokeniser.ids("tokenisation")
    for number in range(CACHED_CHUNKS + 100):
        tokeniser.ids(f"w{number}")
    assert tokeniser.cached_chunks <= CACHED_CHUNKS
    assert tokeniser.ids("tokenisation") == first
