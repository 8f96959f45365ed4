import asyncio
import os

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models.anthropic_llm import AnthropicLlm
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService

from mnemic import Settings, build_engine
from mnemic.agents.adk import MnemicMemoryService, MnemicPlugin

if not os.environ.get("ANTHROPIC_API_KEY"):
    raise SystemExit("ANTHROPIC_API_KEY is not set: the agent's model needs it. mnemic itself needs no key.")


async def main() -> None:
    async with build_engine(Settings.load(store="memory.db")) as engine:
        service = MnemicMemoryService(engine)
        agent = LlmAgent(name="assistant", model=AnthropicLlm(model="claude-sonnet-4-5"))  # or any other model
        app = App(name="travel", root_agent=agent, plugins=[MnemicPlugin(service)])
        runner = Runner(app=app, session_service=InMemorySessionService(), memory_service=service)
        await runner.run_debug(["I prefer aisle seats.", "Which seat do I prefer?"], user_id="ana")
        print(service.memory_of("travel", "ana").last.text)  # what the model was shown


asyncio.run(main())
