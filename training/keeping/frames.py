"""Sentences from frames: slots filled from the lexicon, one of each choice, and the way people type."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
_CHOICE = re.compile(r"\(([^()]*)\)")
_SLOT = re.compile(r"\{(\w+)\}")
_OPTIONAL = re.compile(r"([^\W\d_])\?(?=[^\W\d_(])")
_BEFORE = {
    "en": (
        "btw ",
        "oh and ",
        "ok so ",
        "hey, ",
        "so ",
        "well, ",
        "just fyi ",
        "by the way, ",
        "also, ",
        "and ",
        "hi! ",
        "um ",
    ),
    "de": ("ach ja, ", "übrigens ", "also ", "und ", "hey, "),
    "fr": ("au fait, ", "bon, ", "et ", "salut, "),
    "es": ("por cierto, ", "bueno, ", "y ", "hola, "),
    "it": ("comunque ", "a proposito, ", "e ", "ciao, "),
    "pt": ("já agora, ", "bem, ", "e ", "olá, "),
    "nl": ("trouwens ", "nou, ", "en ", "hoi, "),
}
_AFTER = (" lol", " btw", " :)", "!!", " 🎉", " haha", "...", " tho", " 😅", "!", ".")


@dataclass(frozen=True)
class Frame:
    """One frame: its language, its label and its text."""

    language: str
    label: str
    text: str


def frames(folder: str = "frames") -> list[Frame]:
    """All frames of a folder beside this file, in the order of its files."""
    found: list[Frame] = []
    for file in sorted((HERE / folder).glob("*.txt")):
        label = ""
        for line in file.read_text(encoding="utf-8").splitlines():
            if line.startswith("["):
                label = line.strip("[]")
            elif line.strip() and not line.startswith("#"):
                found.append(Frame(file.stem, label, line))
    return found


def lexicon() -> dict[str, dict[str, list[str]]]:
    """Return the fillers of each slot, by language."""
    tables = tomllib.loads((HERE / "lexicon.toml").read_text(encoding="utf-8"))
    parted = {
        lang: {slot: (text.split("|") if "|" in text else text.split()) for slot, text in table.items()}
        for lang, table in tables.items()
    }
    return {lang: parted["any"] | parted[lang] for lang in parted if lang != "any"}


def sentences(frame: Frame, words: dict[str, list[str]], dice: random.Random, count: int) -> Iterator[str]:
    """`count` different sentences of the frame, fewer where it has no more."""
    seen: set[str] = set()
    for _ in range(count * 3):
        text = _spoken(_filled(frame.text, words, dice), frame, dice)
        if text not in seen:
            seen.add(text)
            yield text
        if len(seen) >= count:
            return


def _filled(text: str, words: dict[str, list[str]], dice: random.Random) -> str:
    while "(" in text:
        text, changed = _CHOICE.subn(lambda match: dice.choice(match[1].split("|")), text)
        if not changed:
            break
    text = _OPTIONAL.sub(lambda match: match[1] if dice.random() < 0.5 else "", text)
    return " ".join(_SLOT.sub(lambda match: dice.choice(words[match[1]]), text).split())


def _spoken(text: str, frame: Frame, dice: random.Random) -> str:
    """Return the sentence as somebody might type it."""
    if dice.random() < 0.12:
        text = dice.choice(_BEFORE[frame.language]) + text
    if dice.random() < 0.12 and not text.endswith("?"):
        text += dice.choice(_AFTER)
    elif dice.random() < 0.4 and text[-1].isalnum():
        text += "?" if frame.label == "question" else "."
    if dice.random() < 0.25:
        text = text.lower()
    elif dice.random() < 0.6:
        text = text[0].upper() + text[1:]
    if dice.random() < 0.12:
        text = text.replace("'", "")
    if frame.language == "en" and frame.label not in ("dangling", "chat") and dice.random() < 0.08:
        text = re.sub(r"^(?:I'm|I am|I've|I|we|i'm|i) (?=\w+ \w+ )", "", text)
    return text
