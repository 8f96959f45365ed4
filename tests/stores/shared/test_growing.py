"""Columns by place, against lists."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mnemic.stores.columns import AppendOnlyColumn, NarrowColumn, SparseColumn

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
