"""Thresholds for an embedder, chosen on labelled pairs for a maximum error rate.

A file of JSON lines: `{"first": ..., "second": ..., "label": ...}`. Label `same`: two ways to say one thing;
`opposite`: they contradict each other; `other`: neither. A few hundred pairs of each label make a calibration; the
texts should be such as will be remembered.

Each threshold guards one rule of words (`mnemic.write`): the cosine at which its mistakes end. So for
each rule the pairs are taken on which it would act, right or wrong, and the threshold is the lowest cosine above which
it is wrong on at most its part of the bound: `error`, a share of the pairs that are not the same, for the rules that
merge; `flagged`, a share of those that are not opposite, for those that flag. A rule that is never right on the pairs
keeps the threshold it has. Half of the pairs choose (by the checksum of the first text), the other half shows what the
choice does.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from pathlib import Path
from typing import Any, NamedTuple

from mnemic.errors import InvalidInput
from mnemic.ports import Embedder
from mnemic.types.cosine_scaling import read
from mnemic.write.contradictions import opposing
from mnemic.write.merge import same_claim
from mnemic.write.thresholds import WriteRules
from mnemic_eval.samples import half, share
from mnemic_language.compare.word_comparison import Statement, beyond, denies, opposition

SAME, OPPOSITE, OTHER = "same", "opposite", "other"
LABELS = (SAME, OPPOSITE, OTHER)
MAX_PAIRS = 100_000
_BATCH = 64
_STEP = 0.005
"""Step of the thresholds; finer differences are noise."""


class LabelledPair(NamedTuple):
    """Two texts and their relation."""

    first: str
    second: str
    label: str


class _Measured(NamedTuple):
    """A labelled pair, parsed, with its cosine."""

    one: Statement
    other: Statement
    label: str
    cosine: float


@dataclass(frozen=True, slots=True)
class _Gate:
    """A rule with a threshold, and the label it gives a pair. `merging` rules share one error bound, the others the
    other one.
    """

    threshold: str
    acts: Callable[[_Measured], bool]
    merging: bool

    @property
    def takes_for(self) -> str:
        return SAME if self.merging else OPPOSITE


def _covers(pair: _Measured, *, exactly: bool) -> bool:
    more = (beyond(pair.one, pair.other), beyond(pair.other, pair.one))
    return any(count is not None and (count == 0) is exactly for count in more)


def _opposed(pair: _Measured, *, strong: bool) -> bool:
    found = opposition(pair.one, pair.other)
    return found is not None and found.strong is strong


_GATES = (
    _Gate("near_duplicate", lambda pair: _covers(pair, exactly=False), merging=True),
    _Gate("nominate", lambda pair: _covers(pair, exactly=True), merging=True),
    _Gate("nominate", lambda pair: _opposed(pair, strong=True), merging=False),
    _Gate("conflict", lambda pair: _opposed(pair, strong=False), merging=False),
    _Gate("denied", lambda pair: denies(pair.one, pair.other), merging=False),
)


def labelled_pairs(path: str | Path) -> list[LabelledPair]:
    """Return the pairs of a file. Raises InvalidInput (`data:missing`, `data:pairs:<line>`, `data:labels`)."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput("data:missing", hint="a file of JSON lines in UTF-8") from error
    found = [_pair(line, number) for number, line in enumerate(lines, start=1) if line.strip()]
    if len(found) > MAX_PAIRS or {pair.label for pair in found} < {SAME, OPPOSITE}:
        raise InvalidInput("data:labels", hint=f"pairs of both {SAME} and {OPPOSITE}, at most {MAX_PAIRS}")
    return found


def _pair(line: str, number: int) -> LabelledPair:
    hint = f"each line: first, second, label ({', '.join(LABELS)})"
    try:
        fields = json.loads(line)
        pair = LabelledPair(fields["first"], fields["second"], fields["label"])
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"data:pairs:{number}", hint=hint) from error
    if pair.label not in LABELS or not all(isinstance(text, str) and text.strip() for text in pair[:2]):
        raise InvalidInput(f"data:pairs:{number}", hint=hint)
    return pair


