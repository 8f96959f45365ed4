"""English words for times, in lower case."""

from __future__ import annotations

import calendar

WEEKDAYS = tuple(name.lower() for name in calendar.day_name)
"""Monday first, as in `date.weekday`."""
MONTHS = tuple(name.lower() for name in calendar.month_name)
"""Index: the number of the month; the first is empty."""
COUNTS = dict(zip("one two three four five six seven eight nine ten eleven twelve".split(), range(1, 13), strict=True))
COUNTS |= {"a": 1, "an": 1}
