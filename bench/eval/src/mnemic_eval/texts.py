"""Generated sentences for measurements: thousands of different ones, from a small grammar and a seed.

Their lengths (6 to about 40 words) and their share of names and numbers are those of chat.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from random import Random

Maker = Callable[[Random], str]

_WHO = (
    "I", "my sister Nora", "my flatmate", "our neighbour Imre", "the new manager", "my dentist", "uncle Teo",
    "Priya from work", "the landlord", "my running group", "cousin Aylin", "the violin teacher", "our accountant",
    "the night nurse", "old Mr Okafor",
)  # fmt: skip
_DID = (
    "bought", "lost", "repaired", "sold", "photographed", "painted", "borrowed", "cleaned", "found", "recommended",
    "ordered", "cancelled", "tested", "wrapped", "translated", "measured", "inherited", "auctioned", "insured",
    "returned",
)  # fmt: skip
_HOW = (
    "small", "second-hand", "green", "very noisy", "wooden", "expensive", "half-broken", "Italian", "waterproof",
    "antique", "home-made", "striped", "lightweight", "rusty", "solar", "folding", "ceramic", "velvet", "heavy",
    "orange",
)  # fmt: skip
_WHAT = (
    "bicycle", "kettle", "telescope", "rucksack", "sewing machine", "guitar", "greenhouse", "tent",
    "espresso machine", "lamp", "bookshelf", "kayak", "radio", "carpet", "freezer", "chess set", "camera",
    "wheelbarrow", "piano stool", "water filter", "coat", "microscope", "hammock", "typewriter", "sledge", "aquarium",
    "drill", "mirror", "birdhouse", "suitcase",
)  # fmt: skip
_WHERE = (
    "in Porto", "near the harbour", "at the flea market", "on the way to Lviv", "behind the library",
    "in the mountains", "at my parents' house", "in a village outside Graz", "at the airport", "on the third floor",
    "next to the bakery", "in Osaka", "at the allotment", "in the old town of Tallinn", "by the lake",
    "in the hospital canteen", "at gate 14", "in Valparaiso",
)  # fmt: skip
_WHEN = (
    "last Tuesday", "in the spring of 2019", "two weeks ago", "on my birthday", "before the storm",
    "during the conference", "at half past seven", "the day after the wedding", "in November",
    "when the trains were on strike", "this morning", "shortly before midnight", "over the long weekend",
    "in the first week of school", "while it was snowing",
)  # fmt: skip
_WHY = (
    "because it was raining all week", "since the old one had stopped working", "to surprise the children",
    "although it cost {price} euros", "for a trip with {count} friends", "because the doctor said so",
    "as a present for somebody who has everything", "to save about {price} euros a year",
    "after comparing {count} others", "and kept the receipt number {number}",
    "so that the {count} guests could use it", "without telling anybody",
)  # fmt: skip
_ALSO = (
    "It reminded me of the one we had {when}", "By the way, {who} wants to borrow it",
    "We still have to carry it up {count} floors", "I would rather have had the {how} one",
    "Please remind me to call about it {when}", "The warranty ends in {count} months",
    "{who} says that it belongs {where}", "Next time I will ask {who} first",
    "It weighs {count} kilos and smells of paint",
)  # fmt: skip
_OPENING = ("", "", "Honestly, ", "Well, ", "You know, ", "To be fair, ", "As I said, ", "Funny thing: ")
_ASKING = (
    "What did {who} do with the {how} {what}?", "Who {did} a {what} {where}?", "When was the {what} {did}?",
    "Where is the {how} {what} now?", "Why was the {what} {did} {when}?", "How much did the {how} {what} cost?",
    "Which {what} did {who} talk about {when}?", "Has anything happened {where} {when}?",
)  # fmt: skip


def statements(seed: int) -> Iterator[str]:
    """Yield statements without end, all different; the sequence depends on the seed only."""
    return _distinct(_statement, seed)


def questions(seed: int) -> Iterator[str]:
    """Yield questions about `statements` without end, all different."""
    return _distinct(_question, seed)


def _distinct(make: Maker, seed: int) -> Iterator[str]:
    random = Random(seed)  # noqa: S311 - repeatable, not secret
    seen: set[int] = set()
    while True:
        text = make(random)
        if hash(text) not in seen:
            seen.add(hash(text))
            yield text


def _statement(random: Random) -> str:
    who, did, how = random.choice(_WHO), random.choice(_DID), random.choice(_HOW)
    text = f"{random.choice(_OPENING)}{who} {did} a {how} {random.choice(_WHAT)}"
    for chance, phrases in ((0.8, _WHERE), (0.8, _WHEN), (0.6, _WHY)):
        if random.random() < chance:
            text += " " + random.choice(phrases)
    text = text[0].upper() + text[1:] + "."
    text += "".join(f" {random.choice(_ALSO)}." for _ in range(2) if random.random() < 0.4)
    return re.sub(r"(?<=[.] )[a-z]", lambda letter: letter[0].upper(), _fill_text(text, random))


def _question(random: Random) -> str:
    return _fill_text(random.choice(_ASKING), random)


def _fill_text(text: str, random: Random) -> str:
    return text.format(
        who=random.choice(_WHO),
        did=random.choice(_DID),
        how=random.choice(_HOW),
        what=random.choice(_WHAT),
        where=random.choice(_WHERE),
        when=random.choice(_WHEN),
        price=random.randint(3, 980),
        count=random.randint(2, 40),
        number=random.randint(1000, 999_999),
    )
