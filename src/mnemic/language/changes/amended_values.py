"""Statements amended with the value of a short correction: "The party is for eight people", "make that ten"."""

from __future__ import annotations

import re

from mnemic.language.changes.certain_changes import PREPOSITIONS, amending
from mnemic.language.changes.statement_parts import rest
from mnemic.language.ended_facts.denials import denied_item, denies_item, puts_right, value_put_right
from mnemic.language.frames.statement_frame import Frame, stem
from mnemic.language.frames.vocabulary import SLOTS, plain, word_classes

_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’-][^\W\d_]+)*")

_NAME = re.compile(r"(?<=[^.!?\s] )(?!I\b)[A-ZÀ-Þ][\w'’-]+(?: [A-ZÀ-Þ][\w'’-]+)*")
_NAMED = re.compile(r"[A-ZÀ-Þ][\w'’.&-]*(?: [A-ZÀ-Þ][\w'’.&-]*)*")
_BEHIND = re.compile(
    r"(?i)\b(?:in|at|to|from|bei|nach|aus|à|a|en|em|te|naar|chez|von|da|di|de|called|is|ist|est|es|è|é) $"
)


def amended(text: str, new: Frame) -> str | None:
    """Return `text` with its value replaced by that of `new`; None if it has no value of that sort, or two, or if `new`
    is more than a correction.
    """
    value = amending(new)
    if value is None or not new.said:
        return _put_right(text, new)
    said = new.said[-1].rstrip(" .!,").split()[-len(value.split()) :]
    for sort in ("numbers", *SLOTS):
        mine, theirs = _of_sort(text, sort), _of_sort(" ".join(said), sort)
        if len(theirs) == 1 and len(mine) > 1:
            return None
        if len(theirs) == len(mine) == 1 and plain(mine[0][0]) != plain(theirs[0][0]):
            return text[: mine[0].start()] + theirs[0][0] + text[mine[0].end() :]
    spoken = " ".join(said)
    return _place_replaced(text, spoken) or _kind_replaced(text, spoken) or _name_replaced(text, spoken)


def _put_right(text: str, new: Frame) -> str | None:
    """Return `text` with the value that `new` corrects, or without the item that it denies; None if it does neither, or
    nothing would remain.
    """
    old, pair = Frame(text), value_put_right(new)
    if pair is not None and puts_right(old, new):
        words = [word for word in _WORD.finditer(text) if stem(plain(word[0])) == stem(pair[0])]
        return text[: words[0].start()] + pair[1] + text[words[0].end() :] if len(words) == 1 else None
    item = denied_item(new)
    if not item or not denies_item(old, new):
        return None
    return rest(text, new, lambda part: float(not item.isdisjoint(part.stems))) or None


def amended_value(value: str, quote: str | None, new: Frame) -> str | None:
    """Return the corrected value of a `value` that was read from `quote`, or of a name without a quote; None if the
    correction is about another part of that statement.
    """
    if quote is None:
        given = amending(new)
        if given is None or len(_NAMED.findall(value)) != 1 or not new.said:
            return None
        spoken = " ".join(new.said[-1].rstrip(" .!,").split()[-len(given.split()) :])
        return spoken if _NAMED.fullmatch(spoken) else amended(value, new)
    before, said, after = quote.rpartition(value)
    if not said:
        return None
    text = amended(f"{before}{said}{after}", new)
    if text is None or not (text.startswith(before) and text.endswith(after)):
        return None
    return text[len(before) : len(text) - len(after)].strip() or None


def _of_sort(text: str, sort: str) -> list[re.Match[str]]:
    """Return the words of a class in a text; digits are numbers."""
    known = word_classes()[sort]
    figures = sort == "numbers"
    return [word for word in _WORD.finditer(text) if plain(word[0]) in known or (figures and word[0][0].isdigit())]


def _place_replaced(text: str, value: str) -> str | None:
    """Return `text` with the phrase after a preposition replaced by `value`, which begins with it ("under the pot")."""
    first = value.split(maxsplit=1)[0]
    found = re.search(rf"\b{re.escape(first)}\b[^.,;!?]*", text) if plain(first) in PREPOSITIONS else None
    return text[: found.start()] + value + text[found.end() :] if found is not None else None


def _kind_replaced(text: str, value: str) -> str | None:
    """Return `text` with another kind of the same thing: "I prefer aisle seats", "window seats"."""
    kind, _, thing = value.rpartition(" ")
    if not kind or " " in kind or kind[0].isupper():
        return None
    found = list(re.finditer(rf"[^\W\d_]+ {re.escape(thing)}\b", text))
    return text[: found[0].start()] + value + text[found[0].end() :] if len(found) == 1 else None


def _name_replaced(text: str, value: str) -> str | None:
    """Return `text` with the name `value` in place of its only name, or of the only one after a preposition."""
    names = [name for name in _NAME.finditer(text) if plain(name[0]) not in word_classes()["empty"]]
    if len(names) > 1:
        names = [name for name in names if _BEHIND.search(text[: name.start()])]
    if len(names) != 1 or not value[0].isupper():
        return None
    return text[: names[0].start()] + value + text[names[0].end() :]
