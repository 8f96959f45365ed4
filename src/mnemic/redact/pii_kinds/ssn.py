"""US social security numbers: areas 000, 666 and 900 to 999, group 00 and serial 0000 are not issued.

Dots part the numbers of builds and versions: a number with dots counts only where words call it a social security one.
"""

from __future__ import annotations

from mnemic.redact.character_mask import drawn
from mnemic.redact.search_primitives import AnyCase, digits, pattern

_FORM = r"(?!000|666|9)\d{3}%s(?!00)\d\d%s(?!0000)\d{4}"
ssns = (
    pattern(
        r"[0-8](?<![\w.\-].)(?:(?<!0)|(?!00))(?:(?<!6)|(?!66))\d\d([ \-])(?!00)\d\d\1(?!0000)\d{4}"
        r"(?!\w|[.\-][\d\ufdd0])",
        needs=drawn(b"000 00 0000"),
        spell=digits,
    ),
    pattern(
        AnyCase(
            r"(?:ssn|social(?: security)?)(?: number| no\.?|#)?(?: is|:|=| -)? {0,2}("
            + _FORM % (r"[ .\-]?", r"[ .\-]?")
            + r")(?!\d)"
        ),
        needs=("ssn", "social"),
        spell=digits,
        group=1,
    ),
)
