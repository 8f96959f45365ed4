"""The race: mnemic beside what others use for memory, one run, one machine, the same texts, the same embedder.

`make bench-peers` runs this in `build/peers`, an environment of its own with pinned versions. Every peer is driven
through its own interface, as its documentation shows; nothing is tuned and nothing is asserted. Overhead is what a call
takes beyond the embedder. A peer that is not installed is named as not run.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol
from uuid import uuid4

import asyncpg
import numpy as np

from mnemic.bootstrap import build_store
from mnemic.engine import MemoryEngine
from mnemic.providers.minilm import MiniLmEmbedder
from mnemic.types import Actor, Candidate
from mnemic_eval.conditions import conditions, file_system, load
from mnemic_eval.metrics import percentiles
from mnemic_eval.texts import questions, statements
from mnemic_eval.vectors import TimedEmbedder
from tests.servers import PostgresServer, in_thread

WARM = 5
TOP_K = 10
USER = "measured"
SEED = 20240229


class Embedding:
    """The one embedder, for callers that wait: it works on an event loop in a thread of its own. `seconds` adds up the
    time inside it; while `filling`, hashed vectors stand in.
    """

    def __init__(self) -> None:
        self.timed = TimedEmbedder(MiniLmEmbedder())
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    def wait(self, awaitable: Any) -> Any:
        """The outcome of `awaitable` on the embedder's own loop."""
        return asyncio.run_coroutine_threadsafe(awaitable, self._loop).result()

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text, as plain numbers: what the peers take."""
        vectors = self.wait(self.timed.embed(list(texts)))
        return [np.frombuffer(vector, "<f4").tolist() for vector in vectors]

    def embed_query(self, text: str) -> list[float]:
        """The vector of one text."""
        return self.embed_documents([text])[0]


class Peer(Protocol):
    """One contestant on an empty folder. `durability` says what an acknowledged add survives, by its own settings."""

    name: str
    package: str
    durability: str

    def add(self, text: str) -> None:
        """Remember one text and return once it is stored."""

    def fill(self, texts: Sequence[str]) -> None:
        """Remember many, the fastest way it offers."""

    def search(self, query: str) -> int:
        """How many of the ten best were found."""

    def size(self, folder: Path) -> int:
        """Bytes of all that was stored, once it is closed."""

    def close(self) -> None:
        """Let go of the folder."""


def files(folder: Path) -> int:
    """Bytes of all files in `folder`."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


class Mnemic:
    """This product, default settings."""

    name, package, durability = "mnemic", "mnemic", "every add synced (WAL, synchronous=FULL)"
    size = staticmethod(files)

    def __init__(self, folder: Path, embedding: Embedding) -> None:
        self._open(str(folder / "m.db"), embedding)

    def _open(self, location: str, embedding: Embedding) -> None:
        self._embedding = embedding
        store = build_store(location, durability="durable")
        self._engine = MemoryEngine(store=store, embedder=embedding.timed)
        self._actor = Actor(user=USER)
        embedding.wait(self._engine.open())

    def add(self, text: str) -> None:
        self._embedding.wait(self._engine.add(text, actor=self._actor))

    def fill(self, texts: Sequence[str]) -> None:
        self._embedding.wait(self._engine.add_many([Candidate(content=text) for text in texts], actor=self._actor))

    def search(self, query: str) -> int:
        return len(self._embedding.wait(self._engine.search(query, actor=self._actor, top_k=TOP_K)).hits)

    def close(self) -> None:
        self._embedding.wait(self._engine.close())


class Bare:
    """The floor: a row of text and vector, and an exact scan of all vectors. No key, no words, no history."""

    name, package, durability = "bare SQLite and numpy", "numpy", "every add synced (WAL, synchronous=FULL)"
    size = staticmethod(files)

    def __init__(self, folder: Path, embedding: Embedding) -> None:
        self._embedding = embedding
        self._file = sqlite3.connect(folder / "bare.db", isolation_level=None)
        self._file.execute("PRAGMA journal_mode=wal")
        self._file.execute("CREATE TABLE row (number INTEGER PRIMARY KEY, content TEXT, vector BLOB)")
        self._vectors = np.zeros((0, 384), np.float32)

    def add(self, text: str) -> None:
        self.fill([text])

    def fill(self, texts: Sequence[str]) -> None:
        vectors = np.array(self._embedding.embed_documents(texts), np.float32)
        self._file.execute("BEGIN IMMEDIATE")
        rows = zip(texts, (vector.tobytes() for vector in vectors), strict=True)
        self._file.executemany("INSERT INTO row (content, vector) VALUES (?, ?)", rows)
        self._file.execute("COMMIT")
        self._vectors = np.concatenate([self._vectors, vectors])

    def search(self, query: str) -> int:
        scores = np.vecdot(self._vectors, np.array(self._embedding.embed_query(query), np.float32))
        best = np.argpartition(-scores, TOP_K)[:TOP_K] + 1
        marks = ",".join("?" * len(best))
        found = self._file.execute(f"SELECT content FROM row WHERE number IN ({marks})", best.tolist())
        return len(found.fetchall())

    def close(self) -> None:
        self._file.close()


