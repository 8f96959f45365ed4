import asyncio
import os

from ag2 import Agent
from ag2.config import OpenAIConfig

from mnemic import Actor, Settings, build_engine
from mnemic.agents.ag2 import MnemicMemory

if not os.environ.get("OPENAI_API_KEY"):
    raise SystemExit("OPENAI_API_KEY is not set: the agent's model needs it. mnemic itself needs no key.")


async def main() -> None:
    memory = MnemicMemory(build_engine(Settings.load(store="memory.db")), Actor(user="ana"))
    agent = Agent("assistant", config=OpenAIConfig(model="gpt-4.1-mini"), middleware=[memory])

    await agent.ask("I prefer aisle seats.")
    reply = await agent.ask("Which seat do I prefer?")  # another conversation
    print(reply.body)
    print(memory.memory.last.text)  # what the model was shown


asyncio.run(main())
