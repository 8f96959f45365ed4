"""A value in an answer: said, turned down, or left open. Half of the rows were written without looking at the rules."""

from __future__ import annotations

import pytest

from mnemic.inject.answer_mentions import Mention, mention
from mnemic.language.text.inflect import same_word

SAID = [
    ("email", "No problem, email it is."),
    ("email", "Sure, no worries - email will be used."),
    ("vegetarian", "I found three vegetarian-friendly places."),
    ("aisle", "Not to worry: aisle seat booked."),
    ("aisle seat", "I booked two aisle seats."),
    ("email", "I'll e-mail you."),
    ("morning", "Flights in the mornings."),
    ("Berlin", "Berlin's best flights"),
    ("flat white", "No problem, a flat white it is."),
    ("flat white", "I ordered two flat whites for you."),
    ("email", "Updates go out via email."),
    ("email", "Updates go out via E-MAIL or Email!"),
    ("email", "Do not use the phone. Updates go out via email."),
    ("Europe/Madrid", "Times are given in Europe/Madrid."),
    ("aisle seat", "I will look for an aisle seat."),
    ("東京", "会議は 東京 で行います。"),
    ("東京", "会議は東京で行います。"),
    ("email", "Not SMS, email."),
    ("email", "Email rather than SMS."),
    ("email", "I'll use email instead."),
    ("email", "I won't forget: email only."),
    ("email", "Don't hesitate to email me."),
    ("email", "We'll email, not call."),
    ("email", "Not by phone but by email."),
    ("email", "No doubt email is best."),
    ("window", "The aisle was taken, so it's a window."),
    ("email", "Great, I'll email you the summary tonight."),
    ("email", "Your update was sent by e-mail."),
    ("email", "I've put it in an email, no need to reply."),
    ("email", "Nothing changed; the report still goes out over email."),
    ("email", "We never miss an update: email goes out at nine."),
    ("email", "Without further ado, here is the email draft."),
    ("email", "I can't reach you by phone, so I used email."),
    ("email", "It isn't urgent, so email will do."),
    ("email", "Not a problem at all. Email is set."),
    ("email", "No SMS any more: from now on you get emails."),
    ("sms", "I won't email; an SMS is on its way."),
    ("vegetarian", "All three restaurants have vegetarians in mind."),
    ("vegetarian", "Vegetarian? No problem at all."),
    ("vegan", "It's a fully vegan-certified kitchen."),
    ("vegan", "Not only vegan dishes, but a vegan wine list too."),
    ("aisle", "Seat 14C is on the aisle."),
    ("aisle", "I couldn't get the window, so you're in an aisle seat."),
    ("aisle seat", "Both aisle seats were free, so I took them."),
    ("aisle seat", "I've reserved a seat by the aisle."),
    ("morning", "The earliest morning's flight leaves at 6:10."),
    ("morning", "Mornings only: 7:05 and 8:40."),
    ("Berlin", "Here are Berlin-based agencies."),
    ("Berlin", "Here are flights from Berlin’s airport."),
    ("Porto", "Trains from Porto's Campanhã station, no change needed."),
    ("dark mode", "Dark-mode is on."),
    ("dark mode", "I've switched to dark mode; don't worry about the settings."),
    ("metric", "Distances are metric, never imperial."),
    ("10:30", "The meeting is at 10:30."),
    ("1,000 EUR", "The cap is 1000 EUR."),
    ("decaf", "A decaf flat white, no sugar."),
    ("decaf", "One coffee without sugar, decaf of course."),
    ("Lufthansa", "Do not worry, Lufthansa has a seat."),
    ("correo", "Claro, sin problema: te aviso por correo."),
    ("E-Mail", "Kein Problem, die E-Mail ist unterwegs."),
    ("train", "I'm not sure about the price, but the train leaves at nine."),
    ("train", "Trains are faster, so I skipped the plane and booked two of them."),
    ("jazz", "I'd skip the rock bar and go for the jazz club."),
    ("Dr. Lee", "Your appointment with Dr Lee is on Friday."),
    ("O'Neill", "I wrote to O’Neill."),
    ("C++", "Here is the C++ version."),
    ("15:00", "We meet at 3 pm."),
    ("3 pm", "The meeting is at 15:00 in Room 2."),
    ("9:30", "Your train leaves at 09:30."),
    ("21:00", "Wir essen um 21 Uhr."),
    ("12:00 am", "It opens at 0:00 sharp."),
    ("USD", "It costs $40."),
    ("40 dollars", "That is US$40.00 a night."),
    ("€1,000", "The cap is 1,000 EUR."),
    ("vegetarian", "Vegetarian? Of course."),
]
NOT_SAID = [
    ("email", "I will not use email."),
    ("email", "email is what I will avoid"),
    ("flat white", "Flat white is what I will avoid; tea it is."),
    ("sms", "The plasmsa is fine."),
    ("a", "Nothing here begins with it: bcd."),
    ("email", "Do not use email for this."),
    ("email", "Do not use SMS, phone or email."),
    ("email", "SMS rather than email."),
    ("email", "Email will not be used."),
    ("email", "Email won't work here."),
    ("email", "Never by email."),
    ("email", "I cannot send an email."),
    ("email", "No email today."),
    ("peanuts", "Three dishes without peanuts."),
    ("email", "I'll send it by post, not by email."),
    ("email", "Email isn't something I will use for this."),
    ("email", "I would rather not use email here."),
    ("email", "We stopped using email last week."),
    ("email", "The update goes out by text message instead of email."),
    ("email", "I refuse to send this by email."),
    ("email", "Neither email nor phone will be used."),
    ("email", "The update goes out over Slack."),
    ("vegetarian", "This place has no vegetarian dishes."),
    ("aisle", "I did not book an aisle seat."),
    ("aisle seat", "I've booked a window seat."),
    ("morning", "I avoided morning flights as asked."),
    ("Berlin", "I left Berlin out."),
    ("dark mode", "Dark mode has been switched off."),
    ("10", "The meeting is at 10:30."),
    ("Lufthansa", "I did not find any Lufthansa flight."),
    ("Lufthansa", "Any airline except Lufthansa."),
    ("correo", "No usaré el correo."),
    ("E-Mail", "Ich schicke keine E-Mail."),
    ("university", "The universe is large."),
    ("vegetarian", "Is there a vegetarian?"),
    ("email", "Shall I use email, or call?"),
    ("email", "Memory: email"),
    ("aisle", "aisle"),
    ("aisle", "Aisle."),
    ("aisle", "Your seat: aisle"),
    ("Prefers aisle seats.", "Prefers aisle seats."),
    ("15:00", "We meet at 3 am."),
    ("3 pm", "We meet at 13 pm."),
    ("40 USD", "It costs €40."),
]


