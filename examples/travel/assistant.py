"""A travel assistant with memory on LangGraph: two threads, a changed preference that a person reviews, a long thread.

    pip install "mnemic[langgraph]"
    python assistant.py [memory.db]

Without a key: the model is a function that answers from what it is shown. Put yours in `respond`.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from mnemic import Settings, build_engine
from mnemic.agents.langgraph import MemoryGraph, memory_graph
from mnemic.agents.steps import TurnRules

POLICY = Path(__file__).with_name("policy.toml")


def respond(context: dict[str, Any]) -> str:
    """Stand in for a model: repeat the request, and the preferences it was shown."""
    wishes = [f"{memory['key']}: {memory['value']['value']}" for memory in context["memories"]]
    return f"I keep in mind: {', '.join(wishes)}." if wishes else "Noted."


async def say(graph: MemoryGraph, said: str, thread: str, *, quiet: bool = False) -> dict[str, Any]:
    """One turn of Ana's, printed unless it is to be `quiet`."""
    turn = await graph.ainvoke({"input": said, "user_id": "ana", "thread_id": thread})
    if not quiet:
        show(said, turn)
    return turn


def show(said: str, turn: dict[str, Any]) -> None:
    """Show a turn in one line: what was said, what was answered, what was stored."""
    output = turn["final_output"]
    stored = [f"{one['key']} = {one['value']['value']}" for one in output["stored_updates"]]
    print(f"> {said} -> {output['response']}" + (f" (stored: {', '.join(stored)})" if stored else ""))


async def main(store: str) -> None:
    settings = Settings.load(store=store, policy=POLICY)
    rules = TurnRules(on_conflict="review", max_history_tokens=120)
    async with build_engine(settings) as engine:
        graph = memory_graph(
            engine, respond, checkpointer=InMemorySaver(), review=True, rules=rules, collection="travel"
        )
        await say(graph, "Remember that I prefer morning flights and aisle seats.", "monday")
        await say(graph, "Find me a flight to Denver next month.", "friday")
        turn = await say(graph, "I prefer window seats.", "friday", quiet=True)
        waits = [f"{one['key']} = {one['candidate']}" for one in turn["__interrupt__"][0].value["candidates"]]
        show(f"I prefer window seats. (a person approves {', '.join(waits)})", await approve(graph))
        for city in ("Denver", "Boston", "Austin", "Portland", "Reno"):
            asked = f"And what is the weather like in {city} in the second week of next month?"
            turn = await say(graph, asked, "friday", quiet=True)
        print(f"after five more questions: {len(turn['messages'])} messages kept, the others in a summary")


async def approve(graph: MemoryGraph) -> dict[str, Any]:
    """Return the rest of the turn that waits for a person."""
    return await graph.ainvoke(Command(resume="approve"), graph.thread("ana", "friday"))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "travel.db"))
