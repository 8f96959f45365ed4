"""Words of a correction that only say that something was wrong; what follows them states what is so."""

from __future__ import annotations

from mnemic_language.text.pattern import Pattern

_DISPUTE = Pattern(
    r"(?i)\A\W{0,3}(?:(?:no|nope|nein|non|nee|não)\b[,.]?\s+)?(?:"
    r"(?:that|this|it)(?:'s|’s| is| was) (?:all )?(?:wrong|false|incorrect|untrue|not (?:true|right|correct))"
    r"|das (?:ist falsch|stimmt(?: so)? nicht)|stimmt(?: so)? nicht|c['’]est faux|ce n['’]est pas (?:vrai|juste)"
    r"|(?:eso )?no es (?:verdad|cierto|correcto)|eso está mal|non è (?:vero|giusto)|(?:è )?sbagliato"
    r"|(?:isso )?não é verdade|(?:isso )?está errado|dat klopt niet|dat is (?:fout|niet waar))"
)
_GOES_ON = Pattern(r"\s{0,3}[,;:–—-]{1,3}\s{0,3}(?=\w)")


def without_dispute(text: str) -> str:
    """Return `text` without an opening that disputes what was said before: "That's wrong, I live in Trondheim"."""
    found = _DISPUTE.match(text)
    stated = None if found is None else _GOES_ON.match(text, found.end())
    return text if stated is None else text[stated.end() :]


def only_disputes(text: str) -> bool:
    """Return True if a part of a sentence says that something was wrong, and nothing else: "No, that's wrong"."""
    found = _DISPUTE.match(text)
    return found is not None and not text[found.end() :].strip(" .,!;:–—-")
