"""`mnemic embedder`: describe a model in a folder, so that it can be used."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mnemic.cli.lazy_loading import Command
from mnemic.onnx.calibration import Cosines, pairs_of, scale_of
from mnemic.onnx.embedder import OnnxEmbedder
from mnemic.onnx.published import describe_model
from mnemic.providers.minilm import MiniLmEmbedder

if TYPE_CHECKING:
    from mnemic.cli.shared_options import Given
    from mnemic.onnx.calibration import Pairs
    from mnemic.onnx.folder import ModelFolder

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
    import asyncio

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
