"""A travel assistant with memory on Strands: two conversations, a tool, and a history without what was injected.

    pip install "mnemic[strands]"
    python strands_assistant.py [memory.db]

Without a key: the model below answers from what it is shown. Put any model of Strands in its place.
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from typing import Any

from strands import Agent, tool
from strands.models import Model

from mnemic import Actor, Settings, build_engine
from mnemic.integrations.strands import MnemicMemory


@tool
def timetable(city: str) -> str:
    """Flights to a city.

    Args:
        city: Where to.
    """
    return f"two flights to {city}, 7:10 and 18:40"


class Clerk(Model):
    """What a model would do: look at the timetable when asked for a flight, and keep in mind what it is shown."""

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
        said = "\n".join(block.get("text", "") for block in messages[-1]["content"])
        result = next((block["toolResult"] for block in messages[-1]["content"] if "toolResult" in block), None)
        yield {"messageStart": {"role": "assistant"}}
        if "flight to" in said:
            use = {"name": "timetable", "toolUseId": "t1"}
            yield {"contentBlockStart": {"start": {"toolUse": use}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps({"city": "Denver"})}}}}
        else:
            known = [line for line in said.splitlines() if line.startswith("<entry")]
            answer = (
                f"I found {result['content'][0]['text']}." if result else f"I keep in mind: {known or 'nothing yet'}"
            )
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": answer}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if "flight to" in said else "end_turn"}}


def say(agent: Agent, memory: MnemicMemory, text: str) -> None:
    """One turn of Ana's, printed: what she says, what the model was shown beside it, what it answers."""
    answer = str(agent(text)).strip()
    shown = memory.last.entries if memory.last is not None else ()
    print(f"> {text}\n   shown to the model: {[entry.content for entry in shown] or 'nothing'}\n   {answer}")


def main(store: str) -> None:
    """Two conversations with the same memory."""
    engine = build_engine(Settings.load(store=store))
    asked = ["Remember that I prefer aisle seats."], ["Find me a flight to Denver.", "Which seat do I prefer?"]
    for day, said in zip(("Monday", "Friday"), asked, strict=True):
        print(f"[{day}]")
        memory = MnemicMemory(engine, Actor(user="ana"))
        agent = Agent(model=Clerk(), tools=[timetable], plugins=[memory], callback_handler=None)
        for text in said:
            say(agent, memory, text)
        blocks = json.dumps(agent.messages).count("<memory")
        print(f"   turns captured: {memory.counts['captured']}; blocks in the history: {blocks}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "travel.db")
