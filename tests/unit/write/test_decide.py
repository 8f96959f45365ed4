"""What is told is kept: only evidence about a known thing ends it. Every text has one vector here, so words decide."""

from __future__ import annotations

from array import array
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mnemic.policy.key_rules import KeyRule, Policy
from mnemic.types import Actor, Candidate, Kind, Memory, Origin, Outcome, Source, Status
from mnemic.write.decide import by_key, check_proposed, pending, refresh, superseded_fields
from mnemic.write.draft import Draft, WriteRules

SESSION = Source(session="s1")


async def told(desk: Any, *texts: str, **fields: Any) -> list[str]:
    """The live contents after these statements, in order."""
    for text in texts:
        await desk.add(text, **fields)
    return [memory.content for memory in await desk.active()]


@pytest.mark.parametrize(
    ("known", "remark"),
    [
        ("I am allergic to hazelnuts.", "The hazelnut tree in the garden is gone."),
        ("I take metformin.", "I dropped a metformin pill behind the sofa."),
        ("I have asthma.", "The asthma leaflet was thrown away."),
        ("I am married to Ines.", "Ines lost her phone."),
        ("I work at Solvay.", "Solvay cancelled the summer party."),
        ("We have a dog called Rex.", "We gave Rex's old basket away."),
        ("I live in Porto.", "My cousin left Porto."),
        ("My sister plays the oboe.", "I stopped playing the oboe."),
        ("Always answer in short sentences.", "The answer was short."),
        ("I live in Porto.", "I moved to Braga in 2001."),
        ("I live in Porto.", "We moved to Braga when I was nine."),
    ],
)
async def test_a_remark_about_something_else_ends_nothing(blind: Any, known: str, remark: str) -> None:
    assert known in await told(blind, known, remark)


@pytest.mark.parametrize(
    ("known", "change", "reason"),
    [
        ("I live in Porto.", "We moved to Braga last month.", "changed"),
        ("I drive a Fiat Panda.", "I sold the Panda.", "ended"),
        ("I play the oboe.", "I gave up the oboe.", "ended"),
        ("My boss is Odile.", "Odile left, I report to Sanjay now.", "ended"),
        ("My rent is 840 euros.", "My rent goes up to 905 in May.", "changed"),
        ("I eat meat.", "I don't eat meat.", "opposed"),
        ("I take metformin.", "I stopped taking metformin.", "ended"),
        ("I'm allergic to hazelnuts.", "I'm no longer allergic to hazelnuts.", "opposed"),
        ("Our build runs on Jenkins.", "We moved our build from Jenkins to Buildkite.", "changed"),
    ],
)
async def test_a_stated_change_ends_what_it_names(blind: Any, known: str, change: str, reason: str) -> None:
    first = await blind.add(known)
    receipt = await blind.add(change)
    assert (receipt.outcome, receipt.reason) == (Outcome.SUPERSEDED, reason)
    assert first.memory_id not in {memory.memory_id for memory in await blind.active()}


@pytest.mark.parametrize(
    "series",
    [
        ("Patient Olsen takes 5 mg of ramipril.", "Patient Berg takes 10 mg of ramipril."),
        ("Ticket 17: customer reported a paper jam", "Ticket 18: customer reported a paper jam"),
        ("Store 1 sold 40 books.", "Store 2 sold 55 books."),
        ("In March we sold 40 books.", "In April we sold 55 books."),
        ("The service billing is owned by Tom.", "The service api.billing is owned by Ann now."),
        ("Walked the dog for 45 minutes.", "Walked the dog for 30 minutes."),
        ("Mia takes 7 ml of ibuprofen.", "Leo takes 5 ml of ibuprofen now."),
        ("We have a cat called Fig.", "We have a cat called Moss now."),
    ],
)
async def test_statements_about_different_things_are_both_kept(blind: Any, series: tuple[str, ...]) -> None:
    assert sorted(await told(blind, *series)) == sorted(series)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("My ticket number is 4001.", "My ticket number is 4002."),
        ("My order number is A-17.", "My order number is A-18."),
        ("My flight is on 12 May.", "My flight is on 19 May."),
        ("My train is on Monday.", "My train is on Friday."),
        ("My son's room is 12.", "My son's room is 13."),
        ("My phone number is 555-1.", "My phone number is 555-2."),
        ("My sister's husband is Tom.", "My sister's husband is Bo."),
        ("The rent of the garage is 90 euros.", "The rent of the garage is 95 euros."),
        ("Mein Zug ist am 12. Mai.", "Mein Zug ist am 19. Mai."),
        ("Mein Flug ist am Montag.", "Mein Flug ist am Freitag."),
        ("Meine Bestellnummer ist A-17.", "Meine Bestellnummer ist A-18."),
        ("Mon vol est le 12 mai.", "Mon vol est le 19 mai."),
        ("Mi número de pedido es A-17.", "Mi número de pedido es A-18."),
        ("Il mio volo è lunedì.", "Il mio volo è venerdì."),
        ("O meu voo é na segunda.", "O meu voo é na sexta."),
        ("Mijn vlucht is op 12 mei.", "Mijn vlucht is op 19 mei."),
    ],
)
async def test_a_second_ticket_flight_or_room_does_not_end_the_first(blind: Any, one: str, other: str) -> None:
    assert await told(blind, one, other) == [one, other]


