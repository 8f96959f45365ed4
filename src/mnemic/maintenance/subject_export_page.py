"""All data about one subject as a page for people: one HTML file without scripts, images or links, for screen readers,
printing and storing.
"""

from __future__ import annotations

import html
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

from mnemic.maintenance.subject_export import Entries, SubjectExport
from mnemic.types import Status

_STYLE = """
:root { color-scheme: light dark }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem;
       overflow-wrap: anywhere }
article { border-top: 1px solid; padding: .5rem 0; break-inside: avoid }
article h3 { font-size: 1rem; margin: .25rem 0 }
blockquote { margin: .5rem 0; padding-left: 1rem; border-left: .25rem solid; white-space: pre-wrap }
dl { display: grid; grid-template-columns: 12rem 1fr; gap: .1rem 1rem; margin: .5rem 0 }
dt { font-weight: 600 }
dd { margin: 0 }
table { border-collapse: collapse; width: 100% }
caption { text-align: left; font-weight: 600; padding: .5rem 0 }
th, td { text-align: left; vertical-align: top; border-bottom: 1px solid; padding: .25rem .75rem .25rem 0 }
thead { display: table-header-group }
tr { break-inside: avoid }
.skip:not(:focus) { position: absolute; left: -100rem }
@media print { nav, .skip { display: none } body { max-width: none; margin: 0 } }
"""

_GROUPS: Mapping[str, tuple[str, str, tuple[Status, ...]]] = {
    "remembered": ("Remembered now", "Used in answers.", (Status.ACTIVE,)),
    "waiting": ("Waiting for a person", "Not used until somebody has approved it.", (Status.PENDING_REVIEW,)),
    "closed": (
        "Replaced, turned down or expired",
        "Not used any more. What was replaced is kept as history.",
        (Status.SUPERSEDED, Status.REJECTED, Status.EXPIRED),
    ),
}
_TALKS = ("conversations", "Open conversations", "The messages of conversations still in progress.")
_TABLES: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "sealed_values": (
        "Values kept sealed",
        "What stood where a marker such as [EMAIL#a1b2] stands now.",
        ("marker", "entity", "value"),
    ),
    "consents": ("Consent", "What was decided about single keys.", ("key", "granted", "at")),
    "ratings": ("Ratings", "What was said of memories.", ("memory_id", "verdict", "version", "rated_at")),
    "erasures": ("Erasure", "The last time everything was erased.", ("at", "block")),
    "usage": ("How much is held", "At this person's own level, by kind.", ("kind", "rows", "bytes", "recent")),
    "quotas": ("Quotas", "How far each limit is used up; 1 is all of it.", ("limit", "used", "warns_from")),
    "requests": (
        "Answered requests",
        "Kept so that a repeated request changes nothing.",
        ("idempotency_key", "at", "receipt"),
    ),
    "injections": (
        "Shown to a model",
        "Which memories stood in the input of which run, each with its version.",
        ("at", "run_id", "run_of", "memories"),
    ),
    "turns": (
        "Questions and answers",
        "The turns whose texts are kept, for 30 days.",
        ("at", "run_id", "question", "answer", "block", "shown", "named"),
    ),
    "merged_elsewhere": (
        "Merged with words of others",
        "In shared places; what they say is not this person's alone, so they are named only.",
        ("memory_id", "level", "kind", "status", "made_of"),
    ),
    "audit": (
        "What happened",
        "Every line of the record that concerns this person.",
        ("at", "action", "by", "level", "memory_id", "version", "detail"),
    ),
}
_SHOWN = (
    ("memory_id", "Memory"),
    ("status", "State"),
    ("kind", "Kind"),
    ("level", "Where"),
    ("category", "Category"),
    ("data", "Data"),
    ("context", "Found by"),
    ("confidence", "Confidence"),
    ("trust", "Trust"),
    ("source", "Source"),
    ("agent", "Agent"),
    ("proposed_by", "Proposed by"),
    ("created_at", "Learnt"),
    ("updated_at", "Last changed"),
    ("occurred_at", "Took place"),
    ("valid_from", "True from"),
    ("valid_to", "True until"),
    ("expires_at", "Expires"),
    ("supersedes", "Took the place of"),
    ("conflicts_with", "Contradicts"),
)


async def page_chunks(holdings: SubjectExport) -> AsyncIterator[str]:
    """Yield the holdings as one page of HTML."""
    yield _head(holdings)
    for name, (title, meaning, statuses) in _GROUPS.items():
        async for chunk in _section(name, title, meaning, _list_entries(holdings.memories(statuses), _memory)):
            yield chunk
    sections = holdings.sections()
    async for chunk in _section(*_TALKS, _list_entries(sections["conversations"], _conversation)):
        yield chunk
    for name, (title, meaning, columns) in _TABLES.items():
        async for chunk in _section(name, title, meaning, _table(sections[name], title, columns)):
            yield chunk
    yield "</main>\n</html>\n"


