"""Names of people, organisations and places: equality of spellings, the form used in a key, and the possible names in a
text, which are every run of a few of its words.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice

from mnemic.language.text.language import UNSPACED
from mnemic.language.text.pattern import Pattern

FURTHER = "names"
"""Field of a memory's `data` with its aliases."""

_QUOTES = str.maketrans({"’": "'", "‘": "'", "‐": "-", "–": "-"})
_ARTICLE = re.compile(r"^(?:the|el|la|los|las) (?=\S)")
_HONORIFIC = re.compile(r"^(?:dr|mr|mrs|ms|miss|mx|prof|professor|sir|dame|sr|sra|srta|don|doña|dona)\.? (?=\S)")
_LEGAL = re.compile(
    r"(?<![, ])[, ]++(?:ag|gmbh|inc|ltd|llc|plc|corp|corporation|company|co|limited|s\.?a|s\.?l|b\.?v|n\.?v|oy|ab)\.?$"
)
_BETWEEN_WORDS = re.compile(r"[\s'.,&_/-]+")
_PLAIN = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_LONGEST = 28
_DIGEST_DIGITS = 8


def further_names(data: Mapping[str, object]) -> list[str]:
    """Return the aliases in this `data` of a memory."""
    listed = data.get(FURTHER)
    return [name for name in listed if isinstance(name, str)] if isinstance(listed, list | tuple) else []


def fold_name(name: str) -> str:
    """Return the canonical form of the spellings of a name: without case, accents, and repeated spaces."""
    parts = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name.translate(_QUOTES)).casefold())
    return " ".join("".join(c for c in parts if not unicodedata.combining(c)).split())


def core(name: str, label: str) -> str:
    """Return `folded` without optional parts of a name: an article, a title, a legal form."""
    text = _ARTICLE.sub("", fold_name(name))
    if label == "person":
        text = _HONORIFIC.sub("", text)
    elif label == "organisation":
        text = _LEGAL.sub("", text)
    return text or fold_name(name)


def slug(name: str, label: str) -> str:
    """Return the form of a name for keys: letters and digits of ASCII, at most 37 characters.

    Names that are equal by `core` have the same slug, all others different ones: if the slug would lose something
    (another script, a sign that is not between words, length), a digest of the name is added.
    """
    text = core(name, label)
    plain = _BETWEEN_WORDS.sub("-", text).strip("-")
    if _PLAIN.fullmatch(plain) and len(plain) <= _LONGEST:
        return plain
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_DIGITS // 2).hexdigest()
    kept = "-".join(re.findall(r"[a-z0-9]+", plain))[:_LONGEST].strip("-")
    return f"{kept}~{digest}" if kept else f"~{digest}"


MAX_WORDS = 4
MAX_SIGNS = 8
MAX_RUNS = 256
"""Maximum number of runs of a text."""

_BETWEEN = r"\s'’‘.,&_/‐–\-"
_APART = r"?!;:()\[\]{}\"“”„«»¿¡…*<>|=~^%$@\\、。，？！「」『』（）：；"
_WORD = Pattern(rf"[{UNSPACED}]+|[^{UNSPACED}{_BETWEEN}{_APART}]+")
_ASCII_WORD = re.compile(rf"[^{_BETWEEN}{_APART}]+")
_JOINING = re.compile(rf"[{_BETWEEN}]+")
_UNSPACED = Pattern(rf"[{UNSPACED}]")
_GENITIVE = re.compile(r"\A[^\W\d_]{3,}s")
_SIMPLE = re.compile(r"[a-z0-9]+(?:[ '.&/-][a-z0-9]+)*")
_SEPARATOR = re.compile(r"[ '.&/-]")
_LONGEST_SIMPLE = 28


def spelled_names(text: str, *, common: Collection[str] = ()) -> list[str]:
    """Return the slugs (`mnemic.language.text.names.slug`) of all possible names in `text`, each once, in order.

    Names are one to four words, or two to eight signs in scripts that do not separate words. None begins or ends with
    one of the `common` words, unless it is capitalised ("Will"). The s of a genitive is also removed ("Anas Chef").
    """
    text = unicodedata.normalize("NFKC", text)
    words = list(islice((_ASCII_WORD if text.isascii() else _WORD).finditer(text), MAX_RUNS))
    runs = (run for first in range(len(words)) for run in _runs(text, words[first : first + MAX_WORDS], common))
    return list(dict.fromkeys(map(_slug, islice(runs, MAX_RUNS))))


def _runs(text: str, words: Sequence[re.Match[str]], common: Collection[str]) -> Iterator[str]:
    """Yield the runs that begin with the first of these words."""
    begin, first = words[0].start(), words[0].group()
    if not first.isascii() and _UNSPACED.match(first):
        yield from (first[at : at + length] for at in range(len(first)) for length in _lengths(len(first) - at))
        return
    if first in common:
        return
    before = begin
    for word in words:
        if word.start() > begin and not _JOINING.fullmatch(text, before, word.start()):
            return
        before, last = word.end(), word.group()
        if last not in common:
            yield text[begin:before]
        if _GENITIVE.fullmatch(last):
            yield text[begin : before - 1]


def _lengths(left: int) -> range:
    return range(2, min(left, MAX_SIGNS) + 1)


def _slug(run: str) -> str:
    """Return the result of `slug`, faster for plain text: a question has dozens of runs."""
    plain = run.lower()
    if len(plain) <= _LONGEST_SIMPLE and _SIMPLE.fullmatch(plain):
        return _SEPARATOR.sub("-", plain)
    return slug(run, "thing")