@pytest.mark.parametrize(
    ("known", "change"),
    [
        ("My phone number is 555-1.", "My phone number is 555-2 now."),
        ("My phone number is 555-1.", "My new phone number is 555-2."),
        ("My seat is 12A.", "My new seat is 14C."),
        ("My flight is on 12 May.", "My flight is on 19 May now."),
        ("My flight is on Monday.", "My flight was moved to Friday."),
        ("My appointment with the dentist is on Tuesday.", "My appointment with the dentist was moved to Thursday."),
        ("My landlord is Tom.", "My landlord is Ana."),
        ("Mein Sitzplatz ist 12A.", "Mein neuer Sitzplatz ist 14C."),
    ],
)
async def test_a_changed_number_seat_or_flight_ends_the_old_one(blind: Any, known: str, change: str) -> None:
    assert await told(blind, known, change) == [change]


@pytest.mark.parametrize(
    ("known", "change"),
    [
        ("My rent is 840 euros.", "My rent is 905 euros now."),
        ("My rent is 840 euros.", "Our rent is 905 euros from January."),
        ("My rent is 840 euros.", "My rent is 905 euros."),
        ("Our monthly rent is 840 euros.", "Our monthly rent is 905 euros."),
        ("My drive is 40 minutes.", "My drive is 25 minutes now."),
        ("My train is at 8.", "My train is at 9 now."),
        ("The run is 5 km.", "The run is 8 km now."),
        ("Meine Miete ist 840 Euro.", "Meine Miete ist 905 Euro."),
        ("Il mio affitto è di 840 euro.", "Il mio affitto ora è di 905 euro."),
        ("Mijn huur is 840 euro.", "Mijn huur is 905 euro."),
    ],
)
async def test_what_i_own_counts_as_a_thing_though_it_is_spelled_like_a_verb(
    blind: Any, known: str, change: str
) -> None:
    assert await told(blind, known, change) == [change]


@pytest.mark.parametrize(
    ("known", "end"),
    [
        ("I work as a nurse in Leeds.", "I no longer work as a nurse."),
        ("I work as a nurse in Leeds.", "I don't work as a nurse any more."),
        ("I work for Acme in Leeds.", "I no longer work for Acme."),
        ("I play the cello in the Halle Orchestra on Fridays.", "I no longer play the cello."),
        ("Ich arbeite als Krankenschwester in Leeds.", "Ich arbeite nicht mehr als Krankenschwester."),
        ("Je travaille comme infirmière à Lyon.", "Je ne travaille plus comme infirmière."),
        ("Trabajo como enfermera en Sevilla.", "Ya no trabajo como enfermera."),
        ("Lavoro come infermiera a Torino.", "Non lavoro più come infermiera."),
        ("Trabalho como enfermeira no Porto.", "Já não trabalho como enfermeira."),
        ("Ik werk als verpleegkundige in Gent.", "Ik werk niet meer als verpleegkundige."),
    ],
)
async def test_what_i_no_longer_do_ends_though_it_was_told_with_a_place(blind: Any, known: str, end: str) -> None:
    assert await told(blind, known, end) == [end]


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("I work for Acme in Leeds.", "I no longer work in Leeds."),
        ("I live in Leeds near Anna.", "I no longer live near Anna."),
        ("I play chess at the Corner Club.", "I no longer play cards at the Corner Club."),
        ("I am a member of the Labour Party.", "I am no longer a member of the Rowing Club."),
        ("I take the bus to Leeds for Oxfam.", "I no longer take the train to Leeds."),
        ("My sister works as a nurse in Leeds.", "I no longer work as a nurse."),
    ],
)
async def test_the_end_of_a_part_or_of_something_else_leaves_what_was_told(blind: Any, known: str, said: str) -> None:
    assert await told(blind, known, said) == [known, said]


