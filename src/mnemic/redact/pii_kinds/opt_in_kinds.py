"""Kinds that are detected if the caller's actions name them: callers often want to store such values."""

from __future__ import annotations

from mnemic.redact.search_primitives import AnyCase, Finder, pattern

_MONTH = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_DATE = (
    rf"((?:\d{{1,2}}(?:st|nd|rd|th)? (?:of )?(?:{_MONTH})[a-z]{{0,6}}\.?|(?:{_MONTH})[a-z]{{0,6}}\.? \d{{1,2}}"
    r"(?:st|nd|rd|th)?)(?:,? (?:19|20)\d\d)?|\d{1,2}[./\-]\d{1,2}[./\-](?:19|20)?\d\d|(?:19|20)\d\d-\d\d-\d\d)(?!\w)"
)
_PLACE = r"[+\-]?\d{1,3}\.\d{4,8}"

OPTIONAL = {
    finder.entity: finder
    for finder in (
        Finder(
            "BIRTHDAY",
            (
                pattern(
                    AnyCase(
                        r"(?<![^\W_])(?:born|birthday|date of birth|birth ?date|dob|d\.o\.b\.)"
                        rf"(?:[ \-]?(?:on|is|was|the|:|=)){{0,3}} {{0,2}}{_DATE}"
                    ),
                    needs=("born", "birth", "dob", "d.o.b"),
                    group=1,
                ),
            ),
        ),
        Finder(
            "GPS",
            (
                pattern(rf"(?<![\w.]){_PLACE}°?,? {{0,2}}{_PLACE}(?![\w.])"),
                pattern(
                    AnyCase(
                        r"\d{1,3}° ?\d{1,2}['′] ?(?:\d{1,2}(?:\.\d+)?(?:\"|″|'')? ?)?[ns][, ]{0,2}"
                        r"\d{1,3}° ?\d{1,2}['′] ?(?:\d{1,2}(?:\.\d+)?(?:\"|″|'')? ?)?[ew](?!\w)"
                    ),
                    needs=("°",),
                ),
            ),
        ),
        Finder("HANDLE", (pattern(r"(?<![\w@./])@[A-Za-z_][\w.]{1,29}(?<!\.)(?![\w@])", spell=str.casefold),)),
        Finder(
            "PLATE",
            (
                pattern(
                    AnyCase(
                        r"(?<![^\W_])(?:licen[cs]e plate|number plate|registration plate|plate number|plate|kennzeichen"
                        r"|matr[ií]cula|immatriculation)(?:[ \-]?(?:no\.?|number|is|es|ist|:|=)){0,3} {0,2}"
                        r"((?=[a-z\d \-]{0,9}\d)[a-z\d]{1,4}(?:[ \-][a-z\d]{1,4}){0,2})(?!\w)"
                    ),
                    needs=("plate", "kennzeichen", "matr", "immatriculation"),
                    group=1,
                ),
            ),
        ),
    )
}
"""The optional detectors by their kinds."""
