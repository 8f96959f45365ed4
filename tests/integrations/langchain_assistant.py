from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver

from mnemic.agents.langchain import MnemicMiddleware
from tests.integrations.assistant import MODEL, Given, texts, timetable


class LangChainAssistant:
    """`create_agent` with a checkpointer, called asynchronously."""

    config: ClassVar[Any] = {"configurable": {"thread_id": "t1"}}

    def __init__(self, given: Given) -> None:
        middleware = MnemicMiddleware(given.engine, given.actor, tools=given.memory_tools)
        self.memory = middleware.memory
        self.saver = InMemorySaver()
        model = ChatOpenAI(model=MODEL, **given.api)
        given.closing.push_async_callback(model.root_async_client.close)
        given.closing.callback(model.root_client.close)
        self.agent: Any = create_agent(model, [timetable], middleware=[middleware], checkpointer=self.saver)

    async def say(self, text: str) -> str:
        return self.answer(await self.agent.ainvoke({"messages": [("user", text)]}, self.config))

    def answer(self, state: Any) -> str:
        return str(state["messages"][-1].text)

    def kept(self) -> str:
        return texts(list(self.saver.list(self.config)))


class SynchronousLangChainAssistant(LangChainAssistant):
    """The same, called synchronously."""

    async def say(self, text: str) -> str:
        given = {"messages": [("user", text)]}
        return self.answer(await asyncio.to_thread(self.agent.invoke, given, self.config))
