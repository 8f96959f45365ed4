"""The audit of use: what an answer proves of a memory, refutes, or leaves open."""

from __future__ import annotations

from datetime import UTC, datetime

from mnemic.inject.citation_check import UsageAudit, Verdict, is_concise, is_in_language, mentions_value
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
