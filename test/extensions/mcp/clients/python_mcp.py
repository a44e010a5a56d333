"""The Python client as a servant, for many servers at once.

Reads calls from standard input, a JSON object a line: `{id, to: [url, mode], method, argument}`. Tells for each what
came of it, `{id, value}` or `{id, error}`, and before that what happens on the way: `{id, event}`. Calls go on beside
each other.
"""

import asyncio
import json
import sys

from mcp import Client
from mcp.types import ElicitResult

calls = {}
answers = {}


def tell(**line):
    print(json.dumps(line), flush=True)


async def tools(_id, url, mode, _argument):
    async with Client(url, mode=mode) as client:
        return [tool.name for tool in (await client.list_tools()).tools]


async def call(id, url, mode, argument):
    async def asked(_context, params):
        answers[id] = asyncio.get_running_loop().create_future()
        tell(id=id, event={"asked": params.message})
        return ElicitResult(action="accept", content={"response": await answers[id]})

    async def heard(progress, _total, _message):
        tell(id=id, event={"progress": progress})

    meta = {"thread_id": argument["thread_id"]} if "thread_id" in argument else None
    async with Client(url, mode=mode, elicitation_callback=asked) as client:
        result = await client.call_tool(
            argument["tool"], argument.get("arguments", {}), meta=meta, progress_callback=heard
        )
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


async def answer(_id, _url, _mode, argument):
    answers[argument["call"]].set_result(argument["answer"])


async def cancel(_id, _url, _mode, argument):
    calls[argument["call"]].cancel()


METHODS = {"tools": tools, "call": call, "answer": answer, "cancel": cancel}


async def serve(id, to, method, argument):
    try:
        tell(id=id, value=await METHODS[method](id, *to, argument))
    except asyncio.CancelledError:
        tell(id=id, error="cancelled")
    except Exception as error:
        tell(id=id, error=f"{type(error).__name__}: {error}")


async def main():
    while line := await asyncio.to_thread(sys.stdin.readline):
        asked = json.loads(line)
        calls[asked["id"]] = asyncio.create_task(serve(**asked))
    await asyncio.gather(*calls.values())


asyncio.run(main())