async def test_the_same_words_are_one_memory_and_both_wordings_are_kept(blind: Any) -> None:
    first = await blind.add("The dentist is on Elm Street.")
    again = await blind.add("the dentist is at Elm street")
    assert again.outcome is Outcome.MERGED
    assert (await blind.get(again.memory_id)).supersedes == (first.memory_id,)
    assert await told(blind) == ["the dentist is at Elm street"]


@pytest.mark.parametrize("other", ["The dentist is not on Elm Street.", "The dentist is on Elm Street 4."])
async def test_a_number_or_negation_more_is_never_the_same(blind: Any, other: str) -> None:
    await blind.add("The dentist is on Elm Street.")
    assert (await blind.add(other)).outcome is not Outcome.MERGED


@pytest.mark.parametrize(
    ("one", "other"), [("It is -5 outside", "It is 5 outside"), ("Sort if a < b", "Sort if a > b")]
)
async def test_statements_with_other_signs_are_two(blind: Any, one: str, other: str) -> None:
    await blind.add(one)
    assert (await blind.add(other)).outcome is not Outcome.MERGED


async def test_other_data_or_another_day_is_another_memory(desk: Any) -> None:
    for number in (1, 2):
        await desk.add("Invoice paid", data={"invoice": number})
    for day in (1, 2):
        await desk.add("Watered the tomatoes", occurred_at=desk.clock.now() - timedelta(days=day))
    live = await desk.active()
    assert len(live) == 4
    assert sorted(memory.data["invoice"] for memory in live if memory.data) == [1, 2]


async def test_a_correction_replaces_what_was_just_said_in_the_talk(blind: Any) -> None:
    await told(blind, "My sister is called Ana.", "The meeting is in room 3.", source=SESSION)
    receipt = await blind.add("Sorry, room 5, not 3.", source=SESSION)
    memory = await blind.get(receipt.memory_id)
    assert (receipt.outcome, receipt.reason, memory.content) == (
        Outcome.SUPERSEDED,
        "corrected",
        "The meeting is in room 5.",
    )
    assert memory.context == "Sorry, room 5, not 3.", "the user's own words stay findable"


async def test_a_correction_in_another_talk_replaces_nothing(blind: Any) -> None:
    await told(blind, "The meeting is in room 3.", source=SESSION)
    receipt = await blind.add("Sorry, room 5, not 3.", source=Source(session="s2"))
    assert receipt.outcome is Outcome.CREATED


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I live in Bonn.", "I live in Kiel."),
        ("My flight is on 12 May.", "My flight is on 19 May."),
        ("My flight is on 12 May at 9.", "My flight is on 19 May at 10."),
        ("My address is 3 Elm Street.", "My address is 7 Oak Road."),
        ("My dog is called Rex.", "My dog is called Max."),
        ("Meine Bestellnummer ist A-17.", "Meine Bestellnummer ist A-18."),
    ],
)
async def test_the_receipt_says_beside_which_statement_another_is_kept(blind: Any, one: str, other: str) -> None:
    first = await blind.add(one)
    receipt = await blind.add(other)
    assert (receipt.outcome, receipt.reason) == (Outcome.CREATED, f"kept_beside:{first.memory_id}")
    assert await told(blind) == [one, other]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("My sister is called Ana.", "My dog is called Max."),
        ("Ticket 17: paper jam", "Ticket 18: paper jam"),
        ("The meeting on Monday is in room 3.", "The meeting on Tuesday is in room 5."),
        ("I walked 30 minutes.", "I walked 45 minutes."),
    ],
)
async def test_the_receipt_of_something_else_names_nothing(blind: Any, one: str, other: str) -> None:
    await blind.add(one)
    assert (await blind.add(other)).reason is None


