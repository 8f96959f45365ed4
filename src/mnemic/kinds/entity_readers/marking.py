"""Names in a text, each replaced by a marker, so that one rule "NAME works at NAME" matches every name."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mnemic.extract.entities import ME

MAX_NAME_WORDS = 6
_WORD = re.compile(r"[^\W_](?:[\w'’&+#]|[.-](?=\w))*+")
_LINK = frozenset("de del di da do dos das della van von der den ten bin ibn al el la le les du of the &".split())
_SENTENCE_WORDS = frozenset(
    """
    i i'm i've i'd i'll we we're we've you he she it they this that these those there here the a an my our your his her
    its their what which who whom whose when where why how if because since while after before and but or so then also
    yes yeah yep yup nope oh ah wow haha
    no not please thanks thank hi hello hey ok okay well now today tomorrow yesterday last next every each some any
    many most all both in on at by for from with without about near during until over under again once maybe perhaps
    actually just only even still already always never sometimes usually often later soon as to do does did is are was
    were be been have has had can could will would should may might must let let's get got go going remember note
    mi mis yo tú tu él ella nosotros ellos ellas el la los las un una unos unas en de con por para y o pero que cuando
    donde como si no sí hoy mañana ayer también hola gracias nuestro nuestra su sus este esta
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september
    october november december lunes martes miércoles jueves viernes sábado domingo english spanish french german
    italian portuguese chinese japanese
    """.split()
)


@dataclass(slots=True)
class MarkedText:
    """Text with `⟦n⟧` in place of names, and the names by number; 0 is the user."""

    text: str = field(repr=False)
    names: list[str] = field(default_factory=lambda: [ME], repr=False)

    def mark(self, name: str) -> str:
        """Return the mark of a name, which gets a number if it has none."""
        if name not in self.names:
            self.names.append(name)
        return f"⟦{self.names.index(name)}⟧"


def mark_names(text: str, into: MarkedText) -> str:
    """Return `text` with its names marked. A name is a run of capitalised words; words that begin a sentence or join
    names are not names on their own.
    """
    words = [(match[0], *match.span()) for match in _WORD.finditer(text.replace("⟦", "(").replace("⟧", ")"))]
    pieces: list[str] = []
    done = at = 0
    while at < len(words):
        end = _name_end(words, at, text)
        if end == at:
            at += 1
            continue
        start, stop = words[at][1], words[end - 1][2]
        name = text[start:stop]
        if name.endswith(("'s", "’s")):
            name, stop = name[:-2], stop - 2
        pieces += [text[done:start], into.mark(name)]
        done, at = stop, end
    return "".join([*pieces, text[done:]])


def _name_end(words: list[tuple[str, int, int]], first: int, text: str) -> int:
    """Return the position after the last word of the name that begins at `first`; `first` if none begins there."""
    if not _is_proper(words[first][0]):
        return first
    end = at = first + 1
    while at < len(words) and at - first < MAX_NAME_WORDS and _adjoins(text, words[at - 1], words[at]):
        word = words[at][0]
        if words[at - 1][0].endswith(("'s", "’s")):
            break
        if _is_proper(word) or (word.isdigit() and end == at):
            end = at + 1
        elif word.casefold() not in _LINK:
            break
        at += 1
    return end


def _adjoins(text: str, one: tuple[str, int, int], other: tuple[str, int, int]) -> bool:
    between = text[one[2] : other[1]]
    return between in (" ", " & ") or (between == ". " and len(one[0]) <= 2)


def _is_proper(word: str) -> bool:
    bare = word.casefold().replace("’", "'").removesuffix("'s")
    return word[0].isupper() and bare not in _SENTENCE_WORDS and not (word.isupper() and len(word) == 1)
