"""Topics of corrections: a correction concerns an earlier statement of the same frame, however short the interval."""

from __future__ import annotations

from mnemic.language.frames.statement_frame import Frame, stem

_NAMING = frozenset(
    map(
        stem,
        "name number date day time place address answer spelling nom numero adresse datum nombre fecha direccion nome"
        " data"
        " indirizzo morada naam nummer adres".split(),
    )
)
"""Stems of words for a value of any sort: "no, the name is Ingrid" may correct anything that has a name."""


def on_another_topic(old: Frame, new: Frame) -> bool:
    """Return True if a correction names the thing that it gives a value, and the earlier statement does not mention it:
    "I have a dog called Biscuit", "That's wrong, my phone is a Pixel 8".
    """
    said = new.undisputed
    topic = said.theme - _NAMING
    if not topic or not topic.isdisjoint(old.stems) or not said.stems.isdisjoint(old.stems):
        return False
    return said.attributes.isdisjoint(old.attributes) and not said.theme & _NAMING
