from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
from fastembed import TextEmbedding
from fastembed.common.model_description import ModelSource, PoolingType

from mnemic.bootstrap.models import build_embedder
from mnemic.config import Settings
from mnemic.errors import EmbedderFailed, InvalidConfig
from mnemic.models.fastembed import FastembedEmbedder
from mnemic.testing.clock import ManualClock
from tests.onnx_model import DIMENSION, write_model

NAME = "mnemic-tests/words"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a small model in the layout of the hub, and make it known to fastembed."""
    folder = write_model(tmp_path_factory.mktemp("fastembed") / "words")
    (folder / "config.json").write_text(json.dumps({"pad_token_id": 0}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 64, "pad_token": "[UNK]"}))
    (folder / "special_tokens_map.json").write_text("{}")
    # A process may build this fixture twice; fastembed takes a name once.
    if all(one["model"] != NAME for one in TextEmbedding.list_supported_models()):
        source = ModelSource(hf=NAME)
        TextEmbedding.add_custom_model(
            NAME, pooling=PoolingType.MEAN, normalization=True, sources=source, dim=DIMENSION, model_file="model.onnx"
        )
    return folder


async def test_vectors_of_a_model_by_its_name(model: Path) -> None:
    settings = Settings(
        embedder="fastembed", embedder_model=NAME, embedder_dimension=DIMENSION, embedder_url=str(model)
    )
    embedder = build_embedder(settings, ManualClock())
    assert isinstance(embedder, FastembedEmbedder)
    texts = ["the dog", "the train", "the dog"]
    together = await embedder.embed(texts)
    alone = [(await embedder.embed([text]))[0] for text in texts]
    (asked,) = await embedder.embed_queries(["the dog"])
    await embedder.close()
    assert together == alone
    assert together[0] == together[2] != together[1]
    assert len(asked) == 4 * DIMENSION
    for vector in together:
        assert sum(value**2 for value in struct.unpack(f"<{DIMENSION}f", vector)) == pytest.approx(1, abs=1e-5)


async def test_a_model_that_cannot_be_had_is_told(model: Path, tmp_path: Path) -> None:
    embedder = FastembedEmbedder(NAME, DIMENSION, folder=str(tmp_path))
    with pytest.raises(EmbedderFailed, match="model_file"):
        await embedder.embed(["a"])
    unknown = FastembedEmbedder("nobody/knows-this", DIMENSION)
    with pytest.raises(EmbedderFailed, match="model_file"):
        await unknown.embed(["a"])


async def test_another_dimension_than_the_models_is_refused(model: Path) -> None:
    embedder = FastembedEmbedder(NAME, DIMENSION + 1, folder=str(model))
    with pytest.raises(EmbedderFailed, match="dimension"):
        await embedder.embed(["a"])


def test_the_extra_of_an_embedder_that_is_not_installed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnemic.config.parsing._is_offered", lambda group, name: False)
    with pytest.raises(InvalidConfig) as caught:
        Settings(embedder="azure")
    assert caught.value.hint == "pip install 'mnemic[azure-openai]'"
