"""An injection says that nothing is known wherever its search does, also where nothing is near."""

from __future__ import annotations

from pathlib import Path

from mnemic import MemoryManager


def test_an_injection_abstains_where_its_search_does(tmp_path: Path) -> None:
    with MemoryManager(store=tmp_path / "memories.db") as memories:
        memories.add("I play the cello in an amateur orchestra.")
        assert memories.search("quantum chromodynamics").abstains
        unknown = memories.context("quantum chromodynamics")
        known = memories.context("Which instrument do I play?")
        thanked, thanks = memories.search("Thanks!"), memories.context("Thanks!")
    assert (unknown.hits, unknown.abstained, unknown.reason) == ((), True, "nothing_relevant")
    assert (len(known.hits), known.abstained) == (1, False)
    assert (thanks.hits, thanks.abstained) == ((), thanked.abstains)
    assert thanked.abstains
