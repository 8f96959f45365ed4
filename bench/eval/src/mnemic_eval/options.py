"""Options of an evaluation, written down once for the data sets that take them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec

from mnemic.ports import Completer, Embedder
from mnemic_eval.outcome import SEED
from mnemic_eval.progress import Progress, silent
from mnemic_eval.replay import chosen_embedder

P = ParamSpec("P")
Result = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalOptions:
    """Options of one run; a data set uses those that apply to it. `limit`: the maximum number of conversations,
    questions or texts; `vectors`: a file that caches embeddings; `per_question`: a file for one JSON line per question;
    `sizes`: numbers of memories of the measured user; `model`: let the language model of the settings read, or
    `completer`.
    """

    progress: Progress = silent
    per_question: Path | None = None
    limit: int | None = None
    vectors: Path | None = None
    ablate: bool = False
    embedder: Embedder | None = None
    seed: int = SEED
    sizes: Sequence[int] | None = None
    model: bool = False
    completer: Completer | None = None

    def chosen_embedder(self) -> Embedder:
        """Return the embedder of the options, or that of the settings."""
        return chosen_embedder(self.embedder, self.vectors)


def _evaluations(
    made: Callable[P, EvalOptions],
) -> Callable[[Callable[[Path, EvalOptions], Result]], Callable[Concatenate[str | Path, P], Result]]:
    def decorate(measure: Callable[[Path, EvalOptions], Result]) -> Callable[Concatenate[str | Path, P], Result]:
        @wraps(measure)
        def run(path: str | Path, /, *args: P.args, **options: P.kwargs) -> Result:
            return measure(Path(path), made(*args, **options))

        return run

    return decorate


evaluation = _evaluations(EvalOptions)
"""Decorator of a function that measures a data set: callers give a path, and options by name."""
