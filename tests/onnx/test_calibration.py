"""The scale on which the cosines of a model are read, from the command to the answer of a search."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from mnemic import MemoryManager
from mnemic.cli import cli
from mnemic.config import Settings
from mnemic.errors import InvalidInput
from mnemic.onnx import ModelFolder
from mnemic.onnx.calibration import Cosines, pairs_of, scale_of
from mnemic.types import VectorSpace
from mnemic.types.recall_limits import cosine_in_space, read
from tests.onnx_model import write_model


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a model that is not yet described."""
    return write_model(tmp_path / "words")


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
