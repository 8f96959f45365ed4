"""Recall of smaller vectors on PostgreSQL: `python -m tests.bench_recall FOLDER`, which has LoCoMo's file.

The turns and questions of its conversations are embedded by the default embedder. For each form of the column, the ten
nearest of each question are compared with those of an exact search in float32: by a walk over all rows, and by the
index with the settings of the store. Printed are the recalls of ten and the bytes of a value and of the index.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
from collections.abc import Sequence
from pathlib import Path

import asyncpg
import numpy as np

from mnemic.providers.minilm import MiniLmEmbedder
from mnemic_eval.locomo import conversations
from tests.processes import running
from tests.servers import PostgresServer

LIMIT = 10
FORMS = {"vector": "vector_ip_ops", "halfvec": "halfvec_ip_ops"}
"""Types of a column, each with the operator class of its index."""
_INDEXED = (
    "SET enable_seqscan = off",
    "SET hnsw.iterative_scan = 'relaxed_order'",
    "SET hnsw.ef_search = 200",
)
"""Settings of the store's searches by the index (`sql/session.sql`)."""


async def embedded(texts: Sequence[str]) -> np.ndarray:
    """Return the vectors of texts, one a row."""
    embedder = MiniLmEmbedder(threads=2)
    vectors = [
        np.frombuffer(vector, "<f4")
        for first in range(0, len(texts), 256)
        for vector in await embedder.embed(texts[first : first + 256])
    ]
    await embedder.close()
    return np.stack(vectors)


def nearest(vectors: np.ndarray, question: np.ndarray) -> set[int]:
    """Return the numbers of the ten nearest."""
    return set(np.argsort(-(vectors @ question), kind="stable")[:LIMIT].tolist())


def in_eighths(vectors: np.ndarray) -> np.ndarray:
    """Return vectors as int8 with one scale each would give them back."""
    scale = np.abs(vectors).max(axis=1, keepdims=True) / 127
    return np.asarray(np.round(vectors / scale) * scale, dtype=np.float32)


async def measured(dsn: str, vectors: np.ndarray, questions: np.ndarray, exact: list[set[int]]) -> dict[str, object]:
    """Return the figures of each form."""
    found: dict[str, object] = {}
    connection = await asyncpg.connect(dsn)
    await connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    for form, operators in FORMS.items():
        table = f"of_{form}"
        await connection.execute(f"CREATE TABLE {table} (number int PRIMARY KEY, v {form}({vectors.shape[1]}))")
        await connection.executemany(
            f"INSERT INTO {table} VALUES ($1, $2::real[]::{form})",
            [(number, vector.tolist()) for number, vector in enumerate(vectors)],
        )
        asked = f"SELECT number FROM {table} ORDER BY v <#> $1::real[]::{form} LIMIT {LIMIT}"

        async def recall(statement: str = asked) -> float:
            hits = 0
            for question, wanted in zip(questions, exact, strict=True):
                hits += len(wanted & {row["number"] for row in await connection.fetch(statement, question.tolist())})
            return round(hits / (LIMIT * len(questions)), 4)

        walked = await recall()
        await connection.execute(f"CREATE INDEX {table}_by ON {table} USING hnsw (v {operators})")
        for setting in _INDEXED:
            await connection.execute(setting)
        by_index = await recall()
        size = f"SELECT avg(pg_column_size(v))::int, pg_relation_size('{table}_by') FROM {table}"
        value, index = await connection.fetchrow(size)
        found[form] = {
            "exact": walked,
            "index": by_index,
            "value_bytes": value,
            "index_bytes": round(index / len(vectors)),
        }
        await connection.execute("RESET ALL")
    await connection.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    chats = conversations(parser.parse_args().data)
    vectors = asyncio.run(embedded([message.content for chat in chats for message in chat.messages]))
    questions = asyncio.run(embedded([question.text for chat in chats for question in chat.questions]))
    exact = [nearest(vectors, question) for question in questions]
    with running(PostgresServer("fsync=off", "maintenance_work_mem=256MB")) as server:
        found = asyncio.run(measured(server.dsn(), vectors, questions, exact))
    eighths = in_eighths(vectors)
    same = sum(len(wanted & nearest(eighths, question)) for question, wanted in zip(questions, exact, strict=True))
    found["int8, walked in the process"] = {"exact": round(same / (LIMIT * len(questions)), 4)}
    told = {"vectors": len(vectors), "questions": len(questions), **found}
    print(json.dumps({**told, "load": round(os.getloadavg()[0], 1)}))


if __name__ == "__main__":
    main()