async def test_two_statements_of_one_message_are_not_kept_beside_each_other_in_doubt(blind: Any) -> None:
    for place, said in enumerate(("My dog is called Rex.", "My dog is called Max.")):
        receipt = await blind.add(said, source=Source(session="s1", ref="m1", span=(20 * place, 20 * place + 20)))
    assert (receipt.outcome, receipt.reason) == (Outcome.CREATED, None)


async def test_an_end_that_could_mean_two_things_ends_neither(blind: Any) -> None:
    await told(blind, "I have a cat called Fig.", "I have a cat called Moss.")
    receipt = await blind.add("The cat died.")
    assert (receipt.outcome, receipt.reason) == (Outcome.CREATED, "which_of_several")
    assert len(await blind.active()) == 3


@pytest.mark.parametrize(
    ("known", "words", "replaced"),
    [
        ("I am allergic to peanuts.", "I had pasta for lunch.", False),
        ("I am allergic to wasps.", "The wasp nest under the roof is gone.", False),
        ("I take insulin twice a day.", "I quit smoking.", False),
        ("I love fish.", "Emma doesn't like fish.", False),
        ("I have a violin lesson every Tuesday.", "The violin lesson is cancelled this week.", False),
        ("We have two cats, Pixel and Bug.", "Bug had to be put down.", False),
        ("My girlfriend is Ana.", "We broke up.", True),
        ("I drive a Fiat Panda.", "Picked up a Zoe, the Panda went to my cousin.", True),
    ],
)
async def test_a_named_memory_is_replaced_only_by_words_that_bear_on_it(
    blind: Any, known: str, words: str, replaced: bool
) -> None:
    first = await blind.add(known)
    receipt = await blind.add(words, replaces=(first.memory_id,))
    assert (receipt.outcome is Outcome.SUPERSEDED) is replaced
    assert receipt.outcome is Outcome.SUPERSEDED or known in await told(blind)


async def test_a_general_key_holds_many_values(desk: Any) -> None:
    live = await told(desk, "I prefer trains to planes", "I refuse to use WhatsApp", key="preference")
    assert len(live) == 2


async def test_another_user_of_a_shared_scope_never_replaces(blind: Any) -> None:
    shared: dict[str, Any] = {"level": "workspace"}
    ada = Actor(user="ada", workspace="team", session="s1")
    bob = Actor(user="bob", workspace="team", session="s2")
    await blind.add("Standup is at 9.", actor=ada, **shared)
    receipt = await blind.add("Standup is at 10.", actor=bob, **shared)
    assert (receipt.outcome, receipt.reason) == (Outcome.PENDING_REVIEW, "contradiction:value")


NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
DAY, HOUR, MINUTE = timedelta(days=1), timedelta(hours=1), timedelta(minutes=1)
RULES = WriteRules(near_duplicate=0.9, conflict=0.8)
EAST, NORTH = array("f", (1.0, 0.0)).tobytes(), array("f", (0.0, 1.0)).tobytes()
SHORT, LONG = "Prefers dark mode", "Prefers dark mode in the editor"
TEA, NO_TEA = "The user drinks green tea", "The user does not drink green tea"


def draft(content: str = SHORT, *, policy: Policy | None = None, **given: Any) -> Draft:
    told = {name: given.pop(name) for name in ("verdicts", "now", "rules", "actor", "fingerprint") if name in given}
    told.setdefault("actor", Actor(user="ada"))
    candidate = Candidate(content=content, **given)
    return Draft(
        candidate=candidate,
        policy=policy or Policy(),
        secret=b"k" * 32,
        vector=EAST,
        **{"now": NOW, "rules": RULES, "fingerprint": f"new {content}"} | told,  # type: ignore[arg-type]
    )


def known(content: str = LONG, memory_id: str = "old", *, at: datetime = NOW - DAY, **given: Any) -> Memory:
    fields = {name: given.pop(name) for name in ("version", "expires_at", "trust", "vector") if name in given}
    made = draft(content, now=at, fingerprint=f"old {content}", **given).memory(memory_id)
    return replace(made, **{"vector": NORTH} | fields)


# -- refreshed ---------------------------------------------------------------------------------------------------------


