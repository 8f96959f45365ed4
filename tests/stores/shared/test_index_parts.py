"""The parts of an index in memory: columns, identifiers, caches, packed vectors and postings."""

from __future__ import annotations

import random
import subprocess
import sys
import uuid
from array import array
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from mnemic.stores import columns, scope_index
from mnemic.stores.columns import AppendOnlyColumn, Identifiers, NarrowColumn, QuantisedVectors, SparseColumn, products
from mnemic.stores.scope_index import MemoryCache, NeighbourCache, Postings
from mnemic.testing.record_store import memory
from mnemic.types.scope import new_id

_NUMBERS = st.one_of(st.integers(-3, 200), st.integers(-(2**63), 2**63 - 1))


def test_arrays_grow_by_any_steps() -> None:
    growing, expected = AppendOnlyColumn(np.int64), list[int]()
    for size in (0, 1, 15, 1, 100, 3):
        growing.extend(list(range(size)))
        expected += range(size)
        assert growing.all.tolist() == expected


@given(st.lists(st.lists(_NUMBERS, max_size=20), max_size=6))
def test_narrow_numbers_come_back_whatever_comes_after_them(batches: list[list[int]]) -> None:
    column = NarrowColumn()
    for batch in batches:
        column.extend(batch)
    assert column.all.tolist() == [number for batch in batches for number in batch]


def test_small_numbers_take_a_byte_each() -> None:
    column = NarrowColumn()
    column.extend([3, -1] * 500)
    assert column.nbytes < 2_100
    column.extend([300])
    assert 2_000 < column.nbytes < 4_200
    assert column.all[-2:].tolist() == [-1, 300]


@given(st.lists(st.lists(st.one_of(st.none(), st.integers(-5, 5)), max_size=9), max_size=5), st.integers(-6, 6))
def test_a_rare_column_knows_who_has_a_number(batches: list[list[int | None]], moment: int) -> None:
    column, all_of_them = SparseColumn(), list[int | None]()
    for batch in batches:
        column.extend(len(all_of_them), batch)
        all_of_them += batch
    having = [place for place, number in enumerate(all_of_them) if number is not None and number <= moment]
    assert column.up_to(moment).tolist() == having
    blank = np.full(len(all_of_them), 99, np.int64)
    assert column.over(blank).tolist() == [99 if number is None else number for number in all_of_them]
    assert (blank == 99).all()


_NAMES = st.one_of(
    st.uuids(version=4).map(str),
    st.integers(0, 300).map(lambda number: str(uuid.UUID(int=number << 100))),
    st.sampled_from(
        ["", "id000001", "\x00", str(uuid.UUID(int=0)), str(uuid.UUID(int=1)).upper(), str(uuid.UUID(int=255 << 8))]
    ),
    st.sampled_from([f"{uuid.UUID(int=7)} {uuid.UUID(int=8)}"]),
)


@given(st.lists(st.lists(st.tuples(st.integers(-(2**40), 2**40), _NAMES), max_size=12), max_size=6), st.integers(0, 9))
def test_the_last_place_is_found_by_row_and_by_name(batches: list[list[tuple[int, str]]], late: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "_FIRST", late)
        patch.setattr(columns, "_LATE", late)
        found = Identifiers()
        for batch in batches:
            found.extend([row for row, _ in batch], [name for _, name in batch])
    told = [one for batch in batches for one in batch]
    rows = {row: place for place, (row, _) in enumerate(told)}
    names = {name: place for place, (_, name) in enumerate(told)}
    assert found.of_rows([*rows, 2**50]).tolist() == [*rows.values(), -1]
    assert found.of_ids([*names, "nobody"]).tolist() == [*names.values(), -1]
    assert found.rows.tolist() == [row for row, _ in told]
    places = np.arange(len(told))
    assert found.names_at(places) == [name for _, name in told]
    for count in (0, 1, 3, len(told)):
        assert found.newest(places, count) == sorted((name for _, name in told), reverse=True)[:count]


def test_the_newest_of_many_are_the_last_made() -> None:
    names = [new_id(datetime.now(UTC)) for _ in range(2000)]
    found = Identifiers()
    found.extend(range(2000), names)
    assert found.newest(np.arange(2000), 3) == names[:-4:-1]
    assert found.nbytes < 2000 * 350, "dicts for the latest, while they are few"