@pytest.mark.parametrize(("value", "answer"), SAID)
def test_an_honest_answer_says_the_value(value: str, answer: str) -> None:
    assert mention(value, answer) is Mention.SAID


@pytest.mark.parametrize(("value", "answer"), NOT_SAID)
def test_what_is_turned_down_or_absent_is_not_said(value: str, answer: str) -> None:
    assert mention(value, answer) is not Mention.SAID


def test_two_negations_leave_it_open() -> None:
    assert mention("email", "I cannot send it without email.") is Mention.OPEN
    assert mention("email", "I do not think that we should really use email.") is Mention.OPEN


@pytest.mark.parametrize(
    ("answer", "how"),
    [
        ("Email is not a problem.", Mention.SAID),
        ("Email is switched off.", Mention.DENIED),
        ("The email is off to the team.", Mention.SAID),
        ("Left email out this time.", Mention.DENIED),
        ("It is email-free.", Mention.DENIED),
        ("E-Mail nutze ich nicht.", Mention.DENIED),
        ("There are two stops before the email.", Mention.SAID),
        ("", Mention.ABSENT),
    ],
)
def test_what_follows_may_turn_it_down(answer: str, how: Mention) -> None:
    assert mention("email", answer) is how


def test_a_value_is_not_found_over_the_end_of_a_sentence() -> None:
    assert mention("aisle seat", "It is on the aisle. Seats are free.") is Mention.ABSENT
    assert mention("東京", "大阪で行います。") is Mention.ABSENT


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("seat", "seats", True),
        ("book", "booking", True),
        ("plan", "planning", True),
        ("city", "cities", True),
        ("universe", "university", False),
        ("news", "new", False),
        ("no", "nos", False),
        ("10", "1", False),
    ],
)
def test_forms_of_one_word(one: str, other: str, same: bool) -> None:
    assert same_word(one, other) is same


@pytest.mark.parametrize(
    ("value", "answer", "how"),
    [
        ("rail", "I wouldn't take anything other than rail.", Mention.SAID),
        ("rail", "There is no better way than rail.", Mention.SAID),
        ("rail", "I found nothing but rail.", Mention.SAID),
        ("quiet table", "I booked a table; it is quiet.", Mention.ABSENT),
        ("quiet table", "I booked a table that is quiet.", Mention.OPEN),
        ("two", "It is 2.", Mention.SAID),
        ("3 nights", "You stay three nights.", Mention.SAID),
        ("Dr. Kim", "You see Doctor Kim at ten.", Mention.SAID),
        ("rail", "Rail sold out, so I booked a bus.", Mention.DENIED),
        ("rail", "The rail is booked out.", Mention.DENIED),
        ("rail", "Rail no longer runs; take the bus.", Mention.DENIED),
        ("rail", "Forget rail.", Mention.DENIED),
        ("rail", "Don't forget rail.", Mention.SAID),
        ("rail", "I ignored rail.", Mention.DENIED),
        ("rail", "Rail: no.", Mention.DENIED),
        ("rail", "Rail? nope.", Mention.DENIED),
        ("rail", "Rail, no bus.", Mention.SAID),
        ("decaf", "Hardly decaf.", Mention.DENIED),
        ("decaf", "The decaf is gone.", Mention.DENIED),
        ("balcony", "Balcony unavailable.", Mention.DENIED),
        ("balcony", "Far from a balcony.", Mention.DENIED),
        ("tofu", "You prefer tofu; I cannot do that.", Mention.OPEN),
        ("sms", "You asked for SMS, but I will call.", Mention.OPEN),
        ("sms", "You get SMS.", Mention.SAID),
    ],
)
def test_what_is_excepted_or_missing_or_only_told_back(value: str, answer: str, how: Mention) -> None:
    assert mention(value, answer) is how


@pytest.mark.parametrize(
    ("value", "answer", "how"),
    [
        ("vegetarian", "Here are three veggie places.", Mention.OPEN),
        ("Lisbon", "We fly you to Lisboa.", Mention.OPEN),
        ("night train", "The nightly train leaves at nine.", Mention.ABSENT),
        ("morning", "There are more flights.", Mention.ABSENT),
        ("aisle", "aisle", Mention.OPEN),
        ("vegetarian", "Is there a vegetarian?", Mention.OPEN),
        ("vegetarian", "Is there a vegetarian? Yes, this one is vegetarian.", Mention.SAID),
    ],
)
def test_what_may_be_the_value_is_left_open(value: str, answer: str, how: Mention) -> None:
    assert mention(value, answer) is how
