"""What is printed is harmless and complete."""

from __future__ import annotations

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from mnemic.cli.terminal import json_text, one_line, pairs, printable, table

ANYTHING = st.text(st.characters(), max_size=40)


@given(ANYTHING)
def test_nothing_printed_can_control_a_terminal(text: str) -> None:
    shown = printable(text)
    assert all(unicodedata.category(c) not in ("Cc", "Cs", "Zl", "Zp") or c in "\n\t" for c in shown)
    assert not {"\u202e", "\u2066", "\u200f"} & set(shown)


@given(ANYTHING)
def test_json_reads_back_as_it_was_and_is_harmless(text: str) -> None:
    shown = json_text({"text": text})
    assert json.loads(shown) == {"text": text}
    assert not any("\x7f" <= c <= "\x9f" or "\ud800" <= c <= "\udfff" or c == "\u202e" for c in shown)


def test_ordinary_writing_is_left_alone() -> None:
    for text in ("Zürich", "東京", "नमस्ते", "👩‍👩‍👧", "line\n\tbreak"):
        assert printable(text) == text


def test_what_cannot_be_seen_is_spelled_out() -> None:
    assert printable("\x1b[31m\x9b\u202e\ud800\U000e0041") == "\\x1b[31m\\x9b\\u202e\\ud800\\U000e0041"


def test_one_line_is_cut_to_its_width() -> None:
    assert one_line("a\n b\t c") == "a b c"
    assert one_line("abcdefgh", 6) == "abc..."


def test_tables_align_and_leave_no_blanks_at_the_end() -> None:
    assert table([["a", "bbb", "c"], ["aaaa", "b", ""]]) == "a     bbb  c\naaaa  b"
    assert pairs({"one": 1, "none": None, "zero": 0}) == "one   1\nzero  0"