def test_values_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def make(names: Sequence[str]) -> dict[str, str]:
        made.extend(names)
        return {name: name.upper() for name in names if name != "none"}

    cache = MemoryCache(make)
    assert list(cache.values_of(["c", "none", "a"]).items()) == [("c", "C"), ("a", "A")]
    assert cache.values_of(["a", "b"]) == {"a": "A", "b": "B"}
    assert cache.values_of([]) == {}
    assert made == ["c", "none", "a", "b"]
    assert cache.nbytes > 0
    cache.forget(["b", "unknown"])
    assert cache.values_of(["b"]) == {"b": "B"}
    assert made == ["c", "none", "a", "b", "b"]
    monkeypatch.setattr(scope_index, "MAX_CACHED_VALUES", 3)
    assert cache.values_of(["d", "a"]) == {"d": "D", "a": "A"}
    assert made[5:] == ["d", "a"], "what no longer fits is made again"


def test_what_is_at_another_place_by_now_is_not_found() -> None:
    one, other = memory("tea"), memory("milk")
    kept = NeighbourCache()
    kept.keep([one, other], [1, 2])
    assert kept.memories_at([1, 3, 2]) == [one, None, other]
    assert kept.nbytes > 0
    kept.forget([1, 7])
    assert kept.memories_at([1, 2]) == [None, other]


def test_those_go_first_that_were_not_met_for_the_longest_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scope_index, "MAX_CACHED_NEIGHBOURS", 2)
    first, second, third = (memory(text) for text in ("tea", "milk", "bread"))
    kept = NeighbourCache()
    kept.keep([first, second], [1, 2])
    kept.memories_at([1])
    kept.keep([third], [3])
    assert kept.memories_at([1, 2, 3]) == [first, None, third]


def crowd(count: int, dimension: int, seed: int) -> NDArray[np.float32]:
    """Unit vectors around a few dozen centres, as texts about a few dozen things."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((40, dimension))
    vectors = centres[rng.integers(0, 40, count)] + rng.standard_normal((count, dimension))
    unit: NDArray[np.float32] = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype("<f4")
    return unit


@pytest.mark.parametrize("dimension", [384, 100, 64])
def test_the_nearest_are_among_those_that_are_brought(dimension: int) -> None:
    everything = crowd(20_020, dimension, 1)
    vectors, asked = everything[:20_000], everything[20_000:]
    signs = QuantisedVectors(dimension)
    signs.extend(vectors[:7])
    signs.extend(vectors[7:])
    every = np.ones(len(vectors), np.bool_)
    found = 0
    for one in asked:
        brought = signs.nearest(every, one, limit=100)
        assert 2_000 <= len(brought) < 4_000
        found += len(np.intersect1d(brought, np.argsort(-(vectors @ one))[:10]))
    assert found >= 0.98 * 10 * len(asked)


def test_only_what_was_chosen_is_brought_and_few_are_brought_whole() -> None:
    vectors = crowd(9_000, 64, 3)
    signs = QuantisedVectors(64)
    signs.extend(vectors)
    odd = np.arange(9_000) % 2 == 1
    brought = signs.nearest(odd, vectors[0], limit=5)
    assert 2_000 <= len(brought) < 4_500
    assert (brought % 2 == 1).all()
    few = np.arange(9_000) < 2_000
    assert signs.nearest(few, vectors[0], limit=5).tolist() == list(range(2_000))


def test_a_closer_look_leaves_the_nearest_of_vectors_that_lean_to_one_side() -> None:
    leaning = np.abs(crowd(6_000, 384, 5))
    leaning /= np.linalg.norm(leaning, axis=1, keepdims=True)
    signs = QuantisedVectors(384)
    signs.learn(leaning[:1_000])
    signs.extend(leaning)
    found = 0
    for one in leaning[::300]:
        brought = signs.nearest(np.ones(len(leaning), np.bool_), one, limit=10)
        close = signs.closest(brought, one, limit=10)
        assert 500 <= len(close) <= 510
        assert (np.diff(close) > 0).all()
        nearest = np.argsort(-(leaning @ one))[:10]
        assert nearest[0] in close
        found += len(np.intersect1d(close, nearest))
    assert found >= 0.98 * 10 * 20
    assert signs.closest(np.arange(510), leaning[0], limit=10).tolist() == list(range(510)), "few are left as they are"


def test_nothing_is_left_of_signs_that_are_forgotten() -> None:
    signs = QuantisedVectors(64)
    signs.extend(crowd(10, 64, 7))
    signs.forget(np.array([3, 99]))
    assert [bool(column.all[3]) for column in signs._columns] == [False]
    assert all(column.all[4] for column in signs._columns)


WOKEN = """
from pathlib import Path
import threading
import numpy as np
from mnemic.stores.columns import products

