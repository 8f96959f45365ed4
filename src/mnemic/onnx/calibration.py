"""The scale of a model's cosines, by the default model.

Both models embed the same questions and statements (`data/pairs.tsv`, a question and its answer in each line, or a file
of the user's in that form). The cosines of both models for unrelated and for related pairs give two points, identity
the third. Texts in the language of the memories give the better scale: the default model is English.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mnemic.errors import InvalidInput
from mnemic.types import Vector

MIN_PAIRS = 20
APART = 0.01
"""Minimum distance of two points: closer ones mean that the model separates no pairs."""

Pairs = Sequence[tuple[str, str]]
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cosines:
    """Cosines of the questions with the statements: mean of related pairs, mean of unrelated ones, and the share of
    questions with their own statement as the nearest.
    """

    together: float
    apart: float
    found: float

    @classmethod
    def measure(cls, questions: Sequence[Vector], statements: Sequence[Vector]) -> Cosines:
        """Measure them; the two sequences are in the same order."""
        cosines = _matrix(questions) @ _matrix(statements).T
        own = np.eye(len(cosines), dtype=bool)
        nearest = float((cosines.argmax(axis=1) == np.arange(len(cosines))).mean())
        return cls(together=float(cosines[own].mean()), apart=float(cosines[~own].mean()), found=nearest)


def scale_of(model: Cosines, default: Cosines) -> tuple[tuple[float, float], ...]:
    """Return the points of the scale. Raises InvalidInput (`calibration:apart`) if the model separates no pairs."""
    before, after = ((one.apart, one.together, 1.0) for one in (model, default))
    if any(high - low < APART for points in (before, after) for low, high in itertools.pairwise(points)):
        raise InvalidInput("calibration:apart", hint="the model's cosines of what belongs together are not higher")
    return tuple((round(low, 4), round(high, 4)) for low, high in zip(before, after, strict=True))


def pairs_of(path: Path | None = None) -> Pairs:
    """Return the pairs of a file, by default of the package's. Raises InvalidInput (`calibration:pairs`)."""
    try:
        own = files("mnemic.onnx").joinpath("data/pairs.tsv")
        text = (own if path is None else path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput("calibration:pairs", hint=f"{path} cannot be read as UTF-8") from error
    found = [tuple(line.split("\t")) for line in text.splitlines() if line.strip()]
    if len(found) < MIN_PAIRS or any(len(one) != 2 or not all(part.strip() for part in one) for one in found):
        hint = f"at least {MIN_PAIRS} lines, each a question, a tab, and the statement that answers it"
        raise InvalidInput("calibration:pairs", hint=hint)
    return [(question, statement) for question, statement in found]


def _matrix(vectors: Sequence[Vector]) -> Floats:
    return np.stack([np.frombuffer(one, np.float32) for one in vectors])
