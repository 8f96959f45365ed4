"""References of a clause to the one before it: "It weighs 4 kilos", "and she sits in Denver", in seven languages."""

from __future__ import annotations

import re

OTHERS = (
    r"(?:he|she|they|it|his|her|their|its|he's|she's|they're|it's|er|sie|ihre?|es|il|elle|ils|elles|son|sa|ses|leurs?"
    r"|él|ella|ellos|ellas|su|sus|lui|lei|loro|suo|sua|ele|ela|eles|elas|seu|seus|suas|hij|zij|ze|hun|zijn|haar)"
)
RELATIVE = (
    r"(?:who|whose|which|where|der|die|das|dessen|deren|wo|qui|dont|où|que|quien|cuy[oa]|donde|che|cui|dove|quem|onde"
    r"|wie|waar)"
)
_LEANS = re.compile(
    rf"(?i)(?:{OTHERS}|{RELATIVE}|that|this|there|so|then|because|since|weil|parce|porque|perché|omdat)\b"
)
_POINTS = re.compile(r"(?i)\b(?:there|it|them|that|this|dort|allí|daar)\b")


def refers_back(text: str) -> bool:
    """Return True if a pronoun or an opening of a part refers to the part before it: "and she sits in Denver"."""
    return bool(_LEANS.match(text) or _POINTS.search(text))
