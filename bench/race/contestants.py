"""The contestants that keep their data in a folder. Each is driven through its own interface, as its documentation
shows; nothing is tuned.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Awaitable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, TypeVar
from uuid import uuid4

import numpy as np

from bench.race.vectors import Vectors
from mnemic.bootstrap import build_store
from mnemic.engine import MemoryEngine
from mnemic.types import Actor, Candidate

T = TypeVar("T")
TOP_K = 10
USER = "measured"
WITHOUT = ("versions", "audit", "redaction", "duplicates", "contradictions")
"""Parts of a write that none of the peers has, but where it says so."""


class Contestant(Protocol):
    """One contestant on an empty folder. `durability` says what an acknowledged add survives by its own settings,
    `lacks` which promises of a write it does not give.
    """

    name: str
    package: str
    durability: str
    lacks: tuple[str, ...]

    def as_user(self, user: str) -> None:
        """Serve this user from here on; each has texts of its own."""

    def add(self, text: str) -> None:
        """Remember one text and return once it is stored."""

    def fill(self, texts: Sequence[str]) -> None:
        """Remember many, the fastest way it offers."""

    def search(self, query: str) -> list[str]:
        """Return the ten best texts."""

    def size(self, folder: Path) -> int:
        """Return the bytes of all that was stored, once it is closed."""

    def close(self) -> None:
        """Let go of the folder."""


def files(folder: Path) -> int:
    """Return the bytes of all files in `folder`."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


class Mnemic:
    """This product, default settings."""

    name, package, durability = "mnemic", "mnemic", "every add synced (WAL, synchronous=FULL)"
    lacks: tuple[str, ...] = ()
    size = staticmethod(files)

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        self._open(str(folder / "m.db"), vectors)

    def _open(self, location: str, vectors: Vectors) -> None:
        self._loop = asyncio.new_event_loop()
        self._engine = MemoryEngine(store=build_store(location, durability="durable"), embedder=vectors)
        self._actor = Actor(user=USER)
        self._done(self._engine.open())

    def _done(self, call: Awaitable[T]) -> T:
        return self._loop.run_until_complete(call)

    def as_user(self, user: str) -> None:
        self._actor = Actor(user=user)

    def add(self, text: str) -> None:
        self._done(self._engine.add(text, actor=self._actor))

    def fill(self, texts: Sequence[str]) -> None:
        self._done(self._engine.add_many([Candidate(content=text) for text in texts], actor=self._actor))

    def search(self, query: str) -> list[str]:
        found = self._done(self._engine.search(query, actor=self._actor, top_k=TOP_K))
        return [hit.memory.content for hit in found.hits]

    def close(self) -> None:
        self._done(self._engine.close())


class Bare:
    """The floor: a row of text and vector, and an exact scan of all vectors. No key, no words, no history."""

    name, package, durability = "bare SQLite and numpy", "numpy", "every add synced (WAL, synchronous=FULL)"
    lacks = (*WITHOUT, "words")
    size = staticmethod(files)

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        self._given = vectors
        self._file = sqlite3.connect(folder / "bare.db", isolation_level=None)
        self._file.execute("PRAGMA journal_mode=wal")
        self._file.execute("CREATE TABLE row (number INTEGER PRIMARY KEY, content TEXT, vector BLOB)")
        self._held: dict[str, tuple[list[int], np.ndarray[Any, Any]]] = {}
        self.as_user(USER)

    def as_user(self, user: str) -> None:
        self._user = user
        self._held.setdefault(user, ([], np.zeros((0, 384), np.float32)))

    def add(self, text: str) -> None:
        self.fill([text])

    def fill(self, texts: Sequence[str]) -> None:
        vectors = np.array(self._given.embed_documents(texts), np.float32)
        self._file.execute("BEGIN IMMEDIATE")
        numbers, held = self._held[self._user]
        last = self._file.execute("SELECT coalesce(max(number), 0) FROM row").fetchone()[0]
        rows = zip(texts, (vector.tobytes() for vector in vectors), strict=True)
        self._file.executemany("INSERT INTO row (content, vector) VALUES (?, ?)", rows)
        self._file.execute("COMMIT")
        numbers += range(last + 1, last + 1 + len(texts))
        self._held[self._user] = (numbers, np.concatenate([held, vectors]))

    def search(self, query: str) -> list[str]:
        numbers, held = self._held[self._user]
        scores = held @ np.array(self._given.embed_query(query), np.float32)
        best = [numbers[place] for place in np.argpartition(-scores, TOP_K)[:TOP_K].tolist()]
        marks = ",".join("?" * len(best))
        found = self._file.execute(f"SELECT content FROM row WHERE number IN ({marks})", best)
        return [text for (text,) in found.fetchall()]

    def close(self) -> None:
        self._file.close()


