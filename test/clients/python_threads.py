"""Every method of the official Python client's threads, told as one JSON object: `python_threads.py URL`."""

import asyncio
import json
import sys
import uuid

from every_method import EveryMethod, status_of
from langgraph_sdk import get_client


async def first_events(client, threads, thread_id):
    """What a follower of the thread sees first of a run."""
    options = {"stream_mode": ["values"], "stream_resumable": True}
    await client.runs.create(thread_id, "counter", input={"total": 1}, **options)
    seen = []
    async for part in await threads.join_stream(thread_id, last_event_id="-", stream_mode="run_modes"):
        seen.append(part.event)
        if len(seen) == 2:
            return seen


async def main(url):
    client = get_client(url=url)
    threads = EveryMethod(client.threads)
    thread_id = str(uuid.uuid4())
    step = {"updates": [{"values": {"total": 1}, "as_node": "count"}]}
    made = await threads.create(
        thread_id=thread_id, metadata={"py": True}, graph_id="counter", supersteps=[step], ttl=60
    )
    conflict = await status_of(threads.create(thread_id=thread_id))
    await threads.create(thread_id=thread_id, if_exists="do_nothing")
    updated = await threads.update(thread_id, metadata={"changed": True})
    minimal = await threads.update(thread_id, metadata={"again": True}, return_minimal=True)
    got = await threads.get(thread_id, include=["ttl"])
    before = await threads.get_state(thread_id)
    update = await threads.update_state(thread_id, {"total": 4}, as_node="count")
    after = await threads.get_state(thread_id, checkpoint=update["checkpoint"], subgraphs=True)
    history = await threads.get_history(thread_id, limit=10, metadata={"source": "update"})
    older = await threads.get_history(thread_id, limit=1, before=after["checkpoint"])
    copied = await threads.copy(thread_id)
    count = await threads.count(metadata={"py": True}, values={"total": 5}, status="idle")
    newest = await threads.search(
        metadata={"py": True}, status="idle", limit=1, offset=0, sort_by="created_at", sort_order="desc"
    )
    selected = await threads.search(
        ids=[thread_id], values={"total": 5}, select=["status"], extract={"total": "values.total"}
    )
    copied_id = newest[0]["thread_id"]
    copy = await threads.get(copied_id)
    await threads.delete(copied_id)
    events = await first_events(client, threads, thread_id)
    pruned = await threads.prune([thread_id], strategy="delete")
    return {
        "made": [made["metadata"], made["status"]],
        "conflict": conflict,
        "updated": updated["metadata"]["changed"],
        "minimal": minimal,
        "ttl": [got["ttl"]["strategy"], got["ttl"]["ttl_minutes"]],
        "totals": [before["values"]["total"], after["values"]["total"]],
        "history": [each["values"]["total"] for each in history],
        "older": older[0]["values"]["total"],
        "copied": copy["metadata"],
        "count": count,
        "newest": copied is None or copied["thread_id"] == copied_id,
        "selected": selected[0],
        "events": events,
        "pruned": pruned["pruned_count"],
        "gone": await status_of(threads.get(thread_id)),
        "uncalled": threads.uncalled(),
    }


print(json.dumps(asyncio.run(main(sys.argv[1]))))
