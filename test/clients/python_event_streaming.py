"""Event streaming through the official Python client: prints what it saw as JSON."""

import asyncio
import json
import sys
import uuid

from langgraph_sdk import get_client


async def conversation(url: str, transport: str) -> dict:
    client = get_client(url=url)
    seen = {}

    def stream(graph: str):
        return client.threads.stream(str(uuid.uuid4()), assistant_id=graph, transport=transport)

    async with stream("tokens") as thread:
        await thread.run.start(input={"count": 5, "token_ms": 0, "messages": []})
        messages = [message async for message in thread.messages]
        seen["texts"] = [await message.text for message in messages]
        seen["count"] = (await thread.output)["count"]

    async with stream("interrupting") as thread:
        await thread.run.start(input={"x": 1})
        async for _ in thread.values:
            pass
        seen["asked"] = [interrupt["value"] for interrupt in thread.interrupts]
        await thread.run.respond("yes")
        seen["log"] = (await thread.output)["log"]

    async with stream("three-levels") as thread:
        await thread.run.start(input={"path": []})
        seen["subgraphs"] = [subgraph.graph_name async for subgraph in thread.subgraphs]
    return seen


print(json.dumps(asyncio.run(asyncio.wait_for(conversation(sys.argv[1], sys.argv[2]), 30))))
