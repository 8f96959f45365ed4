"""A cross-encoder in a folder: its scores, its deadline, and a search in its order."""

from __future__ import annotations

import json
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from mnemic.bootstrap import build_engine, build_reranker
from mnemic.config import Settings
from mnemic.errors import InvalidConfig, InvalidInput, RerankerFailed
from mnemic.onnx import OnnxReranker
from mnemic.onnx.reranker import CrossEncoder
from mnemic.runtime.clock import SystemClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Deadline
from mnemic_eval.replay import throwaway_engine
from tests.onnx_model import write_cross_encoder, write_model

ANA = Actor(user="ana")
QUERY = "what is my boat called"
TOLD = ("My sister lives in Lisbon.", "My boat is called Freya.", "The boat lies in Oslo.")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_cross_encoder(tmp_path / "pairs")


async def scores_of(folder: Path, query: str, *texts: str) -> list[float]:
    reranker = OnnxReranker(folder)
    try:
        return await reranker.rerank(query, texts)
    finally:
        await reranker.close()


async def test_a_text_that_answers_scores_highest_and_its_company_changes_nothing(folder: Path) -> None:
    found = await scores_of(folder, QUERY, *TOLD)
    assert len(found) == 3
    assert all(0 <= score <= 1 for score in found)
    assert max(found) == found[1]
    many = await scores_of(folder, QUERY, *[TOLD[0]] * 9, TOLD[1], "boat " * 900, TOLD[2])
    assert many[9] == pytest.approx(found[1], abs=1e-6)
    assert many[11] == pytest.approx(found[2], abs=1e-6)


async def test_two_outputs_mean_no_and_yes(folder: Path) -> None:
    one = await scores_of(folder, QUERY, *TOLD)
    two = await scores_of(write_cross_encoder(folder.parent / "two", outputs=2, scale=1.0), QUERY, *TOLD)
    assert two == pytest.approx(one, abs=1e-6)


async def test_nothing_is_asked_of_no_text(folder: Path) -> None:
    assert await scores_of(folder, QUERY) == []
    with pytest.raises(InvalidInput, match="texts"):
        await OnnxReranker(folder).rerank(QUERY, "one text")


async def test_a_deadline_ends_the_call_while_the_model_works_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = threading.Event()

    def slow(_: CrossEncoder, __: str, texts: list[str]) -> list[float]:
        done.wait(30)
        return [0.5] * len(texts)

    monkeypatch.setattr(CrossEncoder, "scores", slow)
    reranker = OnnxReranker(folder)
    try:
        with pytest.raises(RerankerFailed, match="timeout"):
            await reranker.rerank(
                QUERY, TOLD, deadline=Deadline.after(timedelta(milliseconds=20), SystemClock().monotonic)
            )
        with pytest.raises(RerankerFailed, match="timeout"):
            await OnnxReranker(folder, wait=0.0).rerank(QUERY, TOLD)
    finally:
        done.set()
        await reranker.close()


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json"])
async def test_a_model_that_cannot_be_read_is_unavailable(folder: Path, file: str) -> None:
    (folder / file).write_bytes(b"nothing")
    with pytest.raises(RerankerFailed, match="unavailable"):
        await scores_of(folder, QUERY, *TOLD)


async def test_a_model_of_another_kind_gives_no_scores(tmp_path: Path) -> None:
    with pytest.raises(RerankerFailed, match="response"):
        await scores_of(write_model(tmp_path / "words"), QUERY, *TOLD)
    with pytest.raises(RerankerFailed, match="response"):
        await scores_of(write_cross_encoder(tmp_path / "three", outputs=3), QUERY, *TOLD)


async def test_after_close_it_is_unavailable(folder: Path) -> None:
    reranker = OnnxReranker(folder)
    await reranker.close()
    await reranker.close()
    with pytest.raises(RerankerFailed, match="unavailable"):
        await reranker.rerank(QUERY, TOLD)


async def test_settings_choose_it_and_a_search_comes_in_its_order(folder: Path, tmp_path: Path) -> None:
    settings = Settings(store=str(tmp_path / "memories.db"), reranker="onnx", reranker_model=str(folder))
    async with build_engine(settings) as engine:
        for text in TOLD:
            await engine.add(text, actor=ANA)
        found = await engine.search(QUERY, actor=ANA)
        (folder / "model.onnx").write_bytes(b"nothing")
    assert found.hits[0].memory.content == TOLD[1]
    assert found.hits[0].ranks["reranker"].position == 1
    assert found.errors == {}


async def test_where_it_fails_the_search_answers_and_names_it(folder: Path, tmp_path: Path) -> None:
    (folder / "model.onnx").write_bytes(b"nothing")
    settings = Settings(store=str(tmp_path / "memories.db"), reranker="onnx", reranker_model=str(folder))
    async with build_engine(settings) as engine:
        await engine.add(TOLD[1], actor=ANA)
        found = await engine.search(QUERY, actor=ANA)
    assert [hit.memory.content for hit in found.hits] == [TOLD[1]]
    assert found.errors == {"reranker": "reranker_failed:unavailable"}


async def test_an_evaluation_measures_the_reranker_of_the_settings(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMIC_RERANKER", "onnx")
    monkeypatch.setenv("MNEMIC_RERANKER_MODEL", str(folder))
    async with throwaway_engine(WordEmbedder()) as engine:
        assert isinstance(engine.reranker, OnnxReranker)


def test_a_folder_without_a_model_is_refused_at_once(folder: Path) -> None:
    with pytest.raises(InvalidConfig, match="reranker"):
        build_reranker(Settings(reranker="onnx"), SystemClock())
    (folder / "tokenizer.json").unlink()
    with pytest.raises(InvalidConfig, match="model_folder:tokenizer"):
        build_reranker(Settings(reranker="onnx", reranker_model=str(folder)), SystemClock())


def test_the_tokeniser_says_itself_how_it_pads(folder: Path) -> None:
    tokeniser = json.loads((folder / "tokenizer.json").read_text())
    tokeniser["padding"] = {
        "strategy": {"Fixed": 64}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 1, "pad_type_id": 0,
        "pad_token": "[PAD]",
    }  # fmt: skip
    plain = CrossEncoder(folder, 1).scores(QUERY, TOLD)
    (folder / "tokenizer.json").write_text(json.dumps(tokeniser))
    assert CrossEncoder(folder, 1).scores(QUERY, TOLD) == pytest.approx(plain, abs=1e-6)
