"""Content words of a question, which identify its object."""

from __future__ import annotations

import re

from mnemic.language.text.language import common_words, language_of

INVERTED = re.compile(r"(?:-t)?-(?:je|tu|il|elle|on|nous|vous|ils|elles|ce|moi)\Z")
"""Matches a French pronoun after its verb: "ai-je"."""

COMMON = frozenset(
    """
    a an the is are was were be been being am do does did doing have has had having i me my we our you your he she it
    they them his her its their this that these those to of in on at for with by from as and or but if so than then
    there here what which who whom when where why how will would can could should may might shall not no about into
    out up down over just also very too
    """.split()
)
"""English words that do not indicate the topic."""


def content_words(text: str) -> list[str]:
    """Return the words of `text` that are not common ones, of English or of the language of the text."""
    words, language = text.split(), language_of(text)
    empty = COMMON if language is None else COMMON | common_words(language)
    common = {word for word in set(words) if INVERTED.sub("", word.strip(".,;:!?¿¡'’()").lower()) in empty}
    return [word for word in words if word not in common]
