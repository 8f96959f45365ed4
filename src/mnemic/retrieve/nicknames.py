"""Names by which others address a speaker: messages such as "Thanks, Mel!" reveal whom "Mel" means.

Used only if a query contains a name that no speaker has. A name belongs to a speaker if at least two messages use it as
an address and exactly one speaker can be meant by all of them: people do not address themselves. One message is enough
if the name resembles the speaker's ("Benny", "Ben").
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from mnemic.language.questions.named_dates import MONTHS
from mnemic.language.questions.question_words import COMMON
from mnemic.ports import Snapshot
from mnemic.retrieve.question import ROLES, called
from mnemic.types import Where

LEAST = 2
"""Number of messages that must use a name before it is assigned; one that resembles the speaker's name needs one."""
ALIKE = 3
"""Number of first letters that such names share; a shorter one is the beginning of the other."""
MAX_NAMES = 2
"""Names of a query that are asked about."""
LOOKED_AT = 40
"""Messages that are read for a name."""

_CAPITALISED = re.compile(r"(?<![\w'’])[A-ZÀ-Þ][a-zß-ÿ]+(?!\w)")
_NO_NAMES = frozenset(
    [*MONTHS, "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "ok", "yes", "tell", "name"]
)
_GREETED = (
    r"hey|hi|hello|thanks|thank you|bye|yes|yeah|yep|no|oh|wow|cool|sure|congrats|congratulations|sorry|great|nice"
    r"|dear|hallo|danke|hola|gracias|salut|merci|ciao|grazie"
)


def unknown_names(text: str, speakers: Collection[str]) -> tuple[str, ...]:
    """Return the names in a query that names none of the `speakers`; empty if only one person speaks."""
    people = called(frozenset(speakers) - ROLES)
    if not people or len(speakers) < LEAST:
        return ()
    words = dict.fromkeys(_CAPITALISED.findall(text))
    known = {name.casefold() for names in people.values() for name in names}
    if any(re.search(rf"\b{re.escape(name)}\b", text, re.IGNORECASE) for name in known):
        return ()
    found = (word for word in words if word.lower() not in COMMON and word.lower() not in _NO_NAMES)
    return tuple(found)[:MAX_NAMES]


async def addressed(
    names: Iterable[str], speakers: Collection[str], where: Where, snapshot: Snapshot
) -> Mapping[str, str]:
    """Return the speaker of each name; names that are never used as an address are left out."""
    found: dict[str, str] = {}
    for name in names:
        best = await snapshot.match(where, name, limit=LOOKED_AT)
        rows = await snapshot.get_many([one.memory_id for one in best], scopes=where.scopes)
        said = [(row.source.speaker, row.content) for row in rows.values()]
        speaker = unique_speaker(name, [(by, text) for by, text in said if by is not None], speakers)
        if speaker is not None:
            found[name] = speaker
    return found


def unique_speaker(name: str, said: Iterable[tuple[str, str]], speakers: Collection[str]) -> str | None:
    """Return the only speaker whom every message that uses `name` can mean; `said` gives speaker and text."""
    address = re.compile(
        rf"(?:^|[.!?,;:\n]\s*|\b(?:{_GREETED}),?\s+){re.escape(name)}(?=\s*(?:[,.!?;:)\n]|$))", re.IGNORECASE
    )
    meant, messages = frozenset(speakers) - (ROLES - {"user"}), 0
    for speaker, text in said:
        if address.search(text):
            meant, messages = meant - {speaker}, messages + 1
    if len(meant) != 1:
        return None
    person = next(iter(meant))
    return person if messages >= (1 if _is_alike(name, person) else LEAST) else None


def _is_alike(name: str, person: str) -> bool:
    """Return True if a name could be a form of the person's: "Benny" of "Ben", "Liz" of "Elizabeth"."""
    short, whole = sorted((name.casefold(), person.casefold().split()[0] if person.split() else ""), key=len)
    if len(short) < ALIKE:
        return len(short) > 1 and whole.startswith(short)
    return short in whole or short[:ALIKE] == whole[:ALIKE]