def others():
    main = threading.get_native_id()
    tasks = [task for task in Path("/proc/self/task").iterdir() if int(task.name) != main]
    lines = [line for task in tasks for line in (task / "status").read_text().splitlines()]
    # A thread that was woken runs or waits busily for a while; its switches are counted once it sleeps again.
    return len(tasks), [line for line in lines if "ctxt_switches" in line or line.startswith("State")]

rng = np.random.default_rng(0)
wanted, matrix = rng.normal(size=(32, 384)).astype("<f4"), rng.normal(size=(5000, 384)).astype("<f4")
before = others()
products(wanted, matrix)
after = others()
wanted @ matrix.T
print(before[0], before == after, after == others())
"""
"""Prints the number of other threads, whether `products` left them asleep, and whether a plain product does."""


@pytest.mark.parametrize("rows", [0, 1, 20, 21, 22, 1000])
@pytest.mark.parametrize("vectors", [1, 2, 32, 700])
def test_products_are_those_of_the_matrices(rows: int, vectors: int) -> None:
    rng = np.random.default_rng(rows + vectors)
    wanted = rng.normal(size=(vectors, 384)).astype(np.float32)
    matrix = rng.normal(size=(rows, 384)).astype(np.float32)
    found = products(wanted, matrix)
    assert found.shape == (vectors, rows)
    np.testing.assert_allclose(found, wanted @ matrix.T, atol=1e-3)


@pytest.mark.skipif(sys.platform != "linux", reason="the switches of a thread are read from /proc")
def test_no_other_thread_is_woken() -> None:
    told = subprocess.run([sys.executable, "-c", WOKEN], capture_output=True, text=True, check=True).stdout.split()
    number, asleep, control = int(told[0]), told[1], told[2]
    assert asleep == "True"
    # Where numpy has threads at all, a plain product wakes them: the test would notice.
    assert control == str(not number)


@pytest.mark.parametrize("span", [1 << 16, 1000, 701])
def test_postings_agree_with_counting_however_they_were_added(span: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scope_index, "_SPAN", span)
    monkeypatch.setattr(scope_index, "_TAIL", 100)
    rng = random.Random(5)
    postings, fields = Postings(), list[list[int]]()
    for step in (1, 700, 1, 1, 900, 3):
        added = [[rng.randint(0, 9) * 429_496_729 for _ in range(rng.randint(0, 12))] for _ in range(step)]
        postings.extend([array("I", field).tobytes() for field in added])
        fields += added
        postings.catch_up()
        for term in {number for field in added for number in field} - {0}:
            places, counts = postings.places_with_term(term)
            expected = {place: Counter(field)[term] for place, field in enumerate(fields) if term in field}
            assert dict(zip(places.tolist(), counts.tolist(), strict=True)) == expected
    assert postings.lengths.all.tolist() == [sum(number != 0 for number in field) for field in fields]
    assert postings.places_with_term(7)[0].tolist() == []


def test_a_term_takes_a_few_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scope_index, "_SPAN", 5000)
    rng = random.Random(5)
    postings = Postings()
    fields = [array("I", rng.sample(range(1, 500), 20)).tobytes() for _ in range(20_000)]
    for first in range(0, len(fields), 700):
        postings.extend(fields[first : first + 700])
    postings.catch_up()
    assert postings.nbytes < 20_000 * (20 * 3 + 10)


def test_what_waits_is_taken_in_when_it_would_fill_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scope_index, "_SPAN", 50)
    postings = Postings()
    for number in range(120):
        postings.extend([array("I", [number + 1, 1]).tobytes()])
    assert len(postings.lengths.all) == 100
    assert postings.catch_up()
    assert not postings.catch_up()
    assert postings.places_with_term(1)[0].tolist() == list(range(120))
    assert postings.places_with_term(1)[1].tolist() == [2.0] + [1.0] * 119
