import os

from pydantic_ai import Agent

from mnemic import Actor, Settings, build_engine
from mnemic.agents.pydantic_ai import MnemicMemory

if not os.environ.get("OPENAI_API_KEY"):
    raise SystemExit("OPENAI_API_KEY is not set: the agent's model needs it. mnemic itself needs no key.")

engine = build_engine(Settings.load(store="memory.db"))
capability = MnemicMemory(engine, Actor(user="ana"))
agent = Agent("openai-chat:gpt-4.1-mini", capabilities=[capability])

agent.run_sync("I prefer aisle seats.")
print(agent.run_sync("Which seat do I prefer?").output)
print(capability.memory.last.text)  # what the model was shown
