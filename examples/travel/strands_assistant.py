"""A travel assistant with memory on Strands: two conversations, a tool, and a history without what was injected.

    pip install "mnemic[strands]"
    python strands_assistant.py [memory.db]

Without a key: the model below answers from what it is shown. Put any model of Strands in its place.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import AsyncIterator
from typing import Any

from strands import Agent, tool
from strands.models import Model

from mnemic import Actor, Settings, build_engine
from mnemic.agents.strands import MnemicMemory
from mnemic.inject import SourceEntry


@tool
def timetable(city: str) -> str:
    """Flights to a city.

    Args:
        city: Where to.
    """
    return f"two flights to {city}, 7:10 and 18:40"


class Clerk(Model):
    """What a model would do: look at the timetable when asked for a flight, and keep in mind what it is shown.
    `shown` has the memories that each of its calls was given.
    """

    def __init__(self) -> None:
        self.shown: list[list[str]] = []

    def update_config(self, **config: Any) -> None:
        """Nothing to configure."""

    def get_config(self) -> dict[str, Any]:
        """Nothing is configured."""
        return {}

    def structured_output(self, *_: Any, **__: Any) -> Any:
        """Not offered."""
        raise NotImplementedError

    async def stream(self, messages: Any, *_: Any, **__: Any) -> AsyncIterator[Any]:
        """One answer, in Strands' events."""
        texts = [block["text"] for message in messages for block in message["content"] if "text" in block]
        known = re.findall(r"<entry[^>]*>(.*?)</entry>", "\n".join(texts))
        self.shown.append(known)
        latest = messages[-1]["content"]
        result = next((block["toolResult"]["content"][0]["text"] for block in latest if "toolResult" in block), None)
        looks = any("flight to" in block.get("text", "") for block in latest)
        yield {"messageStart": {"role": "assistant"}}
        if looks:
            yield {"contentBlockStart": {"start": {"toolUse": {"name": "timetable", "toolUseId": "t1"}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps({"city": "Denver"})}}}}
        else:
            found = f"I found {result}. " if result else ""
            answer = f"{found}I keep in mind: {', '.join(known) or 'nothing yet'}."
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": answer}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if looks else "end_turn"}}


def say(agent: Agent, model: Clerk, text: str) -> None:
    """One turn of Ana's, printed: what she says, what each call of the model was shown beside it, what it answers."""
    model.shown.clear()
    answer = str(agent(text)).strip()
    calls = "; ".join(f"call {number}: {shown or 'nothing'}" for number, shown in enumerate(model.shown, start=1))
    print(f"> {text}\n   shown to the model: {calls}\n   {answer}")


def main(store: str) -> None:
    """Two conversations with the same memory."""
    engine = build_engine(Settings.load(store=store))
    for said in ("Remember that I prefer aisle seats.", "Find me a flight to Denver."):
        memory, model = MnemicMemory(engine, Actor(user="ana")), Clerk()
        agent = Agent(model=model, tools=[timetable], plugins=[memory], callback_handler=None)
        say(agent, model, said)
    kept = json.dumps(agent.messages).count("<memory")
    print(f"blocks in the history: {kept}; the plugin says of the turn: {[one.content for one in shown_in(memory)]}")


def shown_in(memory: MnemicMemory) -> tuple[SourceEntry, ...]:
    """Return the entries of the latest turn."""
    return memory.last.entries if memory.last is not None else ()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "travel.db")
