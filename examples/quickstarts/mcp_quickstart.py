import asyncio

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

server = StdioServerParameters(command="mnemic", args=["--store", "memory.db", "--user", "ana", "mcp"])


async def main() -> None:
    async with Client(stdio_client(server)) as client:
        await client.call_tool("capture", {"message": "I prefer aisle seats."})
        found = await client.call_tool("search_memory", {"query": "Which seat does she prefer?"})
        print(found.structured_content["memories"][0]["content"])


asyncio.run(main())