class LangGraph:
    """LangGraph's SqliteStore with its vector index, a namespace for the user."""

    name, package = "LangGraph SqliteStore", "langgraph-checkpoint-sqlite"
    size = staticmethod(files)

    def __init__(self, folder: Path, embedding: Embedding) -> None:
        from langgraph.store.sqlite import SqliteStore

        # Its vector index is an extension, which many builds of Python cannot load; this driver can.
        driver: Any = sqlite3 if hasattr(sqlite3.Connection, "enable_load_extension") else import_module("pysqlite3")
        self._file = driver.connect(str(folder / "store.db"), check_same_thread=False, isolation_level=None)
        index: Any = {"dims": 384, "embed": embedding.embed_documents, "fields": ["text"]}
        self._store = SqliteStore(self._file, index=index)
        self._store.setup()
        journal, synced = (
            self._file.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")
        )
        self.durability = f"journal {journal}, synchronous={synced} (2 is FULL)"

    def add(self, text: str) -> None:
        self._store.put((USER,), str(uuid4()), {"text": text})

    def fill(self, texts: Sequence[str]) -> None:
        from langgraph.store.base import PutOp

        self._store.batch([PutOp((USER,), str(uuid4()), {"text": text}) for text in texts])

    def search(self, query: str) -> int:
        return len(self._store.search((USER,), query=query, limit=TOP_K))

    def close(self) -> None:
        self._file.close()


class Chroma:
    """Chroma on disk, a collection for the user."""

    name, package, durability = "Chroma", "chromadb", "SQLite log, its default settings"
    size = staticmethod(files)

    def __init__(self, folder: Path, embedding: Embedding) -> None:
        import chromadb

        settings = chromadb.Settings(anonymized_telemetry=False)
        self._embedding = embedding
        client = chromadb.PersistentClient(path=str(folder), settings=settings)
        self._texts = client.create_collection(USER, metadata={"hnsw:space": "cosine"}, embedding_function=None)

    def add(self, text: str) -> None:
        self.fill([text])

    def fill(self, texts: Sequence[str]) -> None:
        vectors: Any = self._embedding.embed_documents(texts)
        self._texts.add(ids=[str(uuid4()) for _ in texts], embeddings=vectors, documents=list(texts))

    def search(self, query: str) -> int:
        vectors: Any = [self._embedding.embed_query(query)]
        return len(self._texts.query(query_embeddings=vectors, n_results=TOP_K)["ids"][0])

    def close(self) -> None:
        """It closes with the process."""


class Mem0:
    """mem0 without a language model (`infer=False`) on its local Qdrant, the vectors on disk."""

    name, package, durability = "mem0 (infer off)", "mem0ai", "local Qdrant and a history in SQLite, default settings"
    size = staticmethod(files)

    def __init__(self, folder: Path, embedding: Embedding) -> None:
        os.environ["MEM0_TELEMETRY"] = "False"
        os.environ["MEM0_DIR"] = str(folder)
        from langchain_core.embeddings import Embeddings
        from mem0 import Memory

        class Given(Embeddings):
            embed_documents = staticmethod(embedding.embed_documents)  # type: ignore[assignment]
            embed_query = staticmethod(embedding.embed_query)  # type: ignore[assignment]

        qdrant = {"path": str(folder / "qdrant"), "on_disk": True, "embedding_model_dims": 384}
        self._memory = Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": qdrant},
                "embedder": {"provider": "langchain", "config": {"model": Given(), "embedding_dims": 384}},
                "llm": {"provider": "openai", "config": {"api_key": "none is called"}},
                "history_db_path": str(folder / "history.db"),
            }
        )

    def add(self, text: str) -> None:
        self._memory.add(text, user_id=USER, infer=False)

    def fill(self, texts: Sequence[str]) -> None:
        for text in texts:
            self.add(text)

    def search(self, query: str) -> int:
        return len(self._memory.search(query, filters={"user_id": USER}, top_k=TOP_K)["results"])

    def close(self) -> None:
        """It closes with the process."""


class OnServer:
    """A private PostgreSQL server with its default settings, for one contestant."""

    durability = "PostgreSQL 18, fsync and synchronous_commit on"

    def _start(self) -> str:
        self._server = PostgresServer()
        self._server.start()
        self._empty = self._weight()
        return self._server.dsn()

    def _weight(self) -> int:
        [(size,)] = in_thread(partial(fetched, self._server.dsn(), "SELECT pg_database_size(current_database())"))
        return int(size)

    def _stop(self) -> None:
        self._stored = self._weight() - self._empty
        self._server.stop()

    def size(self, folder: Path) -> int:
        """What the database weighed beyond an empty one, its log left out."""
        return self._stored


async def fetched(dsn: str, statement: str) -> list[Any]:
    connection = await asyncpg.connect(dsn)
    try:
        rows: list[Any] = await connection.fetch(statement)
    finally:
        await connection.close()
    return rows


