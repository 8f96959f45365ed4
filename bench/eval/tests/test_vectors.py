from __future__ import annotations

from array import array
from pathlib import Path

import pytest

from mnemic.errors import EmbedderFailed, InvalidInput
from mnemic.providers.minilm import MiniLmEmbedder
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Deadline, VectorSpace
from mnemic_eval.vectors import HashedEmbedder, KeptEmbedder, TimedEmbedder

SPACE = VectorSpace(model="any", dimension=384)


async def test_hashed_vectors_are_units_that_depend_on_the_text_alone() -> None:
    one, two, again = await HashedEmbedder(SPACE).embed(["one", "two", "one"])
    values = array("f", one)

    assert one == again == (await HashedEmbedder(SPACE).embed(["one"]))[0]
    assert len(values) == 384
    assert sum(value * value for value in values) == pytest.approx(1, abs=1e-5)
    assert abs(sum(a * b for a, b in zip(values, array("f", two), strict=True))) < 0.3


async def test_the_stopwatch_counts_each_call_once() -> None:
    timed = TimedEmbedder(WordEmbedder())
    vectors = await timed.embed(["a cat"])

    assert vectors == await WordEmbedder().embed(["a cat"])
    assert timed.take() > 0
    assert timed.take() == 0


async def test_the_stopwatch_also_counts_a_failure() -> None:
    timed = TimedEmbedder(WordEmbedder())
    with pytest.raises(EmbedderFailed):
        await timed.embed(["a cat"], deadline=Deadline(0.0, lambda: 1.0))
    assert timed.take() > 0


async def test_filling_leaves_the_real_embedder_alone() -> None:
    inner = WordEmbedder()
    timed = TimedEmbedder(inner)
    with timed.filling():
        filled = await timed.embed(["a cat"])
    assert inner.texts == 0
    assert filled != await timed.embed(["a cat"])
    assert inner.texts == 1


async def test_kept_vectors_are_made_once_and_survive_the_process(tmp_path: Path) -> None:
    first = KeptEmbedder(WordEmbedder(), tmp_path / "vectors")
    vectors = await first.embed(["a cat", "a dog", "a cat"])
    await first.close()
    inner = WordEmbedder()
    second = KeptEmbedder(inner, tmp_path / "vectors")

    assert await second.embed(["a dog", "a cat", "a bird"]) == [vectors[1], vectors[0], WordEmbedder().vector("a bird")]
    assert inner.texts == 1
    await second.close()
    assert b"cat" not in (tmp_path / "vectors").read_bytes()


async def test_vectors_of_another_space_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "vectors"
    path.write_bytes(b"other-model/3\n" + bytes(28))

    with pytest.raises(InvalidInput, match="vectors"):
        KeptEmbedder(WordEmbedder(), path)
    assert path.read_bytes() == b"other-model/3\n" + bytes(28)


async def test_a_record_cut_off_by_an_interrupted_run_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "vectors"
    first = KeptEmbedder(WordEmbedder(), path)
    vectors = await first.embed(["a cat", "a dog"])
    await first.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])

    inner = WordEmbedder()
    second = KeptEmbedder(inner, path)
    assert await second.embed(["a cat", "a dog"]) == vectors
    assert inner.texts == 1
    await second.close()
    assert path.read_bytes() == whole


async def test_what_is_measured_judges_as_the_engine_of_users_does(tmp_path: Path) -> None:
    kept = KeptEmbedder(MiniLmEmbedder(), tmp_path / "vectors")
    for embedder in (kept, TimedEmbedder(MiniLmEmbedder())):
        assert hasattr(embedder, "judge_answers")
        assert hasattr(embedder, "judge_changes")
    assert not hasattr(TimedEmbedder(WordEmbedder()), "judge_answers")
    await kept.close()
