"""Step 2: no field of a candidate keeps what is personal, and policy says what becomes of it."""

from __future__ import annotations

from typing import Any

import pytest

from mnemic.errors import InvalidConfig, InvalidInput
from mnemic.policy.redaction_policy import MAX_REGIONS, RedactionRules
from mnemic.redact.replacement import marker
from mnemic.redact.search_primitives import Finder
from mnemic.redact.types import Action
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Candidate, Found, Outcome, Source
from mnemic.write.pipeline import MemoryWritePipeline
from mnemic.write.prepare import Redactor, redact, redact_value

SECRET = b"k" * 32
REDACTOR = Redactor()
CANARY = "canary.jane@acme-mail.com"


async def test_no_field_keeps_the_canary(blind: Any) -> None:
    receipt = await blind.add(
        f"write to {CANARY}",
        key=f"mail_{CANARY}",
        category=f"of {CANARY}",
        context=f"said about {CANARY}",
        data={CANARY: {"to": [CANARY]}, "card": 4111111111111111, "count": 12},
        source=Source(quote=f"it is {CANARY}", speaker=CANARY, ref=f"mailto:{CANARY}", span=(3, 9)),
        idempotency_key=CANARY,
    )
    memory = await blind.get(receipt.memory_id)
    told = repr([getattr(memory, name) for name in memory.__slots__])
    told += repr([getattr(memory.source, name) for name in memory.source.__slots__]) + repr(memory.data)
    told += (
        repr(await blind.store.audit("default"))
        + repr(await blind.store.requests("default"))
        + repr(receipt)
        + repr(blind.embedder.seen)
    )
    assert "canary" not in told
    assert "411111" not in told
    assert memory.data["count"] == 12
    assert memory.source.span == (3, 9)
    assert "EMAIL" in next(step.decision for step in receipt.steps if step.name == "redact")


async def test_the_embedder_and_the_hash_see_distinct_people(blind: Any) -> None:
    ann = await blind.add("My backup address is ann@acme.com")
    bob = await blind.add("My backup address is bob@acme.com")
    assert ann.memory_id != bob.memory_id
    assert bob.outcome is not Outcome.REFRESHED
    assert not any("@" in text for text in blind.embedder.seen)


async def test_a_blocked_entity_ends_the_write(blind: Any) -> None:
    pipeline = MemoryWritePipeline(
        blind.store, blind.embedder, blind.clock, redactor=Redactor(actions={"SSN": Action.BLOCK})
    )
    blind.pipeline = pipeline
    receipt = await blind.add("my ssn is 123-45-6789")
    assert (receipt.outcome, receipt.reason, receipt.memory_id) == (Outcome.BLOCKED, "pii_blocked:SSN", None)
    assert await blind.all() == []
    assert blind.embedder.seen == []


async def test_a_log_line_is_redacted() -> None:
    store = InProcessStore()
    pipeline = MemoryWritePipeline(store, None, None)  # type: ignore[arg-type]
    await store.open(WordEmbedder().space)
    assert "acme" not in await pipeline.redact_text("jane@acme.com", tenant="default")


def test_a_policy_chooses_regions_actions_and_further_detectors() -> None:
    cats = Finder("CAT", (lambda text: (Found(at, at + 3, "cat") for at in [text.find("Tom")] if at >= 0),))
    rules = RedactionRules(actions={"CAT": "block", "EMAIL": "allow"}, detectors=(cats,), regions=("IN",))
    done = Redactor.under(rules).redact("Tom writes to jane@acme.com from 98765 43210", SECRET)
    assert (done.blocked, done.replaced) == (("CAT",), ("PHONE",))
    assert "jane@acme.com" in done.text
    with pytest.raises(InvalidConfig) as wrong:
        Redactor.under(RedactionRules(actions={"DOG": "block"}))
    assert wrong.value.reason == "invalid_config:redaction.entities"
    assert "CARD, DRIVING_LICENCE, EMAIL" in (wrong.value.hint or ""), "it says what is found here"
    assert Redactor.under(RedactionRules(actions={"EMAIL": "tokenise"})).tokenises
    assert not Redactor.under(rules).tokenises


