"""Every method of the official Python client's crons, told as one JSON object: `python_crons.py URL`."""

import asyncio
import datetime
import json
import sys

from every_method import EveryMethod, status_of
from langgraph_sdk import get_client


async def main(url):
    client = get_client(url=url)
    crons = EveryMethod(client.crons)
    metadata = {"py": True}
    made = await crons.create(
        "echo",
        schedule="0 0 1 1 *",
        input={"x": 1},
        metadata=metadata,
        config={"tags": ["t"]},
        context={"k": "v"},
        interrupt_before=["a"],
        on_run_completed="keep",
        multitask_strategy="enqueue",
        end_time=datetime.datetime(2099, 1, 1),
        timezone="Europe/Berlin",
        stream_mode=["values", "updates"],
        stream_subgraphs=True,
        stream_resumable=True,
        durability="sync",
    )
    thread_id = (await client.threads.create())["thread_id"]
    on_thread = await crons.create_for_thread(
        thread_id, "echo", schedule="@daily", metadata=metadata, multitask_strategy="reject", enabled=False
    )
    changed = await crons.update(
        made["cron_id"], schedule="@weekly", enabled=False, metadata={"changed": True}, input={"x": 2}
    )
    count = [await crons.count(metadata=metadata), await crons.count(thread_id=thread_id)]
    found = await crons.search(
        metadata=metadata,
        thread_id=thread_id,
        enabled=False,
        sort_by="created_at",
        sort_order="asc",
        select=["enabled"],
    )
    bad = await status_of(crons.create("echo", schedule="bad"))
    for cron_id in [made["cron_id"], on_thread["cron_id"]]:
        await crons.delete(cron_id)
    return {
        "made": [made[field] for field in ["schedule", "timezone", "end_time", "enabled", "on_run_completed"]],
        "bad": bad,
        "on_thread": [on_thread["thread_id"] == thread_id, on_thread["enabled"]],
        "changed": [changed[field] for field in ["schedule", "enabled", "metadata", "next_run_date"]],
        "count": count,
        "found": [cron["enabled"] for cron in found],
        "gone": [await crons.count(metadata=metadata), await status_of(crons.delete(made["cron_id"]))],
        "uncalled": crons.uncalled(),
    }


print(json.dumps(asyncio.run(main(sys.argv[1]))))
