"""`mnemic embedder`: describe a model in a folder, so that it can be used.

Its settings are read from the files that sentence-transformers publishes with it. The scale of its cosines is that of
the default model: both embed the same questions and statements (`data/pairs.tsv`, a question and its answer in each
line, or a file of the user's in that form). The cosines of both for unrelated and for related pairs give two points,
identity the third. Texts in the language of the memories give the better scale: the default model is English.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from numpy.typing import NDArray

from mnemic.cli.lazy_loading import Command
from mnemic.errors import InvalidConfig, InvalidInput
from mnemic.onnx.embedder import OnnxEmbedder
from mnemic.onnx.folder import POOLINGS, ModelFolder, digest_of, require_files
from mnemic.providers.minilm import MiniLmEmbedder
from mnemic.types import Vector

if TYPE_CHECKING:
    from mnemic.cli.shared_options import Given


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


POOLING, PROMPTS = "1_Pooling/config.json", "config_sentence_transformers.json"
_MODES = {
    "pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls", "pooling_mode_lasttoken": "last",
}  # fmt: skip
_STATEMENTS = ("document", "passage")


def describe_model(
    path: Path,
    *,
    name: str | None,
    pooling: str | None,
    query_prefix: str | None,
    text_prefix: str | None,
    max_tokens: int,
) -> ModelFolder:
    """Return the model of the folder, its dimension and scale not yet known: as named, else as in the files beside it,
    else without prefixes and by the mean. Raises InvalidConfig (`invalid_config:model_folder:<file>`).
    """
    require_files(path)
    prompts = _read(path, PROMPTS).get("prompts") or {}
    passage = next((prompts[one] for one in _STATEMENTS if isinstance(prompts.get(one), str)), "")
    return ModelFolder(
        path=path,
        name=name or path.name,
        dimension=1,
        pooling=pooling or _pooling(_read(path, POOLING)),
        max_tokens=max_tokens,
        query_prefix=str(prompts.get("query") or "") if query_prefix is None else query_prefix,
        text_prefix=passage if text_prefix is None else text_prefix,
        digest=digest_of(path),
    )


def _pooling(config: dict[str, Any]) -> str:
    chosen = [short for mode, short in _MODES.items() if config.get(mode) is True]
    others = [mode for mode in config if mode.startswith("pooling_mode_") and config[mode] is True]
    if len(chosen) > 1 or len(others) > len(chosen):
        raise InvalidConfig(
            f"model_folder:{POOLING}", hint=f"one of {', '.join(POOLINGS)} is supported: name --pooling"
        )
    return chosen[0] if chosen else "mean"


def _read(path: Path, name: str) -> dict[str, Any]:
    file = path / name
    if not file.is_file():
        return {}
    try:
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return dict(found)
    except (OSError, ValueError, TypeError) as error:
        raise InvalidConfig(f"model_folder:{name}", hint="not a JSON object") from error


_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("embedder", cls=Command)
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--name", help="Name of the model; the folder's where none is given.")
@click.option("--pooling", type=click.Choice(["mean", "cls", "last"]), help="How tokens become one vector.")
@click.option("--query-prefix", help="Prefix the model expects before a query ('query: ').")
@click.option("--text-prefix", help="What it wants before a statement ('passage: ').")
@click.option("--max-tokens", type=click.IntRange(8, 8192), default=512, show_default=True, help="Tokens of a text.")
@click.option("--pairs", metavar="FILE", type=_FILE, help="Questions and answers, tab between them, in your language.")
@click.pass_obj
def embedder_(
    given: Given, /, folder: Path, name: str | None, pooling: str | None, query_prefix: str | None,
    text_prefix: str | None, max_tokens: int, pairs: Path | None,
) -> None:  # fmt: skip
    r"""Use your own ONNX model: FOLDER has model.onnx and tokenizer.json.

    \b
      mnemic embedder models/e5-small-v2 --query-prefix 'query: ' --text-prefix 'passage: '
      MNEMIC_EMBEDDER=onnx MNEMIC_EMBEDDER_MODEL=models/e5-small-v2 mnemic maintain --reembed

    The model is tried on questions and answers beside the default one, and mnemic.json, which is written into the
    folder, gives the scale of its cosines: thresholds and relevance then mean the same with it. Pooling and prefixes
    that are not named are taken from the files of sentence-transformers in the folder, where they are there.
    """
    folder = folder.expanduser().resolve()
    model = describe_model(
        folder, name=name, pooling=pooling, query_prefix=query_prefix, text_prefix=text_prefix, max_tokens=max_tokens
    )
    model, found, default = asyncio.run(_measure_model(model, pairs_of(pairs)))
    model = replace(model, scale=scale_of(found, default))
    model.write()
    shown = {
        "model": model.space.model, "dimension": model.dimension, "pooling": model.pooling,
        "query_prefix": model.query_prefix, "text_prefix": model.text_prefix,
        "scale": [list(one) for one in model.scale], "cosines": asdict(found), "default": asdict(default),
    }  # fmt: skip
    given.show(shown, lambda: _as_text(model, found, default))


async def _measure_model(model: ModelFolder, pairs: Pairs) -> tuple[ModelFolder, Cosines, Cosines]:
    """Return the model with its dimension, its cosines and those of the default model. Raises EmbedderFailed."""
    questions, statements = [one for one, _ in pairs], [one for _, one in pairs]
    embedder, default = OnnxEmbedder(model), MiniLmEmbedder()
    try:
        asked = await embedder.embed_queries(questions)
        found = Cosines.measure(asked, await embedder.embed(statements))
        reference = Cosines.measure(await default.embed(questions), await default.embed(statements))
    finally:
        await embedder.close()
        await default.close()
    return replace(model, dimension=len(asked[0]) // 4), found, reference


def _as_text(model: ModelFolder, found: Cosines, default: Cosines) -> str:
    def line(name: str, one: Cosines) -> str:
        return f"  {name:<8} together {one.together:.2f}, apart {one.apart:.2f}, answers found first {one.found:.0%}"

    lines: list[Any] = [
        f"{model.space.model}: {model.dimension} dimensions, {model.pooling} pooling",
        line("model", found),
        line("default", default),
        f"MNEMIC_EMBEDDER=onnx MNEMIC_EMBEDDER_MODEL={model.path}",
    ]
    return "\n".join(lines)
