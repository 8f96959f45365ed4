"""JSON in a model's answer: the last value of the text, whatever stands around it.

Models think aloud, greet, fence their answer, leave a comma, write Python, or are cut off at the limit of their tokens.
The value itself is then read as strict JSON (`mnemic.policy.strict_json`), so that nothing ambiguous gets in.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from mnemic.policy import strict_json

_THOUGHT = re.compile(r"\A\s*<(think|thinking|reasoning)>.*?</\1>", re.DOTALL)
_FENCED = re.compile(r"```[a-zA-Z]*[ \t]*\r?\n(.*?)(?:```|\Z)", re.DOTALL)
_LAST_COMMA = re.compile(r",(?=\s*[\]}])")
_NOT_FINITE = re.compile(r"(?<=[:\[,])\s*-?(?:NaN|Infinity)(?=\s*[,\]}])")
MAX_CHARS = strict_json.MAX_BYTES


def loads_answer(text: str) -> object:
    """Return the last JSON object or list in `text`, or its one plain value. Of a value that is cut off, the whole
    items are kept. Raises NotStrictJson.
    """
    text = without_thought(text)
    try:
        return strict_json.loads(text)
    except strict_json.NotStrictJson as error:
        refused = error
    if len(text) > MAX_CHARS:
        raise refused
    fenced = [] if text.startswith(("{", "[")) else [one.strip() for one in _FENCED.findall(text)]
    for part in (*reversed(fenced), text):
        value = _last_value(part)
        if value is not None:
            return value
    raise refused


def without_thought(text: str) -> str:
    """Return an answer without what the model has thought aloud before it."""
    return _THOUGHT.sub("", text.lstrip("\ufeff"), count=1).strip()


def _last_value(text: str) -> object | None:
    for part in reversed(list(_values_in(text))):
        for form in _forms(part):
            try:
                value = strict_json.loads(form)
            except strict_json.NotStrictJson:
                continue
            if isinstance(value, dict | list):
                return value
    return None


def _values_in(text: str) -> Iterator[str]:
    """Yield the objects and lists that stand in `text`, the last one perhaps without its end."""
    at = 0
    while (start := _first_of(text, "{[", at)) >= 0:
        end, whole = _end_of(text, start)
        if whole is None:
            yield text[start:end]
            at = end
        elif not whole:
            return
        else:
            yield whole
            return


def _first_of(text: str, marks: str, at: int) -> int:
    return min((place for mark in marks if (place := text.find(mark, at)) >= 0), default=-1)


def _end_of(text: str, start: int) -> tuple[int, str | None]:
    """Return the end of the value that begins at `start`; for one without an end, its whole members, closed."""
    open_marks: list[str] = []
    last_whole, closing = start, ""
    inside = escaped = False
    for place in range(start, len(text)):
        mark = text[place]
        if inside:
            inside = escaped or mark != '"'
            escaped = mark == "\\" and not escaped
        elif mark == '"':
            inside = True
        elif mark in "{[":
            open_marks.append("}" if mark == "{" else "]")
        elif mark in "}]":
            if not open_marks or open_marks.pop() != mark:
                return place + 1, None
            if not open_marks:
                return place + 1, None
            if mark == "}":
                last_whole, closing = place + 1, "".join(reversed(open_marks))
    return len(text), text[start:last_whole] + closing if closing else ""


def _forms(text: str) -> Sequence[str]:
    """Return a value as it stands, and repaired: without a last comma and with numbers that are finite, and as Python
    writes it.
    """
    repaired = _NOT_FINITE.sub(" null", _LAST_COMMA.sub("", text))
    forms = [text, repaired, re.sub(r"(?<=[:\[,]) ?None(?=\s*[,\]}])", " null", repaired)]
    if "'" in text:
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            forms.append(json.dumps(ast.literal_eval(text)))
    return forms