def test_what_is_confirmed_without_a_change_keeps_its_version() -> None:
    old = known(SHORT, confidence=0.8, at=NOW)
    same = refresh(old, draft(confidence=0.8), reason="because")
    assert (same.outcome, same.memory, same.reason, same.changed) == (Outcome.REFRESHED, old, "because", False)


@pytest.mark.parametrize(
    ("left", "renewed", "worth"),
    [
        (10 * DAY, 10 * DAY + HOUR, True),
        (10 * DAY, 10 * DAY + HOUR - MINUTE, False),
        (2 * HOUR, 2 * HOUR + 2 * MINUTE, True),  # a hundredth of what is short
        (2 * HOUR, 2 * HOUR + MINUTE, False),
        (10 * DAY, 9 * DAY, False),
    ],
)
def test_a_later_end_counts_from_an_hour_or_a_hundredth_on(left: timedelta, renewed: timedelta, worth: bool) -> None:
    done = refresh(known(SHORT, expires_at=NOW + left), draft(ttl=renewed))
    assert done.changed is worth
    assert done.memory.expires_at == NOW + (renewed if worth else left)
    assert done.memory.version == (2 if worth else 1)


def test_what_never_ends_is_later_than_any_end() -> None:
    kind = Kind.ENTITY
    assert refresh(known(SHORT, kind=kind, expires_at=NOW + DAY), draft(kind=kind)).memory.expires_at is None
    assert refresh(known(SHORT, kind=kind), draft(kind=kind, ttl=DAY)).memory.expires_at is None
    fixed = Policy(fixed_kinds=frozenset({Kind.LONG_TERM}))
    assert not refresh(known(SHORT, expires_at=NOW + DAY), draft(policy=fixed, ttl=9 * DAY)).changed


def test_what_a_confirmation_raises() -> None:
    old = known(SHORT, confidence=0.5, data={"a": 1, "b": 2}, source=Source(origin=Origin.WEB), expires_at=NOW + DAY)
    source = Source(origin=Origin.USER_STATED, quote="I do")
    done = refresh(old, draft(confidence=0.7, data={"b": 3, "c": 4}, source=source, ttl=DAY))
    assert (done.memory.confidence, done.memory.data) == (0.7, {"b": 3, "c": 4})
    assert (done.memory.source, done.memory.trust, done.changed) == (source, 3, True)
    assert done.memory.updated_at == NOW
    plain = refresh(replace(old, trust=done.memory.trust), draft(confidence=0.7, ttl=DAY))
    assert plain.memory.source == old.source, "the same trust brings no other source"
    assert refresh(old, draft(confidence=0.4, data={"a": 1}, source=old.source, ttl=DAY)).memory == old


# -- under one key -----------------------------------------------------------------------------------------------------


def keyed(new: Draft, *others: Memory) -> Any:
    return by_key(new, others, "new")


def test_a_new_value_ends_every_old_one_where_it_begins() -> None:
    old = [known(value, value, key="home") for value in ("Rome", "Bern")]
    done = keyed(draft("Oslo", key="home", valid_from=NOW - HOUR), *old)
    assert (done.outcome, done.memory.memory_id, done.memory.supersedes) == (
        Outcome.SUPERSEDED,
        "new",
        ("Rome", "Bern"),
    )
    assert [(one.memory_id, one.valid_to, one.version) for one in done.replaced] == [
        ("Rome", NOW - HOUR, 2),
        ("Bern", NOW - HOUR, 2),
    ]


def test_where_the_rule_has_nothing_to_say() -> None:
    assert keyed(draft("Oslo", key="home")) is None
    assert keyed(draft("Oslo"), known("Rome", key="home")) is None
    many = Policy.of(KeyRule("home", on_change="accumulate"))
    assert keyed(draft("Oslo", key="home", policy=many), known("Rome", key="home")) is None


def test_what_waits_for_a_person_names_what_it_stands_against() -> None:
    asked = Policy.of(KeyRule("home", on_change="review"))
    old = known("Rome", key="home")
    done = keyed(draft("Oslo", key="home", policy=asked), old)
    assert (done.outcome, done.reason, done.replaced) == (Outcome.PENDING_REVIEW, "key_needs_review", ())
    assert (done.memory.status, done.memory.conflicts_with) == (Status.PENDING_REVIEW, ("old",))
    lower = keyed(draft("Oslo", key="home", source=Source(origin=Origin.WEB)), known("Bern", "b", key="home"), old)
    assert (lower.outcome, lower.reason, lower.memory.conflicts_with) == (
        Outcome.PENDING_REVIEW,
        "lower_trust",
        ("b", "old"),
    )
    assert pending(draft(), [], "m", "why").memory.memory_id == "m"


