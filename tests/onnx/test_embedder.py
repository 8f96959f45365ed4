"""Vectors of a model in a folder, and the description that determines them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from mnemic import MemoryManager
from mnemic.bootstrap import build_embedder
from mnemic.cli import cli
from mnemic.config import Settings
from mnemic.errors import EmbedderFailed, InvalidConfig, InvalidInput
from mnemic.onnx import ModelFolder, OnnxEmbedder
from mnemic.onnx.command_line import Cosines, describe_model, pairs_of, scale_of
from mnemic.onnx.folder import digest_of
from mnemic.ports import Embedder, EmbedsQueries
from mnemic.runtime.clock import SystemClock
from mnemic.types import Vector, VectorSpace
from mnemic.types.recall_limits import cosine_in_space, read
from mnemic_eval.vectors import KeptEmbedder, TimedEmbedder
from tests.onnx_model import DIMENSION, write_model


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a model that is not yet described."""
    return write_model(tmp_path / "words")


def model_of(folder: Path, **fields: object) -> ModelFolder:
    found = describe_model(folder, name=None, pooling=None, query_prefix=None, text_prefix=None, max_tokens=32)
    return replace(found, dimension=DIMENSION, **fields)  # type: ignore[arg-type]


def numbers(vector: Vector) -> np.ndarray:
    return np.frombuffer(vector, np.float32)


async def vectors_of(model: ModelFolder, *texts: str) -> list[np.ndarray]:
    embedder = OnnxEmbedder(model)
    try:
        return [numbers(one) for one in await embedder.embed(texts)]
    finally:
        await embedder.close()


async def test_vectors_have_unit_length_and_do_not_depend_on_their_company(folder: Path) -> None:
    model = model_of(folder)
    alone, longer = await vectors_of(model, "my sister", "where does my sister live in the spring")
    together = await vectors_of(model, "where does my sister live in the spring", "my sister", "cat " * 60)
    assert np.linalg.norm(alone) == pytest.approx(1.0, abs=1e-6)
    assert together[1] == pytest.approx(alone, abs=1e-6)
    assert together[0] == pytest.approx(longer, abs=1e-6)


async def test_the_pooling_decides_which_tokens_count(folder: Path) -> None:
    first, last, mean = [
        (await vectors_of(model_of(folder, pooling=one), "sister cat"))[0] for one in ("cls", "last", "mean")
    ]
    (sister,), (cat,) = await vectors_of(model_of(folder), "sister"), await vectors_of(model_of(folder), "cat")
    assert first == pytest.approx(sister, abs=1e-6)
    assert last == pytest.approx(cat, abs=1e-6)
    assert not np.allclose(mean, first)
    assert not np.allclose(mean, last)


async def test_a_question_gets_the_prefix_of_questions(folder: Path) -> None:
    embedder = OnnxEmbedder(model_of(folder, query_prefix="query: "))
    assert isinstance(embedder, EmbedsQueries)
    (asked,), (told,) = await embedder.embed_queries(["cat"]), await embedder.embed(["query: cat"])
    (plain,) = await embedder.embed(["cat"])
    await embedder.close()
    assert asked == told != plain


async def test_a_text_is_cut_at_its_most_tokens(folder: Path) -> None:
    (long,), (cut,) = (
        await vectors_of(model_of(folder, max_tokens=2), "sister cat car"),
        await vectors_of(model_of(folder), "sister cat"),
    )
    assert long == pytest.approx(cut, abs=1e-6)


async def test_a_changed_model_is_refused(folder: Path) -> None:
    model = model_of(folder)
    write_model(folder, drift=0.7)
    with pytest.raises(EmbedderFailed, match="model_file"):
        await vectors_of(model, "cat")


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
async def test_a_damaged_file_is_named_by_its_folder(folder: Path, name: str) -> None:
    (folder / name).write_bytes(b"no model")
    model = replace(model_of(folder), digest=digest_of(folder))
    with pytest.raises(EmbedderFailed, match="model_file"):
        await vectors_of(model, "cat")


