"""Every method of the official Python client's store, told as one JSON object: `python_store.py URL`."""

import asyncio
import json
import sys

import httpx
from langgraph_sdk import get_client


async def main(url):
    store = get_client(url=url).store
    namespace = ["py", "ada"]
    missing = await store.get_item(namespace, "tea")
    await store.put_item(namespace, "tea", {"text": "likes green tea", "cups": 2})
    await store.put_item(namespace, "gone", {"text": "is gone"}, index=False, ttl=-1)
    await store.put_item([*namespace, "work"], "desk", {"text": "stands", "cups": 0}, index=["text"], ttl=60)
    got = await store.get_item(namespace, "tea", refresh_ttl=True)
    found = await store.search_items(
        namespace, filter={"cups": {"$gte": 1}}, limit=5, offset=0, refresh_ttl=False
    )
    listed = await store.list_namespaces(prefix=namespace, suffix=["work"], max_depth=4, limit=5)
    gone = await store.get_item(namespace, "gone")
    await store.delete_item(namespace, "tea")
    try:
        await store.put_item([], "k", {})
        refused = None
    except httpx.HTTPStatusError as error:
        refused = error.response.status_code
    return {
        "missing": missing,
        "got": {field: got[field] for field in ("namespace", "key", "value")},
        "gone": gone,
        "found": [item["key"] for item in found["items"]],
        "namespaces": listed["namespaces"],
        "deleted": await store.get_item(namespace, "tea"),
        "refused": refused,
    }


print(json.dumps(asyncio.run(main(sys.argv[1]))))
