from __future__ import annotations

import pytest

from mnemic.extract.grounding import ground
from mnemic.extract.vetting import veto
from mnemic.policy.key_rules import Policy
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
        ("Vive à Rome mon frère.", "home_city", "Rome", "Vive à Rome mon frère", "third_party"),
        ("Vive a Roma mio fratello.", "home_city", "Roma", "Vive a Roma mio fratello", "third_party"),
        ("In Rom wohnt mein Bruder.", "home_city", "Rom", "In Rom wohnt mein Bruder", "third_party"),
        ("I used to live in Turin.", "home_city", "Turin", "I used to live in Turin", "past"),
        ("Translate: I live in Turin.", "home_city", "Turin", "I live in Turin", "quoted"),
        ('My boss: "I live in Bari."', "home_city", "Bari", "I live in Bari", "quoted"),
        ("I lived in Turin for ten years.", "home_city", "Turin", "I lived in Turin for ten years", "past"),
        ("J'habitais à Nice avant.", "home_city", "Nice", "J'habitais à Nice avant", "past"),
        ("Abitavo a Bari.", "home_city", "Bari", "Abitavo a Bari", "past"),
        ("Ich wohnte in Jena.", "home_city", "Jena", "Ich wohnte in Jena", "past"),
        ("J'aimerais vivre à Rome.", "home_city", "Rome", "J'aimerais vivre à Rome", "hypothetical"),
        ("Nehmen wir an, ich wohne in Rom.", "home_city", "Rom", "ich wohne in Rom", "hypothetical"),
        ("Stel dat ik in Gent woon.", "home_city", "Gent", "dat ik in Gent woon", "hypothetical"),
        (
            "I don't live in Oslo any more, I live in Bergen.",
            "home_city",
            "Oslo",
            "I don't live in Oslo any more",
            "past",
        ),
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
        ("I've lived in Turin since May.", "home_city", "Turin", "I've lived in Turin since May"),
        ("Ich wohne seit Mai in Bergen.", "home_city", "Bergen", "Ich wohne seit Mai in Bergen"),
        ("J'habite à Nice depuis mai.", "home_city", "Nice", "J'habite à Nice depuis mai"),
        ("Ich möchte immer am Gang sitzen.", "seat", "Gang", "Ich möchte immer am Gang sitzen"),
        ('My favourite song: "Imagine".', "favorite_song", "Imagine", 'My favourite song: "Imagine"'),
        ("Abito a Bari.", "home_city", "Bari", "Abito a Bari"),
        ("Vivo a Roma con mio fratello.", "home_city", "Roma", "Vivo a Roma con mio fratello"),
        ("Moro no Porto.", "home_city", "Porto", "Moro no Porto"),
        ("My budget is 500, not 400.", "budget", "500", "My budget is 500, not 400"),
        (
            "I don't live in Oslo, I live in Bergen.",
            "home_city",
            "Bergen",
            "I don't live in Oslo, I live in Bergen",
        ),
    ],
)
def test_what_the_words_claim_is_kept(text: str, key: str, value: str, quote: str) -> None:
    assert vetoed(text, key, value, quote) is None
