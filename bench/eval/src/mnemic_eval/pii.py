"""Texts with and without personal data and secrets: recall and false positives of redaction.

Every text goes through the redaction step of the write path with its default detectors. PATH is a file, or a folder
searched with everything under it, in two formats:

- a JSON list of {full_text, spans: [{entity_type, start_position, end_position}], template_id} (presidio-research).
  A span of a structured type is recalled where nothing of it is left but separators. A replacement is right where it
  touches such a span, or a driving licence. Split: by the parity of `template_id`, even is `dev`, so that no template
  is in both.
- a CSV with the columns `point`, `type`, `subtype`, `example` (DLP benchmark). It labels sentences: a Positive that
  says its value plainly (subtype Direct) is recalled where something was replaced; for points that name a structured
  type it must be of that type. Negatives are benign. Split: pairs of lines, alternately `dev` and `test`.

`recall` and `precision` are over structured types, `secrets_recall` over the DLP points that name credentials,
`benign_changed` over DLP negatives and presidio sentences without a span. `typo_recall` is reported and is no aim: the
same values with letters left out and spaces put in. Nothing is sampled.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.write.prepare import Redactor
from mnemic_eval.conditions import conditions
from mnemic_eval.outcome import SEED, SPLITS
from mnemic_eval.progress import Progress, silent
from mnemic_eval.samples import files, json_list, share, shares_of_true, table

STRUCTURED: Mapping[str, str] = {
    "EMAIL_ADDRESS": "EMAIL", "PHONE_NUMBER": "PHONE", "CREDIT_CARD": "CARD", "IBAN_CODE": "IBAN", "US_SSN": "SSN",
    "IP_ADDRESS": "IP", "MAC_ADDRESS": "MAC", "IMEI": "IMEI",
}  # fmt: skip
ALSO = frozenset({"US_DRIVER_LICENSE"})
"""Types that are redacted only after a label: redacting one is right, and recall does not count them."""
_POINTS = {
    "Email Addresses": "EMAIL", "Phone Numbers": "PHONE", "Social Security Numbers": "SSN", "Payment Details": "CARD",
    "IP Addresses": "IP", "MAC Addresses": "MAC", "IMEI Numbers": "IMEI",
}  # fmt: skip
_CREDENTIALS = (
    "Passwords", "PINs", "Security Codes", "License Keys", "Firmware Keys", "API Keys", "WiFi Passwords",
    "Session Tokens", "Two-Factor Authentication Codes",
)  # fmt: skip
SECRET = "SECRET"  # noqa: S105 - the name of an entity
_PEPPER = bytes(32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """One text: its half, the spans to redact (entity, start, end), and its attributes."""

    split: str
    text: str = field(repr=False)
    spans: tuple[tuple[str, int, int], ...] | None = None
    also: tuple[tuple[int, int], ...] = ()
    whole: str | None = None
    typo: bool = False
    benign: bool = False


@dataclass(slots=True)
class _Seen:
    """Observations in one half."""

    recalled: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    right: list[bool] = field(default_factory=list)
    typos: list[bool] = field(default_factory=list)
    changed: list[bool] = field(default_factory=list)
    texts: int = 0

    def figures(self) -> dict[str, Any]:
        structured = [hit for entity, hits in self.recalled.items() if entity != SECRET for hit in hits]
        secrets = self.recalled.get(SECRET, [])
        return {
            "recall": share(sum(structured), len(structured)),
            "precision": share(sum(self.right), len(self.right)),
            "secrets_recall": share(sum(secrets), len(secrets)),
            "benign_changed": share(sum(self.changed), len(self.changed)),
            "typo_recall": share(sum(self.typos), len(self.typos)),
            "by_entity": shares_of_true(self.recalled),
            "texts": self.texts,
            "replacements": len(self.right),
            "benign": len(self.changed),
        }


def texts(path: Path) -> list[Text]:
    """Return every text at `path`. Raises InvalidInput (`invalid_input:data:...`)."""
    found: list[Text] = []
    for file in files(path, (".json", ".csv")):
        found += _presidio(json_list(file)) if file.suffix == ".json" else _dlp(table(file))
    if not found:
        raise InvalidInput("data:pii", hint="no file there contains texts in a known format")
    return found


def _presidio(entries: Iterable[Any]) -> Iterator[Text]:
    for entry in entries:
        if not isinstance(entry, Mapping) or "full_text" not in entry:
            continue
        spans = tuple(
            (STRUCTURED[span["entity_type"]], int(span["start_position"]), int(span["end_position"]))
            for span in entry["spans"]
            if span["entity_type"] in STRUCTURED
        )
        also = tuple(
            (int(span["start_position"]), int(span["end_position"]))
            for span in entry["spans"]
            if span["entity_type"] in ALSO
        )
        split = SPLITS[int(entry["template_id"] or 0) % 2]
        yield Text(split=split, text=entry["full_text"], spans=spans, also=also, benign=not entry["spans"])


def _dlp(rows: Iterable[Mapping[str, str]]) -> Iterator[Text]:
    for place, row in enumerate(rows):
        if not {"point", "type", "subtype", "example"} <= row.keys():
            continue
        split, text = SPLITS[place // 2 % 2], row["example"]
        point = row["point"].split(":")[0].split(" (")[0].strip()
        entity = SECRET if point in _CREDENTIALS else _POINTS.get(point)
        if row["type"] == "Negative":
            yield Text(split=split, text=text, benign=True)
        elif entity is not None and row["subtype"] in ("Direct", "Typo"):
            yield Text(split=split, text=text, whole=entity, typo=row["subtype"] == "Typo")


def run(path: str | Path, *, progress: Progress = silent, seed: int = SEED, **_: object) -> dict[str, Any]:
    """Measure the texts at `path`: `dev` and `test` with the figures as fractions, and `settings`. Draws nothing.

    Raises InvalidInput for data that is not there or in no known format.
    """
    redactor = Redactor()
    halves = {split: _Seen() for split in SPLITS}
    found = texts(Path(path))
    for place, text in enumerate(found, start=1):
        _look(text, redactor, halves[text.split])
        if place % 500 == 0 or place == len(found):
            progress("texts", place, len(found))
    measured = {split: seen.figures() for split, seen in halves.items()}
    return {**measured, "settings": conditions(seed=seed, set="pii", embedder="none")}


def _look(text: Text, redactor: Redactor, seen: _Seen) -> None:
    seen.texts += 1
    done = redactor.redact(text.text, _PEPPER)
    if text.benign:
        seen.changed.append(done.text != text.text)
    if text.whole is not None:
        hit = text.whole in done.replaced
        (seen.typos if text.typo else seen.recalled[text.whole]).append(hit)
    if text.spans is not None:
        hidden = [(start, end) for start, end, *_ in redactor.find(text.text)]
        for entity, start, end in text.spans:
            left = [at for at in range(start, end) if text.text[at].isalnum() and not _inside(at, hidden)]
            seen.recalled[entity].append(not left)
        labelled = [*((first, last) for _, first, last in text.spans), *text.also]
        for start, end in hidden:
            seen.right.append(any(start < last and first < end for first, last in labelled))


def _inside(at: int, spans: Iterable[tuple[int, int]]) -> bool:
    return any(start <= at < end for start, end in spans)
