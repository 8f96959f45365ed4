"""Numbers of orders, meters and the like stay as they are; telephone numbers do not."""

from __future__ import annotations

import random

from mnemic.redact.redactor import Redactor
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


KEY = b"k" * 32
TEXTS = [
    "Order number {0} was shipped.",
    "My order {0} is late.",
    "Invoice {0} is paid.",
    "The invoice no. {0} came today.",
    "Ticket {0} is closed.",
    "Booking reference {0}.",
    "My flight booking is {0}.",
    "The serial number is {0}.",
    "Part number {0} fits.",
    "ISBN {0} is a good book.",
    "The tracking number is {0}.",
    "Parcel {0} arrived.",
    "The meter reads {0} today.",
    "Version {0} is out.",
    "Customer {0} called.",
    "Meter reading {0} kWh.",
    "My membership number is {0}.",
    "Library card {0} expired.",
    "The odometer shows {0} km.",
    "Case {0} was reopened.",
    "We sold {0} units.",
    "Batch {0} is faulty.",
    "The population is {0}.",
    "Lottery numbers {0} won.",
    "The coordinates are {0}.",
    "The file is {0} bytes.",
    "Contract {0} ends in May.",
    "Recipe {0} of the book.",
    "The model is {0}.",
    "Room {0} on the third floor.",
    "Bestellung {0} ist da.",
    "Rechnung {0} ist bezahlt.",
    "Commande {0} livrée.",
    "Pedido {0} entregado.",
    "Ordine {0} spedito.",
    "Zählerstand {0}.",
    "Sendung {0} ist unterwegs.",
    "Dossier {0} est clos.",
    "Purchase order {0} needs a signature.",
    "Reservation {0} is for two.",
    "Job {0} failed.",
    "Build {0} passed.",
    "The article number {0} is sold out.",
    "Account ending {0}.",
    "Quote {0} was sent.",
]
FORMS = [
    ((3, 7, 7), "-"), ((9,), ""), ((10,), ""), ((3, 3, 4), "-"), ((4, 4, 4), " "), ((3, 4), "-"), ((4, 5), "-"),
    ((2, 3, 4), "-"), ((3, 3, 3), " "), ((4, 6), "-"), ((2, 4, 4), "."), ((5, 5), " "),
]  # fmt: skip
CHANGED_AT_MOST = 0.01


def numbers(count: int) -> list[str]:
    """Numbers of all forms, always the same."""
    drawn = random.Random(11)

    def group(length: int) -> str:
        return drawn.choice("123456789") + "".join(drawn.choice("0123456789") for _ in range(length - 1))

    return [sign.join(map(group, lengths)) for at in range(count) for lengths, sign in [FORMS[at % len(FORMS)]]]


def test_numbers_of_other_things_are_no_telephone_numbers() -> None:
    shuffled = numbers(12 * len(TEXTS))
    told = [TEXTS[at % len(TEXTS)].format(number) for at, number in enumerate(shuffled)]
    changed = [text for text in told if "PHONE" in Redactor().redact(text, KEY).text]
    assert len(told) >= 200
    assert len(changed) <= CHANGED_AT_MOST * len(told), changed


def test_the_number_of_a_build_is_no_social_security_number() -> None:
    parted = [".".join(one) for one in (("123", "45", "6789"), ("217", "10", "2048"), ("456", "78", "9012"))]
    for named in ("Build {} passed.", "Chrome {} crashes.", "The firmware is {}.", "v{}", "Running version {} now."):
        for number in (*parted, "123-45.6789", "123.45-6789"):
            text = named.format(number)
            assert Redactor().redact(text, KEY).text == text


def test_telephone_numbers_beside_other_words_are_redacted() -> None:
    EXAMPLES.assert_right(
        lambda text: "PHONE" in Redactor().redact(text, KEY).text,
        "telephone_numbers_beside_other_words_are_redacted",
        floor=1,
    )
