"""Statements that are true on a condition or on a feast day, and change nothing that is true without it."""

from __future__ import annotations

from mnemic_language.frames.frame_expressions import SHOWN
from mnemic_language.frames.statement_frame import Frame
from mnemic_language.text.pattern import WordPattern

_ON_CONDITION = WordPattern(
    r"\A\W*(?:if|unless|whenever|only (?:if|when)|wenn|falls|si|cada vez que|siempre que|se|ogni volta che|sempre que"
    r"|als|(?:at|on|over|for|zu|an|uber|a|pour|en|por|per|no|na|met|tijdens|op) (?:the )?(?:christmas|easter|birthdays"
    r"|weddings"
    r"|parties|weihnachten|ostern|festen|noel|paques|mariages|fetes|navidad|navidades|nochebuena|bodas|fiestas|natale"
    r"|pasqua|feste|natal|pascoa|festas|casamentos|kerst|pasen|feestjes))\b(?=.{3,80}(?:,| ich | eet | drink "
    r"| neem | ik ))"
)
"""Opens a statement with what it depends on."""


def depends(old: Frame, new: Frame) -> bool:
    """Return True if `new` is true on a condition or on a feast day, `old` without it, and no word says that this has
    changed: "I take no sugar", "If the coffee is from a machine, I take sugar".
    """
    if new.cues & {"change", "correct", "end", "takes_back"}:
        return False
    if SHOWN.search(new.plain) is not None:
        return True  # "I know this isn't a lily": of what is shown
    return _ON_CONDITION.match(new.plain) is not None and _ON_CONDITION.match(old.plain) is None
