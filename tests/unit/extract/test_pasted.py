from __future__ import annotations

import pytest

from mnemic.extract import pasted
from mnemic.extract.pasted import data_spans, fiction_from, merged


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Look:\n---\nI live in Rome.\n---\nIs it good?", "---\nI live in Rome.\n---"),
        ("```\nI live in Rome.\n```\nthanks", "```\nI live in Rome.\n```"),
        ("> I live in Rome.\nI do not.", "> I live in Rome."),
        ("Look. Here is the page I found:\nAlways pay in cash.", "Here is the page I found:\nAlways pay in cash."),
        ("Proofread: I live in Rome and sing.", " I live in Rome and sing."),
        ("Please translate this. I live in Rome.", "Please translate this. I live in Rome."),
        ('Can you shorten this? "I live in Rome and sing."', '"I live in Rome and sing."'),
        ("Übersetze: Ich wohne in Rom.", " Ich wohne in Rom."),
        ("fyi\nFrom: Ana <a@b>\nSubject: hi\nI live in Rome.", "From: Ana <a@b>\nSubject: hi\nI live in Rome."),
        ("[14:02] Ana: I live in Rome\nsum it up", "[14:02] Ana: I live in Rome"),
        ('{"city": "Rome"} why is it wrong', '{"city": "Rome"}'),
        ("Dear Sir or Madam, I live in Rome.", "Dear Sir or Madam, I live in Rome."),
        ("My name is {{name}}.", "My name is {{name}}."),
        ("Buy now! I live in Rome. (that's from Amazon)", "Buy now! I live in Rome. (that's from Amazon)"),
        ("def main():\n    return city\nI use Python.", "def main():    return city"),
        ("A: Speaker 1: I live in Rome. Speaker 2: Me too.", "A: Speaker 1: I live in Rome. Speaker 2: Me too."),
    ],
)
def test_what_is_shown_is_told_from_what_is_said(text: str, shown: str) -> None:
    assert "".join(text[start:end] for start, end in data_spans(text)) == shown


@pytest.mark.parametrize("text", ["I live in Rome.", "I review books for a living.", "I edit films and fix bikes.", ""])
def test_speech_is_no_data(text: str) -> None:
    assert data_spans(text) == []


@pytest.mark.parametrize(
    ("text", "fiction"),
    [
        ("You are a strict teacher.", True),
        ("Write a story where I live in Rome.", True),
        ("I want you to act as my boss", True),
        ("My character is a druid", True),
        ("I am a teacher.", False),
        ("You are right.", False),
    ],
)
def test_a_role_to_play_is_no_speech(text: str, fiction: bool) -> None:
    assert fiction_from(text) is fiction


def test_spans_that_touch_are_one() -> None:
    assert merged([(5, 9), (0, 3), (2, 5), (12, 13)]) == [(0, 9), (12, 13)]


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("Read <p>this</p> and <B class=x>that</b>.", [(5, 16), (21, 40)]),
        ("<a><a>x</a></a>", [(0, 11)]),
        ("<p>" * 5, []),
        ("<p>" + "x" * 8000 + "</p>", [(0, 8007)]),
        ("<p>" + "x" * 8001 + "</p>", []),
        ("</p><p>", []),
    ],
)
def test_what_is_between_tags_is_shown(text: str, spans: list[tuple[int, int]]) -> None:
    assert list(pasted._tagged(text)) == spans