async def test_a_model_with_another_input_is_refused(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "other", inputs=("input_ids", "pixels"))
    with pytest.raises(EmbedderFailed, match="model_file") as raised:
        await vectors_of(model_of(folder), "cat")
    assert "pixels" in str(raised.value.hint)


def test_the_space_changes_with_all_that_changes_the_vectors(folder: Path) -> None:
    model = model_of(folder)
    others = [
        replace(model, pooling="cls"), replace(model, query_prefix="q"), replace(model, text_prefix="p"),
        replace(model, max_tokens=9), replace(model, digest="0"),
    ]  # fmt: skip
    assert len({one.space.model for one in (model, *others)}) == 6
    assert replace(model, scale=((0.1, 0.0), (1.0, 1.0))).space == model.space


def test_a_description_is_read_as_it_was_written(folder: Path) -> None:
    model = model_of(folder, scale=((0.5, 0.07), (0.75, 0.45), (1.0, 1.0)), query_prefix="query: ")
    model.write()
    assert ModelFolder.read(folder) == model
    built = build_embedder(Settings(embedder="onnx", embedder_model=str(folder)), SystemClock())
    assert built.space == model.space
    assert built.space.scale == model.scale


@pytest.mark.parametrize(
    "change",
    [
        {"pooling": "max"}, {"dimension": 0}, {"max_tokens": "9"}, {"scale": [[0.5, 0.5]]}, {"more": 1},
        {"scale": [[0.5, 0.5], [0.4, 0.6]]}, {"name": 3}, {"scale": 7},
    ],
)  # fmt: skip
def test_a_wrong_description_is_refused(folder: Path, change: dict[str, object]) -> None:
    model_of(folder).write()
    data = json.loads((folder / "mnemic.json").read_text()) | change
    (folder / "mnemic.json").write_text(json.dumps(data))
    with pytest.raises(InvalidConfig, match="model_folder:mnemic"):
        ModelFolder.read(folder)


def test_what_is_missing_is_named(folder: Path) -> None:
    with pytest.raises(InvalidConfig, match="model_folder:mnemic"):
        ModelFolder.read(folder)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(InvalidConfig, match="model_folder:tokenizer"):
        ModelFolder.read(folder)
    with pytest.raises(InvalidConfig, match="invalid_config:embedder"):
        build_embedder(Settings(embedder="onnx"), SystemClock())


def test_the_files_of_sentence_transformers_are_followed(folder: Path) -> None:
    (folder / "1_Pooling").mkdir()
    pooling = folder / "1_Pooling" / "config.json"
    pooling.write_text(json.dumps({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}))
    (folder / "config_sentence_transformers.json").write_text(
        json.dumps({"prompts": {"query": "query: ", "passage": "passage: "}})
    )
    found = model_of(folder)
    assert (found.pooling, found.query_prefix, found.text_prefix) == ("cls", "query: ", "passage: ")
    pooling.write_text(json.dumps({"pooling_mode_max_tokens": True}))
    with pytest.raises(InvalidConfig, match="model_folder:1_Pooling"):
        model_of(folder)
    pooling.write_text("[1]")
    with pytest.raises(InvalidConfig, match="model_folder:1_Pooling"):
        model_of(folder)


def test_it_is_an_embedder(folder: Path) -> None:
    embedder: Embedder = OnnxEmbedder(model_of(folder))
    assert embedder.space.dimension == DIMENSION


async def test_an_evaluation_keeps_vectors_of_questions_apart(folder: Path, tmp_path: Path) -> None:
    inner = OnnxEmbedder(model_of(folder, query_prefix="query: "))
    for _ in range(2):
        kept = KeptEmbedder(inner, tmp_path / "kept")
        timed = TimedEmbedder(kept)
        (asked,), (told,) = await timed.embed_queries(["cat"]), await timed.embed(["cat"])
        assert [asked] == await inner.embed_queries(["cat"])
        assert [told] == await inner.embed(["cat"])
        kept._file.close()
    await inner.close()


