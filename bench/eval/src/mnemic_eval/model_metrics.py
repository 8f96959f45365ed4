"""Figures of a language model on a set of texts: its failures, unsupported answers, and time.

A text whose call fails is read by rules (`degraded`); one whose answer breaks the contract gives nothing (`stopped`).
`recall_model` and `precision_model` count the model's own candidates alone, so that the rules do not flatter it.
`unsupported` is the share of what the model proposed, in answers that kept the contract, that the text's own words do
not hold. Tokens are those of answers that could be read.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from mnemic.bootstrap import build_completer
from mnemic.config import Settings
from mnemic.errors import InvalidConfig, RunStopped
from mnemic.extract import Extraction
from mnemic.extract.layered_extractor import MODELS_SHARE
from mnemic.ports import Completer
from mnemic.runtime.clock import SystemClock
from mnemic.types import Cost
from mnemic_eval.metrics import percentiles
from mnemic_eval.samples import share
from mnemic_eval.single_extraction import Reader


def model_reader(completer: Completer | None) -> Reader:
    """Read with `completer`, or else the model of the settings, as long for each text as one call may take. Raises
    InvalidConfig (`invalid_config:model`).
    """
    return Reader(configured_model(completer), longest=longest_reading(), clock=SystemClock())


def configured_model(completer: Completer | None) -> Completer:
    """Return `completer`, or else the model of the settings. Raises InvalidConfig (`invalid_config:model`)."""
    asked = completer or build_completer(Settings.load(), SystemClock())
    if asked is None:
        raise InvalidConfig("model", hint="set MNEMIC_MODEL")
    return asked


def longest_reading() -> timedelta:
    """Return the time for a text whose model takes all of the time that the settings give it."""
    return timedelta(seconds=Settings.load().model_timeout_seconds / MODELS_SHARE)


@dataclass(slots=True)
class Modelled:
    """The model of this name, in one half of a set."""

    name: str
    reasons: Counter[str] = field(default_factory=Counter)
    degraded: int = 0
    stopped: int = 0
    found: int = 0
    candidates: int = 0
    proposed: int = 0
    unsupported: int = 0
    cost: Cost = Cost()
    seconds: list[float] = field(default_factory=list)
    _own: bool = False

    async def read(self, reader: Reader, text: str) -> Extraction:
        """Return the reader's result for the text; nothing if the model's answer breaks the contract."""
        began = time.perf_counter()
        try:
            read = await reader.read(text)
        except RunStopped as stop:
            self.stopped += 1
            self.reasons[stop.reason] += 1
            read, self._own = Extraction(), False
        else:
            self._take(read)
        self.seconds.append(time.perf_counter() - began)
        return read

    def _take(self, read: Extraction) -> None:
        self._own = read.degraded is None
        if read.degraded is not None:
            self.degraded += 1
            self.reasons[read.degraded] += 1
            return
        self.cost += read.cost
        self.proposed += len(read.candidates) + len(read.skipped)
        self.unsupported += sum(one.reason == "unsupported" for one in read.skipped)

    def count_matches(self, pairs: int, candidates: int) -> None:
        """Note the number of candidates of the last text, and how many of them are labelled memories."""
        if self._own:
            self.found += pairs
            self.candidates += candidates

    def figures(self, memories: int) -> dict[str, float | None]:
        """Return the shares, of so many labelled `memories`."""
        texts = len(self.seconds)
        return {
            "recall_model": share(self.found, memories),
            "precision_model": share(self.found, self.candidates),
            "degraded": share(self.degraded, texts),
            "stopped": share(self.stopped, texts),
            "unsupported": share(self.unsupported, self.proposed),
        }

    def parts(self) -> dict[str, Mapping[str, Any]]:
        """Return the reasons why calls failed, as shares of the texts."""
        texts = len(self.seconds)
        return {"failed": {why: {"share": share(count, texts), "n": texts} for why, count in self.reasons.items()}}

    @staticmethod
    def took(halves: Sequence[Modelled]) -> dict[str, Any]:
        """Return the model's name, what its answers cost, and the seconds of a text."""
        seconds = [second for half in halves for second in half.seconds]
        cost = sum((half.cost for half in halves), Cost())
        return {
            "name": halves[0].name if halves else None,
            **cost.as_dict(),
            "seconds": round(sum(seconds), 1),
            **(percentiles([1000 * second for second in seconds]) if seconds else {}),
        }
