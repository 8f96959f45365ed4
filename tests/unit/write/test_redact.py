"""Step 2: markers that prove themselves, idempotence, policy, and every field."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.stores.inprocess import InProcessStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Outcome, Source
from mnemic.write.pipeline import MemoryWritePipeline
from mnemic.write.redact import MARKER, Action, Redactor, marker

SECRET, OTHER = b"k" * 32, b"o" * 32
REDACTOR = Redactor()
CANARY = "canary.jane@acme-mail.com"

PIECES = "jane@acme.com 555-123-4567 123-45-6789 password= hunter2 10.9.8.7 +1 [EMAIL# ] # - . @ x é"
LONGER = ["[EMAIL#a1b2c3d4e5f6]", "4111 1111 1111 1111", "00 00 ", "DE89370400440532013000", "token: ", "\ufdd0", " "]
pieces = st.sampled_from(PIECES.split() + LONGER)
texts = st.lists(pieces | st.text(max_size=4), max_size=12).map("".join)


def redact(text: str, secret: bytes = SECRET) -> str:
    return REDACTOR.redact(text, secret).text


@given(texts)
def test_twice_is_once(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@given(texts)
def test_every_marker_left_is_genuine(text: str) -> None:
    for match in MARKER.finditer(redact(text)):
        assert match.group() in redact(match.group())


def test_people_stay_distinct_and_themselves() -> None:
    one, two, again = (redact(f"write to {name}@acme.com") for name in ("ann", "bob", "ANN"))
    assert one != two
    assert one == again
    assert re.fullmatch(r"write to \[EMAIL#[0-9a-f]{12}\]", one)


def test_a_pseudonym_belongs_to_one_tenant() -> None:
    assert redact("jane@acme.com") != redact("jane@acme.com", OTHER)


@pytest.mark.parametrize("typed", ["[EMAIL#a1b2]", "[SSN#0123456789ab]", "[PERSON#zz]"])
def test_a_typed_look_alike_is_no_marker(typed: str) -> None:
    assert redact(f"see {typed}") == f"see ({typed[1:-1]})"


def test_a_marker_of_another_tenant_is_a_look_alike() -> None:
    foreign = marker("EMAIL", "jane@acme.com", OTHER)
    assert redact(foreign) == f"({foreign[1:-1]})"


def test_a_bare_name_is_left_alone() -> None:
    assert redact("field [SSN] of the form") == "field [SSN] of the form"


def test_offsets_survive_folding() -> None:
    assert re.fullmatch(r"ﬁrst \[EMAIL#\w+\] ﬂag", redact("ﬁrst ｊａｎｅ＠acme.com ﬂag"))


def test_numbers_next_to_each_other_leave_no_rest() -> None:
    assert not re.search(r"\d{3}", re.sub(MARKER, "", redact("4111 1111 1111 1111 555-123-4567, 123-45-6789 10.9.8.7")))


def test_what_a_replacement_uncovers_is_found_too() -> None:
    once = redact("x@acme.com555-123-4567")
    assert [match.group(1) for match in MARKER.finditer(once)] == ["EMAIL", "PHONE"]


ADVERSARIAL = [
    "a@",
    "@",
    "1 ",
    "1",
    "444 ",
    "4444 ",
    "DE89 ",
    "a:b::1 ",
    "10.0.0.1 ",
    "password ",
    "eyJaaaaaa.",
    "-",
    "://",
]
ADVERSARIAL += [
    "call ",
    "+1",
    "00 ",
    "555 123 ",
    "sk-",
    "[EMAIL#a1b2] ",
    "[A",
    "x@x.com ",
    "token is ",
    "-----BEGIN PRIVATE KEY----- ",
]


@pytest.mark.parametrize("unit", ADVERSARIAL)
def test_long_texts_end(unit: str) -> None:
    text = (unit * 65_536)[:65_536]
    once = redact(text)
    assert redact(once) == once


def test_policy_per_entity() -> None:
    redactor = Redactor(actions={"EMAIL": Action.ALLOW, "CARD": Action.BLOCK})
    done = redactor.redact("jane@acme.com pays with 4111 1111 1111 1111 from 10.9.8.7", SECRET)
    assert done.text.startswith("jane@acme.com pays")
    assert (done.replaced, done.blocked) == (("IP",), ("CARD",))


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
        + repr(blind.store._state.requests)
        + repr(receipt)
        + repr(blind.embedder.seen)
    )
    assert "canary" not in told
    assert "4111" not in told
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
    assert "acme" not in await pipeline.redacted("jane@acme.com", tenant="default")
