import asyncio
import os

from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient

from mnemic import Actor, Settings, build_engine
from mnemic.agents.autogen import MnemicContext

if not os.environ.get("OPENAI_API_KEY"):
    raise SystemExit("OPENAI_API_KEY is not set: the agent's model needs it. mnemic itself needs no key.")


async def main() -> None:
    context = MnemicContext(build_engine(Settings.load(store="memory.db")), Actor(user="ana"))
    client = OpenAIChatCompletionClient(model="gpt-4.1-mini")
    agent = AssistantAgent("assistant", client, model_context=context, tools=context.tools)

    await agent.run(task="I prefer aisle seats.")
    result = await agent.run(task="Which seat do I prefer?")
    print(result.messages[-1].content)
    print(context.memory.last.text)  # what the model was shown


asyncio.run(main())
