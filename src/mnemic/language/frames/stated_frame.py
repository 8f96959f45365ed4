"""Frames of the parts of a text that consists of statements only: the parts need no new check."""

from __future__ import annotations

import re

from mnemic.language.frames.frame_expressions import CALLED, CALLED_OUT, GREETED, QUOTED
from mnemic.language.frames.stated_part import asserted_in, sentences_of
from mnemic.language.frames.statement_frame import Frame
from mnemic.language.frames.vocabulary import person_words
from mnemic.language.text.lazy_property import lazy_property

_MAY_QUOTE = re.compile("[\"`“«„]|'(?<![\\w']')")
"""Characters of which every quotation contains one: an apostrophe inside a word is none."""
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


class StatedFrame(Frame):
    """Frame of a part of a text that only states (`stated_part.states_all`), as the part then does too."""

    @lazy_property
    def said(self) -> tuple[str, ...]:
        """Its sentences."""
        return sentences_of(self.text)


class PlainlySpokenFrame(Frame):
    """Frame of a part of a text in plain speech (`stated_part.speaks_plainly`), as the part then is too."""

    @lazy_property
    def said(self) -> tuple[str, ...]:
        """Its sentences with a statement."""
        text = QUOTED.sub(" ", self.text) if _MAY_QUOTE.search(self.text) is not None else self.text
        return asserted_in((CALLED_OUT if GREETED.is_absent(text) else CALLED).sub(" ", text))


def about_a_name(frame: Frame) -> bool:
    """Return True if the subject of a text is a name. A text without a verb that can follow a name is not parsed."""
    text = frame.text
    if text.isascii() and person_words()["verbs"].isdisjoint(_WORD.findall(text.lower())):
        return False
    return frame.subject.startswith("name:")