def _head(holdings: SubjectExport) -> str:
    head = holdings.head()
    title = f"What is held about {html.escape(head['subject'])}"
    listed = [*((name, title) for name, (title, *_) in _GROUPS.items()), _TALKS[:2]]
    listed += [(name, title) for name, (title, *_) in _TABLES.items()]
    links = "".join(f'<li><a href="#{name}">{title}</a></li>' for name, title in listed)
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n"
        '<a class="skip" href="#content">To the content</a>\n'
        f"<header><h1>{title}</h1>\n<p>Tenant {_text(head['tenant'])}, as of {_time(head['generated_at'])}. "
        "Times are in UTC.</p></header>\n"
        f'<nav aria-label="Sections"><ul>{links}</ul></nav>\n<main id="content">\n'
    )


async def _section(name: str, title: str, meaning: str, inside: AsyncIterator[str]) -> AsyncIterator[str]:
    yield f'<section id="{name}" aria-labelledby="{name}-title">\n'
    yield f'<h2 id="{name}-title">{title}</h2>\n<p>{meaning}</p>\n'
    async for chunk in inside:
        yield chunk
    yield "</section>\n"


async def _list_entries(entries: Entries, written: Callable[[Mapping[str, Any]], str]) -> AsyncIterator[str]:
    empty = True
    async for entry in entries:
        empty = False
        yield f"<article>\n{written(entry)}</article>\n"
    if empty:
        yield "<p>Nothing.</p>\n"


async def _table(entries: Entries, title: str, columns: Sequence[str]) -> AsyncIterator[str]:
    empty = True
    async for entry in entries:
        if empty:
            heads = "".join(f'<th scope="col">{_text(name.replace("_", " "))}</th>' for name in columns)
            yield f"<table>\n<caption>{title}</caption>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n"
        empty = False
        yield "<tr>" + "".join(f"<td>{_value(entry.get(name))}</td>" for name in columns) + "</tr>\n"
    yield "<p>Nothing.</p>\n" if empty else "</tbody>\n</table>\n"


def _memory(entry: Mapping[str, Any]) -> str:
    rows = "".join(
        f"<dt>{title}</dt><dd>{_value(entry[name])}</dd>"
        for name, title in _SHOWN
        if entry[name] not in (None, "", [], {})
    )
    earlier = "".join(
        f"<li>version {one['version']}, {_time(one['updated_at'])}, {_text(one['status'])}: {_quote(one['content'])}"
        f"<dl>{_differing(one, entry)}</dl></li>"
        for one in entry["earlier"]
    )
    history = f"<h4>Earlier versions</h4>\n<ol>{earlier}</ol>\n" if earlier else ""
    return f"<h3>{_text(entry['key'] or entry['kind'])}</h3>\n{_quote(entry['content'])}\n<dl>{rows}</dl>\n{history}"


def _differing(one: Mapping[str, Any], latest: Mapping[str, Any]) -> str:
    """Render the differences of an earlier version, except fields that change with every version."""
    return "".join(
        f"<dt>{title}</dt><dd>{_value(one[name])}</dd>"
        for name, title in _SHOWN
        if name not in ("status", "updated_at") and one[name] != latest[name]
    )


def _conversation(entry: Mapping[str, Any]) -> str:
    if entry["shared"]:
        line = "<p>Others write in this conversation too; it is not shown here.</p>"
    else:
        line = "".join(
            f"<p>{_text(one['speaker'] or one['role'])}, {_value(one['sent_at'])}:</p>{_quote(one['content'])}"
            for one in entry["messages"]
        )
    return f"<h3>{_text(entry['session'])}</h3>\n{line}\n"


def _quote(text: str) -> str:
    return f'<blockquote dir="auto">{html.escape(text)}</blockquote>'


def _text(text: object) -> str:
    return f"<bdi>{html.escape(str(text))}</bdi>"


def _time(moment: str) -> str:
    return f'<time datetime="{html.escape(moment)}">{html.escape(moment[:19].replace("T", " "))}</time>'


def _value(value: Any) -> str:
    """Return a value of JSON, readable: lists and objects as lists."""
    if isinstance(value, Mapping):
        inside = "".join(f"<li>{_text(name)}: {_value(item)}</li>" for name, item in value.items() if item is not None)
        return f"<ul>{inside}</ul>"
    if isinstance(value, list):
        return "<ul>" + "".join(f"<li>{_value(item)}</li>" for item in value) + "</ul>" if value else ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else _text(value)