class SqliteVec:
    """sqlite-vec: a table of texts and a virtual one of vectors, cosine, the user as its partition key."""

    name, package, durability = "sqlite-vec", "sqlite-vec", "every add synced (rollback journal, synchronous=FULL)"
    lacks = (*WITHOUT, "words")
    size = staticmethod(files)

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        import sqlite_vec

        self._given, self._pack = vectors, sqlite_vec.serialize_float32
        driver: Any = sqlite3 if hasattr(sqlite3.Connection, "enable_load_extension") else import_module("pysqlite3")
        self._file = driver.connect(str(folder / "vec.db"), isolation_level=None)
        self._file.enable_load_extension(True)
        sqlite_vec.load(self._file)
        self._file.execute("CREATE TABLE row (number INTEGER PRIMARY KEY, content TEXT)")
        columns = "user text partition key, vector float[384] distance_metric=cosine"
        self._file.execute(f"CREATE VIRTUAL TABLE near USING vec0({columns})")
        self.as_user(USER)

    def as_user(self, user: str) -> None:
        self._user = user

    def add(self, text: str) -> None:
        self.fill([text])

    def fill(self, texts: Sequence[str]) -> None:
        self._file.execute("BEGIN IMMEDIATE")
        for text, vector in zip(texts, self._given.embed_documents(texts), strict=True):
            number = self._file.execute("INSERT INTO row (content) VALUES (?)", (text,)).lastrowid
            row = (number, self._user, self._pack(vector))
            self._file.execute("INSERT INTO near (rowid, user, vector) VALUES (?, ?, ?)", row)
        self._file.execute("COMMIT")

    def search(self, query: str) -> list[str]:
        found = self._file.execute(
            "SELECT content FROM near JOIN row ON number = near.rowid "
            "WHERE vector MATCH ? AND k = ? AND user = ? ORDER BY distance",
            (self._pack(self._given.embed_query(query)), TOP_K, self._user),
        )
        return [text for (text,) in found.fetchall()]

    def close(self) -> None:
        self._file.close()


class LanceDb:
    """LanceDB on disk, a table for each user, without an index on the vectors."""

    name, package, durability = "LanceDB", "lancedb", "files of its own format, default settings"
    lacks = (*WITHOUT, "words")
    size = staticmethod(files)

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        import lancedb
        import pyarrow as pa

        self._given = vectors
        shape = [("text", pa.string()), ("vector", pa.list_(pa.float32(), 384))]
        self._opened, self._shape = lancedb.connect(str(folder)), pa.schema(shape)
        self.as_user(USER)

    def as_user(self, user: str) -> None:
        self._table = self._opened.create_table(user, schema=self._shape, exist_ok=True)

    def add(self, text: str) -> None:
        self.fill([text])

    def fill(self, texts: Sequence[str]) -> None:
        vectors = self._given.embed_documents(texts)
        self._table.add([{"text": text, "vector": vector} for text, vector in zip(texts, vectors, strict=True)])

    def search(self, query: str) -> list[str]:
        found: Any = self._table.search(self._given.embed_query(query))
        return [row["text"] for row in found.distance_type("cosine").limit(TOP_K).to_list()]

    def close(self) -> None:
        """It closes with the process."""


