import os

from strands import Agent
from strands.models.openai import OpenAIModel

from mnemic import Actor, Settings, build_engine
from mnemic.agents.strands import MnemicMemory

if not os.environ.get("OPENAI_API_KEY"):
    raise SystemExit("OPENAI_API_KEY is not set: the agent's model needs it. mnemic itself needs no key.")

engine = build_engine(Settings.load(store="memory.db"))
memory = MnemicMemory(engine, Actor(user="ana"))
agent = Agent(model=OpenAIModel(model_id="gpt-4.1-mini"), plugins=[memory])  # or any other model

agent("I prefer aisle seats.")
agent("Which seat do I prefer?")
print(memory.last.text)  # what the model was shown
