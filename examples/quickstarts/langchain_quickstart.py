import os

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI

from mnemic import Actor, Settings, build_engine
from mnemic.agents.langchain import MnemicMiddleware

if not os.environ.get("OPENAI_API_KEY"):
    raise SystemExit("OPENAI_API_KEY is not set: the agent's model needs it. mnemic itself needs no key.")

engine = build_engine(Settings.load(store="memory.db"))
middleware = MnemicMiddleware(engine, Actor(user="ana"))
agent = create_agent(ChatOpenAI(model="gpt-4.1-mini"), middleware=[middleware])

agent.invoke({"messages": [("user", "I prefer aisle seats.")]})
turn = agent.invoke({"messages": [("user", "Which seat do I prefer?")]})
print(turn["messages"][-1].text)
print(middleware.memory.last.text)  # what the model was shown
