import asyncio

from langgraph.checkpoint.memory import InMemorySaver

from mnemic import Settings, build_engine
from mnemic.agents.langgraph import memory_graph


async def main() -> None:
    async with build_engine(Settings.load(store="memory.db")) as engine:
        graph = memory_graph(engine, lambda context: f"I know: {context['memory_block']}", checkpointer=InMemorySaver())
        await graph.ainvoke({"input": "I prefer aisle seats.", "user_id": "ana", "thread_id": "monday"})
        turn = await graph.ainvoke({"input": "Which seat do I prefer?", "user_id": "ana", "thread_id": "friday"})
        print(turn["final_output"]["response"])


asyncio.run(main())