class LangGraph:
    """LangGraph's SqliteStore with its vector index, a namespace for each user."""

    name, package = "LangGraph SqliteStore", "langgraph-checkpoint-sqlite"
    lacks = (*WITHOUT, "words")
    size = staticmethod(files)
    _user = USER

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        from langgraph.store.sqlite import SqliteStore

        # Its vector index is an extension, which many builds of Python cannot load; this driver can.
        driver: Any = sqlite3 if hasattr(sqlite3.Connection, "enable_load_extension") else import_module("pysqlite3")
        self._file = driver.connect(str(folder / "store.db"), check_same_thread=False, isolation_level=None)
        index: Any = {"dims": 384, "embed": vectors.embed_documents, "fields": ["text"]}
        self._store = SqliteStore(self._file, index=index)
        self._store.setup()
        journal, synced = (
            self._file.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")
        )
        self.durability = f"journal {journal}, synchronous={synced} (2 is FULL)"

    def as_user(self, user: str) -> None:
        self._user = user

    def add(self, text: str) -> None:
        self._store.put((self._user,), str(uuid4()), {"text": text})

    def fill(self, texts: Sequence[str]) -> None:
        from langgraph.store.base import PutOp

        self._store.batch([PutOp((self._user,), str(uuid4()), {"text": text}) for text in texts])

    def search(self, query: str) -> list[str]:
        return [str(found.value["text"]) for found in self._store.search((self._user,), query=query, limit=TOP_K)]

    def close(self) -> None:
        self._file.close()


class Chroma:
    """Chroma on disk, a collection for each user."""

    name, package, durability = "Chroma", "chromadb", "SQLite log, its default settings"
    lacks = (*WITHOUT, "words")
    size = staticmethod(files)

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        import chromadb

        settings = chromadb.Settings(anonymized_telemetry=False)
        self._given = vectors
        self._client = chromadb.PersistentClient(path=str(folder), settings=settings)
        self.as_user(USER)

    def as_user(self, user: str) -> None:
        cosine = {"hnsw:space": "cosine"}
        self._texts = self._client.get_or_create_collection(user, metadata=cosine, embedding_function=None)

    def add(self, text: str) -> None:
        self.fill([text])

    def fill(self, texts: Sequence[str]) -> None:
        vectors: Any = self._given.embed_documents(texts)
        self._texts.add(ids=[str(uuid4()) for _ in texts], embeddings=vectors, documents=list(texts))

    def search(self, query: str) -> list[str]:
        vectors: Any = [self._given.embed_query(query)]
        return list((self._texts.query(query_embeddings=vectors, n_results=TOP_K)["documents"] or [[]])[0])

    def close(self) -> None:
        """It closes with the process."""


class Mem0:
    """mem0 without a language model (`infer=False`) on its local Qdrant, the vectors on disk."""

    name, package, durability = "mem0 (infer off)", "mem0ai", "local Qdrant and a history in SQLite, default settings"
    lacks = ("audit", "redaction", "duplicates", "contradictions")
    size = staticmethod(files)
    _user = USER

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        os.environ["MEM0_TELEMETRY"] = "False"
        os.environ["MEM0_DIR"] = str(folder)
        from langchain_core.embeddings import Embeddings
        from mem0 import Memory

        class Given(Embeddings):
            embed_documents = staticmethod(vectors.embed_documents)  # type: ignore[assignment]
            embed_query = staticmethod(vectors.embed_query)  # type: ignore[assignment]

        qdrant = {"path": str(folder / "qdrant"), "on_disk": True, "embedding_model_dims": 384}
        self._memory = Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": qdrant},
                "embedder": {"provider": "langchain", "config": {"model": Given(), "embedding_dims": 384}},
                "llm": {"provider": "openai", "config": {"api_key": "none is called"}},
                "history_db_path": str(folder / "history.db"),
            }
        )

    def as_user(self, user: str) -> None:
        self._user = user

    def add(self, text: str) -> None:
        self._memory.add(text, user_id=self._user, infer=False)

    def fill(self, texts: Sequence[str]) -> None:
        for text in texts:
            self.add(text)

    def search(self, query: str) -> list[str]:
        found = self._memory.search(query, filters={"user_id": self._user}, top_k=TOP_K)["results"]
        return [str(one["memory"]) for one in found]

    def close(self) -> None:
        """It closes with the process."""
