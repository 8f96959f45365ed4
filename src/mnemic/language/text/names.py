"""Names of people, organisations and places: equality of spellings, and the form used in a key."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping

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