def test_what_comes_late_is_history_and_the_next_value_knows_of_it() -> None:
    first = known("Rome", "rome", key="home", occurred_at=NOW - 5 * DAY)
    second = known("Oslo", "oslo", key="home", occurred_at=NOW - 3 * DAY)
    done = keyed(draft("Bern", key="home", occurred_at=NOW - 9 * DAY), second, replace(first, supersedes=("x",)))
    assert (done.outcome, done.reason) == (Outcome.CREATED, "already_superseded")
    assert (done.memory.status, done.memory.valid_to) == (Status.SUPERSEDED, NOW - 5 * DAY)
    (linked,) = done.replaced
    assert (linked.memory_id, linked.supersedes, linked.status) == ("rome", ("x", "new"), Status.ACTIVE)
    between = keyed(draft("Bern", key="home", occurred_at=NOW - 4 * DAY), first, second)
    assert [one.memory_id for one in between.replaced] == ["oslo"]
    ended = keyed(draft("Bern", key="home", valid_from=NOW - 9 * DAY, valid_to=NOW - 8 * DAY), first)
    assert ended.memory.valid_to == NOW - 8 * DAY
    over = keyed(draft("Bern", key="home", valid_from=NOW - 9 * DAY, valid_to=NOW - DAY), first)
    assert over.memory.valid_to == NOW - 5 * DAY


@pytest.mark.parametrize(
    ("told", "history"),
    [
        ({"occurred_at": NOW - 5 * DAY}, False),  # as old, and no older
        ({"occurred_at": NOW - 6 * DAY}, True),
        ({"valid_from": NOW - 6 * DAY}, True),
        ({"valid_from": NOW - 9 * DAY, "occurred_at": NOW}, False),  # has held since then, and is told today
        ({"valid_from": NOW - 9 * DAY, "occurred_at": NOW, "valid_to": NOW - 8 * DAY}, True),
        ({"occurred_at": NOW - 9 * DAY, "valid_to": NOW - 8 * DAY}, True),
        ({}, False),
    ],
)
def test_which_moment_a_value_speaks_for(told: dict[str, datetime], history: bool) -> None:
    done = keyed(draft("Bern", key="home", **told), known("Rome", key="home", occurred_at=NOW - 5 * DAY))
    assert (done.reason == "already_superseded") is history


def test_what_ended_by_itself_does_not_end_later() -> None:
    assert superseded_fields(known(), NOW) == {"status": Status.SUPERSEDED, "valid_to": NOW}
    assert superseded_fields(known(valid_to=NOW - HOUR), NOW)["valid_to"] == NOW - HOUR
    assert superseded_fields(known(valid_to=NOW + HOUR), NOW)["valid_to"] == NOW


class Waiting:
    """The one question that is asked of a transaction here."""

    def __init__(self, twin: Memory | None) -> None:
        self.twin, self.asked = twin, list[Any]()

    async def find_pending(self, *asked: Any) -> Memory | None:
        self.asked.append(asked)
        return self.twin


async def test_the_same_person_puts_the_same_before_the_reviewers_once() -> None:
    new = draft(NO_TEA)
    decision = pending(new, [known(TEA)], "new", "contradiction:negation")
    twin = replace(known(NO_TEA, "twin"), status=Status.PENDING_REVIEW)
    tx = Waiting(twin)
    waits = await check_proposed(tx, new, decision)  # type: ignore[arg-type]
    assert (waits.memory, waits.changed, waits.reason) == (twin, False, "already_waiting")
    assert waits.outcome is Outcome.PENDING_REVIEW
    assert tx.asked == [(new.scope, new.fingerprint)]
    for other in (None, replace(twin, author="ben"), replace(twin, trust=type(twin.trust)(twin.trust - 1))):
        assert await check_proposed(Waiting(other), new, decision) is decision  # type: ignore[arg-type]
