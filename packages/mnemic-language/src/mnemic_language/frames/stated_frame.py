"""Frames of the parts of a text that states all of what it says: nothing in them has to be looked for again."""

from __future__ import annotations

from mnemic_language.frames.stated_part import sentences_of
from mnemic_language.frames.statement_frame import Frame
from mnemic_language.text.lazy_property import lazy_property


class StatedFrame(Frame):
    """Frame of a part of a text that states all of what it says (`stated_part.states_all`), as the part does then."""

    @lazy_property
    def said(self) -> tuple[str, ...]:
        """Its sentences."""
        return sentences_of(self.text)
