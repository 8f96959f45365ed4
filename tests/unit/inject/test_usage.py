"""What an answer used of the memories that it was shown."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mnemic.inject.answer_mentions import Mention, mention
from mnemic.inject.citation_check import UsageAudit, Verdict, is_concise, is_in_language, mentions_value
from mnemic.inject.paraphrased_use import LIKELY_FROM, certainty_of_use
from mnemic.language.text.inflect import same_word
from mnemic.providers.minilm import MiniLmEmbedder
from mnemic.types import Actor, Hit, Kind, Memory
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)
NOW = datetime(2026, 3, 4, tzinfo=UTC)
PUBLISHED_SAMPLE = (
    "Incident update: On 2026-03-04, the US payment gateway is in a P1 degraded state. Failed payment rate is 3.4% "
    "with 5 chargeback alerts, ETA 45 minutes. Next actions: monitor gateway performance and send customer updates "
    "via email."
)


def memory(value: str, key: str = "update_channel") -> Memory:
    return Memory(
        memory_id="m",
        kind=Kind.LONG_TERM,
        scope=Actor(user="u").scope("user"),
        key=key,
        content=value,
        created_at=NOW,
        updated_at=NOW,
    )


def test_a_value_is_mentioned_as_whole_words_and_not_negated() -> None:
    EXAMPLES.assert_right(
        lambda value, answer: mentions_value(memory(value), answer),
        "a_value_is_mentioned_as_whole_words_and_not_negated",
    )


def test_the_published_sample_answer_is_concise_and_english() -> None:
    assert is_concise(memory("concise", "response_style"), PUBLISHED_SAMPLE) is Verdict.VERIFIED
    assert is_in_language(memory("english", "language"), PUBLISHED_SAMPLE) is Verdict.VERIFIED


def test_a_long_answer_is_not_concise_in_any_script() -> None:
    assert is_concise(memory("concise"), "word " * 81) is Verdict.REFUTED
    assert is_concise(memory("concise"), "这" * 10_000) is Verdict.REFUTED
    assert is_concise(memory("concise"), "One. Two. Three. Four.") is Verdict.REFUTED
    assert is_concise(memory("formal"), "word") is Verdict.UNVERIFIABLE


def test_the_wrong_language_is_refuted_and_an_unknown_one_left_open() -> None:
    assert is_in_language(memory("german"), PUBLISHED_SAMPLE) is Verdict.REFUTED
    assert is_in_language(memory("es"), "El sistema de pagos está degradado en la región.") is Verdict.VERIFIED
    assert is_in_language(memory("klingon"), PUBLISHED_SAMPLE) is Verdict.UNVERIFIABLE
    assert is_in_language(memory("english"), "12345") is Verdict.UNVERIFIABLE


def test_without_a_verifier_nothing_is_claimed() -> None:
    hit = Hit(memory=memory("email"), score=1.0)
    assert UsageAudit().judge(hit, None, "email") is Verdict.UNVERIFIABLE
    assert UsageAudit().judge(hit, "contains", "Sent by email.") is Verdict.VERIFIED


def test_an_application_registers_its_own_verifier() -> None:
    audit = UsageAudit({"shouting": lambda memory, answer: Verdict.VERIFIED if answer.isupper() else Verdict.REFUTED})
    hit = Hit(memory=memory("loud", "tone"), score=1.0)
    assert audit.judge(hit, "shouting", "HELLO") is Verdict.VERIFIED
    assert audit.judge(hit, "shouting", "hello") is Verdict.REFUTED


def test_an_honest_answer_says_the_value() -> None:
    EXAMPLES.assert_right(
        lambda value, answer: mention(value, answer) is Mention.SAID, "an_honest_answer_says_the_value"
    )


def test_what_is_turned_down_or_absent_is_not_said() -> None:
    EXAMPLES.assert_right(
        lambda value, answer: mention(value, answer) is not Mention.SAID, "what_is_turned_down_or_absent_is_not_said"
    )


def test_two_negations_leave_it_open() -> None:
    assert mention("email", "I cannot send it without email.") is Mention.OPEN
    assert mention("email", "I do not think that we should really use email.") is Mention.OPEN


def test_what_follows_may_turn_it_down() -> None:
    EXAMPLES.assert_right(lambda answer: mention("email", answer), "what_follows_may_turn_it_down")


def test_a_value_is_not_found_over_the_end_of_a_sentence() -> None:
    assert mention("aisle seat", "It is on the aisle. Seats are free.") is Mention.ABSENT
    assert mention("東京", "大阪で行います。") is Mention.ABSENT


def test_forms_of_one_word() -> None:
    EXAMPLES.assert_right(same_word, "forms_of_one_word")


def test_what_is_excepted_or_missing_or_only_told_back() -> None:
    EXAMPLES.assert_right(mention, "what_is_excepted_or_missing_or_only_told_back")


def test_what_may_be_the_value_is_left_open() -> None:
    EXAMPLES.assert_right(mention, "what_may_be_the_value_is_left_open")


EMBEDDER = MiniLmEmbedder()


@pytest.mark.parametrize(
    ("memory", "question", "used", "unused"),
    [
        (
            "My sister Ada bakes for a living.",
            "Where do we order the cake?",
            "Ask your sister: Ada bakes for a living, after all.",
            "The shop at the station has a good one.",
        ),
        (
            "I can't eat prawns.",
            "What shall I order here?",
            "The risotto, as there are no prawns in it that you can't eat.",
            "The risotto, it is the best in town.",
        ),
        (
            "I practise the trumpet on Thursday evenings.",
            "When can the guests come?",
            "Any evening but Thursday, when you practise the trumpet.",
            "At eight, most people are free then.",
        ),
    ],
)
async def test_an_answer_that_takes_up_a_memory_is_told_from_one_that_does_not(
    memory: str, question: str, used: str, unused: str
) -> None:
    (likely,) = await certainty_of_use([memory], question, used, EMBEDDER)
    (unlikely,) = await certainty_of_use([memory], question, unused, EMBEDDER)
    assert unlikely < LIKELY_FROM <= likely < 1


@pytest.mark.parametrize(
    ("used", "question", "answer"),
    [
        (
            "Noor has taken up pottery and loves it.",
            "Gift idea for my wife?",
            "A good set of trimming tools and a bag of stoneware clay would make her happy at the wheel.",
        ),
        (
            "I haven't eaten meat since I was nineteen.",
            "Suggest a main course for Saturday's dinner.",
            "How about a wild mushroom risotto? There is nothing in it that comes from an animal but cheese.",
        ),
        (
            "I've been on warfarin since my clot.",
            "Can I take ibuprofen for this headache?",
            "Better not: together with a blood thinner it raises the risk of bleeding.",
        ),
    ],
)
async def test_a_use_that_shares_no_word_with_its_memory_is_likely_and_what_stood_beside_it_is_not(
    used: str, question: str, answer: str
) -> None:
    beside = ["My flat is on the fourth floor.", "I learn Spanish on Tuesdays."]
    (likely,) = await certainty_of_use([used], question, answer, EMBEDDER, beside=beside)
    unlikely = await certainty_of_use(beside, question, answer, EMBEDDER, beside=[used])
    assert max(unlikely) < LIKELY_FROM <= likely < 1


async def test_the_default_model_says_nothing_of_an_answer_in_another_language() -> None:
    question, answer = "Wie lange kocht man Reis?", "Etwa zwölf Minuten bei kleiner Hitze, dann zugedeckt ruhen lassen."
    (found,) = await certainty_of_use(["Ich esse gern asiatisch."], question, answer, EMBEDDER)
    assert found < LIKELY_FROM


async def test_words_of_the_question_are_no_sign_of_a_use() -> None:
    question = "Do you know a quiet hotel in Ghent?"
    (found,) = await certainty_of_use(["I like a quiet hotel."], question, "A quiet hotel? The Harmony.", EMBEDDER)
    assert found < LIKELY_FROM


async def test_an_answer_without_a_sentence_is_weighed_too() -> None:
    assert len(await certainty_of_use(["I like tea.", "I like rain."], "?", "-", EMBEDDER)) == 2
