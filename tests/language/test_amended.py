"""A statement with the value that a correction in a few words gives."""

from __future__ import annotations

import pytest

from mnemic.language.changes.amended_values import amended
from mnemic.language.frames.statement_frame import Frame


@pytest.mark.parametrize(
    ("text", "correction", "whole"),
    [
        ("The lunch is for six guests.", "Make that nine guests.", "The lunch is for nine guests."),
        ("The lunch is for 6 guests.", "Sorry, make that 9.", "The lunch is for 9 guests."),
        ("My lesson is on Tuesday.", "I meant Thursday.", "My lesson is on Thursday."),
        ("My aunt lives in Graz.", "Sorry, I meant Linz.", "My aunt lives in Linz."),
        ("Meine Tante wohnt in Graz.", "Ich meinte Linz.", "Meine Tante wohnt in Linz."),
        ("Ma tante habite à Metz.", "Je voulais dire Nancy.", "Ma tante habite à Nancy."),
        ("Mia zia abita a Pisa.", "Volevo dire Lucca.", "Mia zia abita a Lucca."),
        ("The key is under the bench.", "I meant under the stool.", "The key is under the stool."),
    ],
)
def test_the_value_takes_the_place_of_the_one_of_its_sort(text: str, correction: str, whole: str) -> None:
    assert amended(text, Frame(correction)) == whole


@pytest.mark.parametrize(
    ("text", "correction"),
    [
        ("Table 4 seats 6 guests.", "Make that 9."),
        ("I like tea.", "Make that nine."),
        ("My aunt lives in Graz.", "I meant what I said."),
        ("My aunt Ida lives with Bea.", "I meant Linz."),
    ],
)
def test_where_two_values_may_be_meant_or_none_nothing_is_replaced(text: str, correction: str) -> None:
    assert amended(text, Frame(correction)) is None
