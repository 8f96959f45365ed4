"""The estimate of tokens is an upper one: against figures of the o200k and cl100k vocabularies."""

from __future__ import annotations

import pytest

from mnemic.inject.token_count import estimated_tokens

COUNTED = [
    ("I prefer aisle seats and morning flights.", 8),
    ("My sister Hana lives in Sapporo and is allergic to peanuts.", 15),
    ("Order 7781-AB-99 of 2026-03-12, 1,299.00 EUR, tracking 1Z999AA10123456784.", 36),
    ("Orders: 48213377, 48213378, 48213379, 48213380, 48213381, 48213382, 48213383.", 37),
    ("5c96fb17-42f4-15c7-d3ed-68d41b3fb630", 24),
    ("389f2f770409cac3bed20c573d4be14812eec8ec", 21),
    ("bf:09:b1:30:d8:5b", 12),
    ("2024-01-14T19:09:00+02:00, 10.7.2030, 7 Mar 2026, 18:28", 36),
    ("$892.05, €5.616,75, 3,707.50 USD, -45.9%", 25),
    ("https://example.com/a/b?order=8271&ref=Zk3", 17),
    ("Ich wohne seit März in Köln und fahre mit dem Fahrrad zur Arbeit.", 22),
    ("Je préfère les sièges côté couloir.", 12),
    ("Я живу в Санкт-Петербурге и не ем мясо.", 26),
    ("أنا أعيش في القاهرة وأحب القهوة.", 24),
    ("मैं दिल्ली में रहता हूँ और शाकाहारी हूँ।", 43),
    ("私は大阪に住んでいて、窓側の席が好きです。", 25),
    ("我住在上海，对花生过敏。", 15),
    ("저는 부산에 살고 채식주의자입니다.", 19),
    ("😀👍🏽🎉👨‍👩‍👧‍👦 ok", 30),
    ('{"key": "seat", "value": "aisle", "scope": "user", "confidence": 0.8}', 27),
    ("snake_case_name and CamelCaseName, NASA, HTTPServerError", 13),
    ("[\"`|<%<'!|:*]:},=.#%,[|+@*/&}~='[~|;[<", 29),
    ("   indented\n\n\n  lines\t\twith tabs", 9),
]
"""Texts, and the tokens that OpenAI's vocabularies make of them; of the two, the larger figure."""


@pytest.mark.parametrize(("text", "tokens"), COUNTED)
def test_no_text_costs_more_than_its_estimate(text: str, tokens: int) -> None:
    assert tokens <= estimated_tokens(text) <= 3 * tokens


def test_prose_is_not_priced_like_random_letters() -> None:
    assert estimated_tokens("the information about the weather in the mountains") <= 12
    assert estimated_tokens("xqvbk zzkqw jxvqp") >= 12


def test_nothing_costs_nothing() -> None:
    assert estimated_tokens("") == 0
    assert estimated_tokens(" ") == 0


@pytest.mark.parametrize(("text", "least"), [("٣٤٥", 3), ("龘", 3), ("的", 1), ("\ud800", 3), ("ᚠ", 3)])
def test_what_is_rare_costs_up_to_its_bytes(text: str, least: int) -> None:
    assert estimated_tokens(text) >= least
