import os

from agents import Agent, Runner, SQLiteSession
from mnemic import Actor, Settings, build_engine
from mnemic.agents.openai_agents import MnemicMemory

if not os.environ.get("OPENAI_API_KEY"):
    raise SystemExit("OPENAI_API_KEY is not set: the agent's model needs it. mnemic itself needs no key.")

memory = MnemicMemory(build_engine(Settings.load(store="memory.db")), Actor(user="ana"))
agent = Agent(name="Assistant", model="gpt-4.1-mini")
options = {"session": SQLiteSession("monday"), "run_config": memory.run_config(), "hooks": memory}

Runner.run_sync(agent, "I prefer aisle seats.", **options)
result = Runner.run_sync(agent, "Which seat do I prefer?", **options)
print(result.final_output)
print(memory.memory.last.text)  # what the model was shown
