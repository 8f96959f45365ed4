import os

from openai import OpenAI

from mnemic import Actor, Settings, build_engine
from mnemic.agents.clients import TurnMemory, wrap

if not os.environ.get("OPENAI_API_KEY"):
    raise SystemExit("OPENAI_API_KEY is not set: the agent's model needs it. mnemic itself needs no key.")

memory = TurnMemory(build_engine(Settings.load(store="memory.db")), Actor(user="ana"))
client = wrap(OpenAI(), memory)

messages = [{"role": "user", "content": "I prefer aisle seats."}]
answer = client.chat.completions.create(model="gpt-4.1-mini", messages=messages)
messages += [answer.choices[0].message, {"role": "user", "content": "Which seat do I prefer?"}]
answer = client.chat.completions.create(model="gpt-4.1-mini", messages=messages)
print(answer.choices[0].message.content)
print(memory.last.text)  # what the model was shown