# -- data --------------------------------------------------------------------------------------------------------------


def test_data_is_looked_through_and_what_is_clean_stays_what_it_is() -> None:
    value = {"a": ["jane@acme.com", 7, None, True, 1.5], "jane@acme.com": {"card": 4111111111111111}, "n": 100_000_000}
    mail, card = marker("EMAIL", "jane@acme.com", SECRET), marker("CARD", "4111111111111111", SECRET)
    assert redact_value(value, REDACTOR, SECRET) == {
        "a": [mail, 7, None, True, 1.5],
        mail: {"card": card},
        "n": 100_000_000,
    }
    assert redact_value(-4111111111111111, REDACTOR, SECRET) != -4111111111111111
    clean = Candidate(content="tea", key="drink", data={"n": 123_456_789, "yes": True})
    done = redact(clean, REDACTOR, SECRET)
    assert (done.candidate, done.found) == (clean, False)


def test_a_candidate_is_looked_through_field_by_field() -> None:
    mail = marker("EMAIL", "jane@acme.com", SECRET)
    found = {"content", "category", "context"}
    for name in found:
        candidate = Candidate(**({"content": "tea"} | {name: "to jane@acme.com"}))
        done = redact(candidate, REDACTOR, SECRET)
        assert (getattr(done.candidate, name), done.found) == (f"to {mail}", True)
    for name in ("quote", "speaker", "ref"):
        source = Source(**{name: "jane@acme.com"}, session="s", span=(1, 2))
        done = redact(Candidate(content="tea", source=source), REDACTOR, SECRET).candidate
        assert (getattr(done.source, name), done.source.session, done.source.span) == (mail, "s", (1, 2))
    keyed = redact(Candidate(content="tea", key="Mail of jane@acme.com"), REDACTOR, SECRET).candidate
    assert keyed.key == f"Mail of {mail}"
    blocked = Redactor(actions={"EMAIL": Action.BLOCK})
    assert redact(Candidate(content="jane@acme.com"), blocked, SECRET).found


async def test_the_step_says_what_it_found_and_measures_what_it_made(blind: Any) -> None:
    told = await blind.add("ann@acme.com and bob@acme.com at 10.9.8.7", context="call +44 20 7946 0958")
    assert [step.decision for step in told.steps if step.name == "redact"] == ["EMAIL:2 IP:1 PHONE:1"]
    clean = await blind.add("Likes tea")
    assert [step.decision for step in clean.steps if step.name == "redact"] == ["clean"]
    longest = "a " * 4_092 + "x@y.co"
    for fields in ({"content": longest}, {"content": "tea", "context": longest}):
        with pytest.raises(InvalidInput) as refused:  # a marker is longer than what it stands for
            await blind.add(**fields)
        assert refused.value.reason == f"invalid_input:{[*fields][-1]}:too_long"


@pytest.mark.parametrize("regions", [("XX",), ("de",), ("Germany",), ("DE",) * (MAX_REGIONS + 1)])
def test_a_region_without_a_plan_is_refused(regions: tuple[str, ...]) -> None:
    with pytest.raises(InvalidConfig) as refused:
        Redactor.under(RedactionRules(regions=regions))
    assert refused.value.reason == "invalid_config:redaction.regions"


def test_a_text_that_uncovers_ever_more_is_refused() -> None:
    def first(text: str) -> Any:
        return [Found(at, at + 1, one) for at, one in enumerate(text) if one == "x"][:1]

    redactor = Redactor([Finder("PEEL", (first,))])
    assert redactor.redact("x" * 4, SECRET).replaced == ("PEEL",) * 4
    with pytest.raises(InvalidInput) as refused:
        redactor.redact("x" * 5, SECRET)
    assert refused.value.reason == "invalid_input:redaction"
