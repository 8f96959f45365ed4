"""The twelve tasks of the comparison, each in the one expression that the page shows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mnemic import AsyncMemoryManager, MemoryManager

PAGE = Path(__file__).parents[2] / "docs" / "comparison.md"
FORGETTING = ("delete", "delete all of a user")


def function(texts: Any) -> Any:
    """An embedder and a model: one vector for each text, or one answer for a prompt."""
    return "{}" if isinstance(texts, str) else [[1.0, float(len(text))] for text in texts]


def test_each_task_is_one_expression_that_works() -> None:
    table = PAGE.read_text(encoding="utf-8").partition("## Twelve")[2]
    tasks = dict(re.findall(r"^\| ([\w ]+) \| `([^`]+)`", table, re.MULTILINE)[:12])
    assert len(tasks) == 12
    given: dict[str, Any] = {
        "MemoryManager": lambda user, **parts: MemoryManager(user, store=":memory:", **parts),
        "AsyncMemoryManager": lambda user: AsyncMemoryManager(user, store=":memory:"),
        "function": function,
        "messages": [{"role": "user", "content": "My sister keeps bees in Bergen."}],
        "q": "Which seat do I like?",
    }
    made: dict[str, Any] = {}
    with MemoryManager("ana", store=":memory:") as memory:
        given |= {"m": memory, "id": memory.add("My boat is called Miso.").memory_id}
        for task in sorted(tasks, key=lambda one: one in FORGETTING):
            given["t"] = "My boat is called Mio." if task == "update" else "I prefer aisle seats."
            made[task] = eval(tasks[task].replace("{...}", '{"trip": "oslo"}'), given)
            if isinstance(made[task], MemoryManager):
                made[task].close()
        assert made["search with a filter"] == "I prefer aisle seats."
        assert [one.content for one in made["history"]] == ["My boat is called Miso.", "My boat is called Mio."]
        assert [receipt.stored for receipt in made["a chat"]] == [True]
        assert made["delete all of a user"].complete
        assert memory.count() == 0
