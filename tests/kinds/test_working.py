"""Working memory: one task's scratch values."""

from __future__ import annotations

import threading

import pytest

from mnemic.errors import InvalidInput
from mnemic.kinds.working import MAX_ENTRIES, WorkingMemory


def test_a_stored_none_is_told_from_nothing() -> None:
    memory = WorkingMemory()
    memory.set("answer", None)
    assert memory.get("answer", "default") is None
    assert memory.get("other", "default") == "default"
    assert memory.get("other") is None
    assert "answer" in memory
    assert "other" not in memory


def test_values_cannot_be_changed_from_the_outside() -> None:
    memory = WorkingMemory()
    given = {"cities": ["Paris"]}
    memory.set("trip", given)
    given["cities"].append("Oslo")
    memory.get("trip")["cities"].append("Rome")
    assert memory.get("trip") == {"cities": ["Paris"]}


def test_a_task_leaves_nothing_behind_even_when_it_fails() -> None:
    memory = WorkingMemory()

    def work() -> None:
        with memory.task():
            memory.set("user", "ana")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        work()
    assert len(memory) == 0


def test_it_is_bounded_and_refuses_a_blank_key() -> None:
    memory = WorkingMemory()
    for number in range(MAX_ENTRIES):
        memory.set(str(number), number)
    memory.set("0", "again")
    with pytest.raises(InvalidInput) as full:
        memory.set("one more", 1)
    assert full.value.reason == "invalid_input:working:full"
    with pytest.raises(InvalidInput):
        memory.set(" ", 1)


def test_threads_do_not_lose_each_others_values() -> None:
    memory = WorkingMemory()

    def fill(name: str) -> None:
        for number in range(100):
            memory.set(f"{name}{number}", number)

    threads = [threading.Thread(target=fill, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(memory) == 400
