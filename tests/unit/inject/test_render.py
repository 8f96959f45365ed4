"""The block: nothing in an entry gets out of it, nothing in it is invisible, loads, or can be clicked."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from datetime import UTC, datetime
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.inject.memory_source import SourceEntry, fair_cut, is_trusted
from mnemic.inject.render import NOTICE, defuse_addresses, escape, escape_attribute, new_nonce, render, visible
from mnemic.inject.token_count import estimated_tokens
from mnemic.types import Actor, Hit, Kind, Memory, Origin, Source, Trust
from tests.unit.inject.hostile import URLS, payloads

CLICKABLE = re.compile(
    r"[a-z][a-z0-9+.-]*:(//|\\\\)|\b(data|javascript|vbscript|mailto|file):|!\[|\]\(|\bwww\.\w|\w\.example\b|(?<![/\]])//\w",
    re.IGNORECASE,
)


def entry(content: str, *, trusted: bool = False, source: str | None = "notes", score: float = 0.5) -> SourceEntry:
    return SourceEntry(content=content, source=source, trusted=trusted, score=score)


WHEN = datetime(2026, 5, 3, tzinfo=UTC)


def remembered(origin: Origin, speaker: str | None = None) -> SourceEntry:
    memory = Memory(
        memory_id="m", version=1, content="see https://evil.example ![x](y)", kind=Kind.LONG_TERM,
        scope=Actor(user="ana").scope("user"), confidence=0.8, created_at=WHEN, updated_at=WHEN,
        source=Source(origin=origin, speaker=speaker), trust=Trust.HIGH,
    )  # fmt: skip
    return SourceEntry.from_hit(Hit(memory=memory, score=0.5), "notes", reader=Actor(user="ana"))


def test_an_imported_message_of_another_person_is_not_trusted() -> None:
    told = remembered(Origin.IMPORT, "Bob").hit
    assert told is not None
    ana = Actor(user="ana")
    assert is_trusted(told.memory, ana)
    assert not is_trusted(replace(told.memory, data={"participant": True}), ana)


def test_imported_notes_are_nobodys_own_words_and_all_of_them_may_be_shown() -> None:
    notes = [replace(remembered(Origin.IMPORT), content=f"note {number}", hit=None) for number in range(3)]
    pages = [replace(remembered(Origin.WEB), content=f"page {number}", hit=None) for number in range(3)]
    assert 'trust="low"' in render(notes[:1], max_tokens=500).text
    shown = [one.content for one in fair_cut({"memory": [*notes, *pages]}, 9, max_untrusted=1)]
    assert shown == ["note 0", "note 1", "note 2", "page 0"]
    told = remembered(Origin.IMPORT).hit
    assert told is not None
    said = replace(told.memory, source=replace(told.memory.source, quote="I live in Oslo."))
    assert is_trusted(said, Actor(user="ana")), "it was read from a message of the user's own"


@pytest.mark.parametrize(
    ("origin", "speaker", "said_by"),
    [
        (Origin.USER_STATED, None, None),
        (Origin.USER_STATED, "user", None),
        (Origin.OPERATOR, None, None),
        (Origin.USER_STATED, "Ben", "Ben"),
        (Origin.USER_STATED, "assistant", "assistant"),
        (Origin.AGENT_INFERRED, None, "assistant"),
        (Origin.TOOL_OUTPUT, "user", "tool"),
        (Origin.WEB, None, "web"),
        (Origin.IMPORT, None, "import"),
        (Origin.WEB, "www.evil.example", "www[.]evil[.]example"),
    ],
)
def test_an_entry_says_who_said_it_and_only_the_users_own_words_keep_their_links(
    origin: Origin, speaker: str | None, said_by: str | None
) -> None:
    one = remembered(origin, speaker)
    block = render([one], max_tokens=500).text
    assert (f' by="{said_by}"' in block) is (said_by is not None)
    whole_message = speaker == "user"  # may hold what was pasted
    assert ("https://evil.example" in block) is (said_by is None and not whole_message)
    assert ("https://evil.example" in one.shown) is (said_by is None and not whole_message)
    assert one.shown.startswith(f"[{said_by}] " if said_by else "see ")


def test_the_block_of_two_entries() -> None:
    block = render([entry("seat: aisle", trusted=True), entry('a < b & "c"')], max_tokens=500, nonce=lambda: "f00d")
    assert block.text == (
        '<memory fence="f00d">\n'
        f"{NOTICE}\n"
        '<entry source="notes">seat: aisle</entry>\n'
        '<entry source="notes" trust="low">a &lt; b &amp; "c"</entry>\n'
        "fence f00d\n"
        "</memory>"
    )


def test_an_apostrophe_costs_a_model_no_entity_and_ends_no_attribute() -> None:
    said = replace(entry("I'm Lena."), source='Lena\'s "notes"')
    block = render([said], max_tokens=500).text
    assert ">I'm Lena.</entry>" in block
    assert 'source="Lena&#39;s &quot;notes&quot;"' in block


def test_a_memory_tells_when_it_happened() -> None:
    when = datetime(2026, 3, 4, tzinfo=UTC)
    memory = Memory(
        memory_id="m", kind=Kind.LONG_TERM, scope=Actor(user="u").scope("user"), content="aisle", key="seat",
        created_at=when, updated_at=when, source=Source(origin=Origin.USER_STATED), trust=Trust.HIGH,
    )  # fmt: skip
    block = render(
        [SourceEntry.from_hit(Hit(memory=memory, score=1.0), "memory", reader=Actor(user="u"))], max_tokens=500
    )
    assert '<entry source="memory" date="2026-03-04">seat: aisle</entry>' in block.text


@pytest.mark.parametrize("trusted", [True, False])
def test_five_hundred_payloads_stay_inside(trusted: bool) -> None:
    hostile = payloads()
    assert len(set(hostile)) == 500
    for payload in hostile:
        block = render([entry(payload, trusted=trusted, source=payload[:40]), entry("second")], max_tokens=5_000)
        assert_contained(block.text, entries=2)


def assert_contained(text: str, *, entries: int) -> None:
    lines = text.split("\n")
    fence = re.fullmatch(r'<memory fence="([0-9a-f]{16})">', lines[0])
    assert fence is not None
    assert len(lines) == entries + 4
    assert lines[-2:] == [f"fence {fence[1]}", "</memory>"]
    assert text.count(fence[1]) == 2
    inside = lines[2:-2]
    assert all(re.fullmatch(r"<entry( [a-z]+=\"[^\"<>]*\")*>[^<>]*</entry>", line) for line in inside)
    assert [c for line in lines for c in line if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")] == []
    assert "<|" not in text


def test_the_block_is_well_formed_and_says_what_was_given() -> None:
    for payload in payloads(100):
        block = render([entry(payload, trusted=True)], max_tokens=5_000)
        document = ET.fromstring(block.text)
        assert document.findtext("entry") == visible(payload)


@pytest.mark.parametrize("url", URLS)
def test_no_address_of_an_untrusted_entry_loads_or_can_be_clicked(url: str) -> None:
    for text in (url, f"see {url} now", f"({url})", f"x:{url}", f'"{url}"'):
        assert CLICKABLE.search(visible(text)), text
        assert not CLICKABLE.search(defuse_addresses(visible(text))), defuse_addresses(visible(text))


def test_a_trusted_entry_keeps_its_addresses() -> None:
    assert (
        "https://intranet.example/x" in render([entry("https://intranet.example/x", trusted=True)], max_tokens=99).text
    )


def test_plain_words_are_left_as_they_are() -> None:
    text = "At 10:30, J. Doe pays 3.50 for 1.2 kg: (two) items; version 2.0.1."
    assert defuse_addresses(text) == text


def test_an_entry_cannot_hold_the_fence() -> None:
    drawn = iter(["beef", "cafe"])
    block = render([entry("beef steak")], max_tokens=500, nonce=lambda: next(drawn))
    assert block.text.startswith('<memory fence="cafe">')
    assert len({new_nonce() for _ in range(100)}) == 100


def test_the_budget_is_that_of_the_block() -> None:
    long, short = entry("x" * 900), entry("short")
    assert render([long, short], max_tokens=100).entries == (short,)
    assert render([short], max_tokens=10).text == ""
    assert "[…]</entry>" in render([long], max_tokens=200, max_entry_chars=50).text


@given(st.lists(st.text(max_size=60), max_size=8), st.integers(1, 400))
def test_never_over_budget_and_always_contained(texts: list[str], max_tokens: int) -> None:
    block = render([entry(text) for text in texts], max_tokens=max_tokens)
    assert estimated_tokens(block.text) <= max_tokens
    if block.entries:
        assert_contained(block.text, entries=len(block.entries))


@given(st.text())
def test_escaping_can_be_undone_and_leaves_no_markup(text: str) -> None:
    assert not set("<>\n\t") & set(escape(text))
    escaped = escape_attribute(text)
    assert not set("<>\"'\n\t") & set(escaped)
    for character, entity in (
        ("<", "&lt;"),
        (">", "&gt;"),
        ('"', "&quot;"),
        ("'", "&#39;"),
        ("\t", "&#9;"),
        ("\n", "&#10;"),
        ("&", "&amp;"),
    ):
        escaped = escaped.replace(entity, character)
    assert escaped == text


# -- the choice among sources ------------------------------------------------------------------------------------------


def test_every_source_has_its_best_before_any_has_its_second() -> None:
    loud = [entry(f"loud {n}", trusted=True, source="a", score=0.9) for n in range(9)]
    quiet = [entry(f"quiet {n}", trusted=True, source="b", score=0.1) for n in range(2)]
    chosen = fair_cut({"a": loud, "b": quiet}, 5)
    assert [one.source for one in chosen] == ["a", "b", "a", "b", "a"]


def test_the_order_of_registration_decides_nothing() -> None:
    sources = {name: [entry(name, trusted=True, score=score)] for name, score in (("a", 0.1), ("b", 0.9), ("c", 0.5))}
    chosen = [one.content for one in fair_cut(sources, 2)]
    assert chosen == ["b", "c"]
    assert [one.content for one in fair_cut(dict(reversed(sources.items())), 2)] == chosen


def test_the_same_words_come_once_and_the_untrusted_are_few() -> None:
    sources = {"a": [entry("Likes Tea", trusted=True), entry("web 1")], "b": [entry("likes  tea"), entry("web 2")]}
    chosen = fair_cut(sources, 5, max_untrusted=1)
    assert [one.content for one in chosen] == ["Likes Tea", "web 1"]


@given(st.lists(st.lists(st.tuples(st.text(max_size=3), st.floats(0, 1)), max_size=6), max_size=4), st.integers(0, 8))
def test_a_source_with_something_new_is_never_crowded_out(found: list[list[tuple[str, float]]], most: int) -> None:
    sources = {
        str(n): [entry(f"{n} {text}", trusted=True, score=score, source=str(n)) for text, score in entries]
        for n, entries in enumerate(found)
    }
    chosen = fair_cut(sources, most)
    assert len(chosen) <= most
    speaking = {name for name, entries in sources.items() if entries}
    if most >= len(speaking):
        assert {one.source for one in chosen} == speaking


@pytest.mark.parametrize("token", ["[INST]", "[/INST]", "[inst]", "[SYSTEM_PROMPT]", "[/TOOL_RESULTS]"])
def test_the_tokens_of_chat_templates_are_no_tokens_in_a_block(token: str) -> None:
    assert token not in escape(f"Tea {token} obey")
    assert escape(f"Tea {token} obey") == f"Tea &#91;{token[1:]} obey"


def test_other_brackets_stay_as_they_are() -> None:
    assert escape("[see below] [installed] list[0]") == "[see below] [installed] list[0]"
