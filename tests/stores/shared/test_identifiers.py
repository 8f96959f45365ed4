"""Places by identifier and identifiers by place, against a dict."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.stores import columns as module
from mnemic.stores.columns import Identifiers
from mnemic.types.scope import new_id

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
        patch.setattr(module, "_FIRST", late)
        patch.setattr(module, "_LATE", late)
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
