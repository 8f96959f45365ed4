"""The table of airports of the package `airportsdata` (MIT; the extra `travel`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import airportsdata


def airport_rows() -> Sequence[Mapping[str, Any]]:
    """Every airport with an IATA code, about 7,900 of them: `iata`, `name`, `city`, `subd`, `country`, `tz`."""
    return list(airportsdata.load("IATA").values())
