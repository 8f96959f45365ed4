import asyncio
import os

from agent_framework import Agent
from agent_framework.openai import OpenAIChatCompletionClient

from mnemic import Actor, Settings, build_engine
from mnemic.agents.agent_framework import MnemicContextProvider

if not os.environ.get("OPENAI_API_KEY"):
    raise SystemExit("OPENAI_API_KEY is not set: the agent's model needs it. mnemic itself needs no key.")


async def main() -> None:
    async with build_engine(Settings.load(store="memory.db")) as engine:
        provider = MnemicContextProvider(engine, Actor(user="ana"))
        agent = Agent(client=OpenAIChatCompletionClient(model="gpt-4.1-mini"), context_providers=[provider])
        await agent.run("I prefer aisle seats.")
        print((await agent.run("Which seat do I prefer?")).text)
        print(provider.memory.last.text)  # what the model was shown


asyncio.run(main())