class MnemicOnPostgres(OnServer, Mnemic):
    """This product on a server, default settings."""

    name = "mnemic on PostgreSQL"

    def __init__(self, folder: Path, embedding: Embedding) -> None:
        self._open(self._start(), embedding)

    def close(self) -> None:
        super().close()
        self._stop()


class LangGraphOnPostgres(OnServer, LangGraph):
    """LangGraph's PostgresStore with its vector index (HNSW, as it makes it by default)."""

    name, package = "LangGraph PostgresStore", "langgraph-checkpoint-postgres"

    def __init__(self, folder: Path, embedding: Embedding) -> None:
        from langgraph.store.postgres import PostgresStore

        index: Any = {"dims": 384, "embed": embedding.embed_documents, "fields": ["text"]}
        self._opened = PostgresStore.from_conn_string(self._start(), index=index)
        self._store = self._opened.__enter__()
        self._store.setup()

    def close(self) -> None:
        self._opened.__exit__(None, None, None)
        self._stop()


PEERS: tuple[Callable[[Path, Embedding], Peer], ...] = (
    *(Bare, Mnemic, LangGraph, Chroma, Mem0),
    *(MnemicOnPostgres, LangGraphOnPostgres),
)
CHUNK = 500


def timed(call: Callable[[str], Any], texts: Sequence[str], embedding: Embedding) -> dict[str, float]:
    """Total, embedding and overhead of `call` for each text, after a few for warming up."""
    total, inside = [], []
    for place, text in enumerate(texts):
        embedding.timed.take()
        began = time.perf_counter()
        call(text)
        took = time.perf_counter() - began
        if place >= WARM:
            total.append(1000 * took)
            inside.append(1000 * embedding.timed.take())
    overhead = [whole - part for whole, part in zip(total, inside, strict=True)]
    return {**percentiles(total), **percentiles(inside, "embed_"), **percentiles(overhead, "overhead_")}


def raced(make: Callable[[Path, Embedding], Peer], rows: int, repeats: int, embedding: Embedding) -> dict[str, Any]:
    """One peer: filled with hashed vectors, then adds and searches with real ones, one at a time."""
    said, asked = statements(SEED), questions(SEED)
    with TemporaryDirectory(prefix="mnemic-peers-", ignore_cleanup_errors=True) as folder:
        peer = make(Path(folder), embedding)
        with embedding.timed.filling():
            for _ in range(rows // CHUNK):
                peer.fill(list(islice(said, CHUNK)))
        found = [0]
        adds = timed(peer.add, list(islice(said, repeats + WARM)), embedding)
        searches = timed(lambda query: found.append(peer.search(query)), list(islice(asked, repeats + WARM)), embedding)
        peer.close()
        size = peer.size(Path(folder))
    stored = rows // CHUNK * CHUNK + repeats + WARM
    return {
        "peer": peer.name,
        "version": version(peer.package),
        "durability": peer.durability,
        "add": adds,
        "search": searches,
        "hits_of_ten": round(sum(found) / (repeats + WARM), 2),
        "bytes_per_memory": size // stored,
    }


def lines(results: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The results as a Markdown table."""
    names = ["", "version", "add: overhead p50 / p95", "search: overhead p50 / p95", "hits of 10", "bytes a memory"]
    names += ["durability"]
    yield f"| {' | '.join(names)} |"
    yield "|" + "---|" * len(names)
    for one in results:
        if "error" in one:
            yield f"| {one['peer']} | - | NOT RUN: {one['error']} | | | | |"
            continue
        figures = [
            f"{one[call]['overhead_p50_ms']:.1f} / {one[call]['overhead_p95_ms']:.1f}" for call in ("add", "search")
        ]
        yield (
            f"| {one['peer']} | {one['version']} | {figures[0]} | {figures[1]} | {one['hits_of_ten']} "
            f"| {one['bytes_per_memory']:,} | {one['durability']} |"
        )


def main() -> int:
    """Run the race and print it; 1 where a peer did not run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000, help="memories that are there before (1000)")
    parser.add_argument("--repeats", type=int, default=100, help="timed calls of each kind (100)")
    parser.add_argument("--json", type=Path, help="where to leave the raw figures")
    given = parser.parse_args()
    before = conditions(seed=SEED, file_system=file_system(Path.cwd()), rows=given.rows, repeats=given.repeats)
    embedding, results = Embedding(), []
    for make in PEERS:
        name = getattr(make, "name", make.__class__.__name__)
        print(f"{name} ...", file=sys.stderr, flush=True)
        try:
            with contextlib.redirect_stdout(sys.stderr):
                results.append(raced(make, given.rows, given.repeats, embedding))
        except (ImportError, PackageNotFoundError) as missing:  # a peer may be absent, and then it says so
            results.append({"peer": name, "error": str(missing)})
    print(f"{before['measured_at']}, load {before['machine']['load_1min']} to {load()}, {given.rows:,} rows before\n")
    print("\n".join(lines(results)))
    if given.json:
        given.json.write_text(json.dumps({"conditions": before, "peers": results}, indent=2), encoding="utf-8")
    return int(any("error" in one for one in results))


if __name__ == "__main__":
    sys.exit(main())