async def calibrate(
    pairs: Sequence[LabelledPair], embedder: Embedder, rules: WriteRules, *, error: float = 0.01, flagged: float = 0.1
) -> dict[str, Any]:
    """Return the chosen `cosines`, and the error rates on the other half with `rules` (`before`) and with them
    (`after`).

    Raises InvalidInput (`error`) for bounds outside 0 to 1, EmbedderFailed.
    """
    if not (0 <= error < 1 and 0 <= flagged < 1):
        raise InvalidInput("error", hint="a share of at least 0 and below 1")
    measured = await _measured(pairs, embedder)
    choosing = [one for pair, one in zip(pairs, measured, strict=True) if half(pair.first) == "dev"]
    showing = [one for pair, one in zip(pairs, measured, strict=True) if half(pair.first) == "test"]
    cosines = _chosen(choosing, error, flagged)
    return {
        "cosines": cosines,
        "unchanged": sorted({gate.threshold for gate in _GATES} - cosines.keys()),
        "bounds": {"error": error, "flagged": flagged},
        "pairs": {"choosing": len(choosing), "showing": len(showing)},
        "before": _shown(showing, rules),
        "after": _shown(showing, rules.calibrated(cosines)),
    }


async def _measured(pairs: Sequence[LabelledPair], embedder: Embedder) -> list[_Measured]:
    texts = list(dict.fromkeys(text for pair in pairs for text in pair[:2]))
    vectors: dict[str, array[float]] = {}
    for start in range(0, len(texts), _BATCH):
        batch = texts[start : start + _BATCH]
        for text, vector in zip(batch, await embedder.embed(batch), strict=True):
            vectors[text] = array("f", vector)
    statements = {text: Statement.of(text) for text in texts}
    return [
        _Measured(
            statements[pair.first],
            statements[pair.second],
            pair.label,
            read(embedder.space, sum(map(mul, vectors[pair.first], vectors[pair.second]))),
        )
        for pair in pairs
    ]


def _chosen(pairs: Sequence[_Measured], error: float, flagged: float) -> dict[str, float]:
    chosen: dict[str, float] = {}
    merging = sum(gate.merging for gate in _GATES)
    for gate in _GATES:
        bound = error / merging if gate.merging else flagged / (len(_GATES) - merging)
        others = sum(pair.label != gate.takes_for for pair in pairs)
        lowest = _lowest(gate, [pair for pair in pairs if gate.acts(pair)], bound * others)
        if lowest is not None:
            chosen[gate.threshold] = max(lowest, chosen.get(gate.threshold, lowest))
    return chosen


def _lowest(gate: _Gate, acted: Sequence[_Measured], most: float) -> float | None:
    """Return the lowest cosine on the grid above which `gate` is wrong at most `most` times, not below the lowest that
    it is right on.
    """
    right = [pair.cosine for pair in acted if pair.label == gate.takes_for]
    if not right:
        return None
    wrong = sorted((pair.cosine for pair in acted if pair.label != gate.takes_for), reverse=True)
    needed = min(right) if len(wrong) <= most else max(min(right), wrong[int(most)])
    return round(min(1.0, max(_STEP, _STEP * (needed // _STEP + (len(wrong) > most)))), 3)


def _shown(pairs: Sequence[_Measured], rules: WriteRules) -> dict[str, float | None]:
    merged, flagged = (dict.fromkeys(LABELS, 0) for _ in range(2))
    for pair in pairs:
        if opposing(pair.one, pair.other, pair.cosine, rules) is not None:
            flagged[pair.label] += 1
        elif same_claim(pair.one, pair.other, pair.cosine, rules):
            merged[pair.label] += 1
    total: Mapping[str, int] = {label: sum(pair.label == label for pair in pairs) for label in LABELS}
    return {f"{label}_merged": share(merged[label], total[label]) for label in LABELS} | {
        f"{label}_flagged": share(flagged[label], total[label]) for label in LABELS
    }
