import asyncio
import os

from claude_agent_sdk import AssistantMessage, ClaudeAgentOptions, ClaudeSDKClient

from mnemic import Actor, Settings, build_engine
from mnemic.agents.claude_agent import MnemicMemory

if not os.environ.get("ANTHROPIC_API_KEY"):
    raise SystemExit("ANTHROPIC_API_KEY is not set: the agent's model needs it. mnemic itself needs no key.")


async def main() -> None:
    memory = MnemicMemory(build_engine(Settings.load(store="memory.db")), Actor(user="ana"), tools=True)
    async with memory.options(ClaudeAgentOptions(tools=[])) as options, ClaudeSDKClient(options) as client:
        for message in ("I prefer aisle seats.", "Which seat do I prefer?"):
            await client.query(message)
            async for part in client.receive_response():
                if isinstance(part, AssistantMessage):
                    print(part.content)
    print(memory.memory.last.text)  # what the model was shown


asyncio.run(main())
