"""Statements that are true on a condition or a feast day only, and leave unconditional statements unchanged."""

from __future__ import annotations

from mnemic.language.frames.frame_expressions import SHOWN
from mnemic.language.frames.statement_frame import Frame
from mnemic.language.text.pattern import WordPattern

_ON_CONDITION = WordPattern(
    r"\A\W*(?:if|unless|whenever|only (?:if|when)|wenn|falls|si|cada vez que|siempre que|se|ogni volta che|sempre que"
    r"|als|(?:at|on|over|for|zu|an|uber|a|pour|en|por|per|no|na|met|tijdens|op) (?:the )?(?:christmas|easter|birthdays"
    r"|weddings"
    r"|parties|weihnachten|ostern|festen|noel|paques|mariages|fetes|navidad|navidades|nochebuena|bodas|fiestas|natale"
    r"|pasqua|feste|natal|pascoa|festas|casamentos|kerst|pasen|feestjes))\b(?=.{3,80}(?:,| ich | eet | drink "
    r"| neem | ik ))"
)
"""Matches a condition at the beginning of a statement."""


def depends(old: Frame, new: Frame) -> bool:
    """Return True if `new` has a condition or a feast day, `old` has none, and no word indicates a change: "I take no
    sugar", "If the coffee is from a machine, I take sugar".
    """
    if new.cues & {"change", "correct", "end", "takes_back"}:
        return False
    if SHOWN.search(new.plain) is not None:
        return True  # "I know this isn't a lily" is about something shown
    return _ON_CONDITION.match(new.plain) is not None and _ON_CONDITION.match(old.plain) is None
