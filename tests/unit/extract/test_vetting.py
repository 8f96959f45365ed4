from __future__ import annotations

import pytest

from mnemic.extract.grounding import ground
from mnemic.extract.vetting import veto
from mnemic.policy.rules import Policy
from mnemic.types import Candidate, Message, Source


def vetoed(text: str, key: str | None, value: str, quote: str | None) -> str | None:
    message = Message(role="user", content=text)
    grounded = ground(Candidate(content=value, key=key, source=Source(quote=quote)), message)
    return "unsupported" if grounded is None else veto(grounded, message, Policy())


@pytest.mark.parametrize(
    ("text", "key", "value", "quote", "reason"),
    [
        ("I like tea.", "salary", "100k", "I like tea", "unsupported"),
        ("Find me a train to Lyon.", "destination", "Lyon", "Find me a train to Lyon", "transient"),
        ("Am I allergic to kiwi?", "allergies", "kiwi", "Am I allergic to kiwi", "transient"),
        ("If I lived in Oslo I would ski.", "home_city", "Oslo", "If I lived in Oslo", "hypothetical"),
        ("My friend Lea says she hates jazz.", "music", "jazz", "says she hates jazz", "quoted"),
        ("I never fly with Delta.", "airline", "Delta", "I never fly with Delta", "negated"),
        ("I am not vegan.", "diet", "vegan", "I am not vegan", "negated"),
        ("My husband is a baker.", "job", "baker", "My husband is a baker", "third_party"),
        ("I used to live in Turin.", "home_city", "Turin", "I used to live in Turin", "past"),
        ("Translate: I live in Turin.", "home_city", "Turin", "I live in Turin", "quoted"),
    ],
)
def test_what_the_words_do_not_claim_is_vetoed(text: str, key: str, value: str, quote: str, reason: str) -> None:
    assert vetoed(text, key, value, quote) == reason


@pytest.mark.parametrize(
    ("text", "key", "value", "quote"),
    [
        ("I live in Turin.", "home_city", "Turin", "I live in Turin"),
        ("My husband is a baker.", "husband_job", "baker", "My husband is a baker"),
        ("I don't eat pork.", "dislikes", "pork", "I don't eat pork"),
        ("I never fly with Delta.", "airline", "never Delta", "I never fly with Delta"),
        ("Please keep your answers short from now on.", "answer_length", "short", "keep your answers short"),
        ("I work as a nurse, remember that!", "job", "nurse", "I work as a nurse"),
        ("I used to live in Turin.", "former_city", "Turin", "I used to live in Turin"),
    ],
)
def test_what_the_words_claim_is_kept(text: str, key: str, value: str, quote: str) -> None:
    assert vetoed(text, key, value, quote) is None
