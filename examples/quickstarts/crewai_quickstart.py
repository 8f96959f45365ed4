import os

from crewai import Agent

from mnemic import Actor, Settings, build_engine
from mnemic.agents.crewai import MnemicMemory

if not os.environ.get("OPENAI_API_KEY"):
    raise SystemExit("OPENAI_API_KEY is not set: the agent's model needs it. mnemic itself needs no key.")

memory = MnemicMemory(build_engine(Settings.load(store="memory.db")), Actor(user="ana"))
model = memory.wrap_model("gpt-4.1-mini")
agent = Agent(role="Assistant", goal="Help the user.", backstory="Be brief.", llm=model, tools=memory.tools)

agent.kickoff("I prefer aisle seats.")
print(agent.kickoff("Which seat do I prefer?").raw)
print(memory.memory.last.text)  # what the model was shown
