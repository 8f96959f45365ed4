import asyncio
import os

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.llms.ollama import Ollama

from mnemic import Actor, Settings, build_engine
from mnemic.agents.llama_index import MnemicMemory


async def main() -> None:
    engine = build_engine(Settings.load(store="memory.db"))
    place = os.environ.get("OLLAMA_HOST", "http://localhost:11434")
    llm = Ollama(model="llama3.2", base_url=place, context_window=8_192)
    agent = FunctionAgent(llm=llm, streaming=False)

    await agent.run("I prefer aisle seats.", memory=MnemicMemory.for_actor(engine, Actor(user="ana")))
    memory = MnemicMemory.for_actor(engine, Actor(user="ana"))  # another conversation
    print(await agent.run("Which seat do I prefer?", memory=memory))
    print(memory.turn.last.text)  # what the model was shown


asyncio.run(main())