SCALE = ((0.7, 0.07), (0.8, 0.45), (1.0, 1.0))


def test_cosines_are_read_on_the_lines_between_the_points() -> None:
    space = VectorSpace(model="m", dimension=3, scale=SCALE)
    assert [read(space, one) for one in (0.7, 0.75, 0.8, 0.9, 1.0)] == pytest.approx([0.07, 0.26, 0.45, 0.725, 1.0])
    assert read(space, 0.6) < 0.0
    for one in (0.0, 0.12, 0.6, 0.92):
        assert read(space, cosine_in_space(space, one)) == pytest.approx(one)
    assert (
        read(VectorSpace(model="m", dimension=3), 0.3)
        == cosine_in_space(VectorSpace(model="m", dimension=3), 0.3)
        == 0.3
    )


def test_the_scale_goes_through_what_both_models_say() -> None:
    found = scale_of(Cosines(together=0.8, apart=0.7, found=0.5), Cosines(together=0.45, apart=0.07, found=0.9))
    assert found == SCALE
    with pytest.raises(InvalidInput, match="calibration:apart"):
        scale_of(Cosines(together=0.7, apart=0.7, found=0.0), Cosines(together=0.45, apart=0.07, found=0.9))


def test_cosines_of_pairs() -> None:
    one, other = np.array([1, 0], "<f4").tobytes(), np.array([0.6, 0.8], "<f4").tobytes()
    found = Cosines.measure([one, other], [one, other])
    assert (found.together, found.apart, found.found) == pytest.approx((1.0, 0.6, 1.0))


@pytest.mark.parametrize("text", ["", "a\tb\n", "only a question\n" * 30, "q\t \n" * 30, "q\ta\tb\n" * 30])
def test_a_file_that_is_none_of_pairs_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text(text)
    with pytest.raises(InvalidInput, match="calibration:pairs"):
        pairs_of(path)
    with pytest.raises(InvalidInput, match="calibration:pairs"):
        pairs_of(tmp_path / "absent.tsv")


def test_a_model_is_taken_into_use_by_one_command(folder: Path, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"where is the {one}\tthe {one} is here\n" for one in WORDS))
    done = CliRunner().invoke(
        cli, ["--json", "embedder", str(folder), "--query-prefix", "query: ", "--pairs", str(pairs)]
    )
    assert done.exit_code == 0, done.output
    shown = json.loads(done.stdout)
    model = ModelFolder.read(folder)
    assert shown["model"] == model.space.model
    assert model.dimension == shown["dimension"] == 16
    assert model.query_prefix == "query: "
    (apart, default_apart), (together, default_together), end = model.scale
    assert apart == pytest.approx(shown["cosines"]["apart"], abs=1e-4)
    assert default_together == pytest.approx(shown["default"]["together"], abs=1e-4)
    assert apart < together
    assert default_apart < default_together
    assert end == (1.0, 1.0)


def test_relevance_means_the_same_with_another_model(folder: Path, tmp_path: Path) -> None:
    assert CliRunner().invoke(cli, ["embedder", str(folder)]).exit_code == 0
    settings = Settings(store=str(tmp_path / "m.db"), embedder="onnx", embedder_model=str(folder))
    with MemoryManager("ana", settings=settings) as memory:
        for _, statement in pairs_of()[:6]:
            memory.add(statement)
        near = memory.search("cat is called miso", top_k=1)
        far = memory.search("insured fund", top_k=1)
    assert near.hits[0].memory.content == "The cat is called Miso."
    relevance = near.hits[0].relevance
    assert relevance is not None
    assert relevance > 0.5
    assert far.hits == () or (far.hits[0].relevance or 0.0) < relevance


WORDS = ["cat", "car", "key", "hotel", "bank", "train", "knee", "team", "wine", "visa", "gym", "shed", "dog",
         "doctor", "report", "budget", "phone", "husband", "daughter", "boiler", "garden", "restaurant"]  # fmt: skip
