"""What the official Python client does, told as one JSON object: `python_sdk.py URL API_KEY`."""

import asyncio
import json
import sys

from langgraph_sdk import get_client


def says(text, role="human"):
    return {"messages": [{"role": role, "content": text}]}


async def collect(stream):
    return [part async for part in stream]


def data(parts, event):
    return [part.data for part in parts if part.event == event]


async def chat(client, role):
    thread = await client.threads.create()
    stream = client.runs.stream(
        thread["thread_id"],
        "assistant",
        input=says("When do you open on Saturday?", role),
        stream_mode=["updates", "messages", "events"],
    )
    parts = await collect(stream)
    state = await client.threads.get_state(thread["thread_id"])
    answer = state["values"]["messages"][-1]
    return {
        "first": parts[0].event,
        "nodes": [node for update in data(parts, "updates") for node in update],
        "streamed": data(parts, "messages/partial")[-1][0]["content"] == answer["content"],
        "model_events": any(event["event"] == "on_chat_model_stream" for event in data(parts, "events")),
        "types": [message["type"] for message in state["values"]["messages"]],
    }


async def approval(client):
    thread_id = (await client.threads.create())["thread_id"]
    order = says("Email ana@example.com about lunch saying See you at noon.")
    parts = await collect(client.runs.stream(thread_id, "assistant", input=order, stream_mode="updates"))
    waiting = await client.threads.get(thread_id)
    values = await client.runs.wait(thread_id, "assistant", command={"resume": {"decisions": [{"type": "approve"}]}})
    after = await client.threads.get(thread_id)
    return {
        "asked": data(parts, "updates")[-1]["__interrupt__"][0]["value"]["action_requests"][0]["name"],
        "status": [waiting["status"], after["status"]],
        "interrupts": [len(waiting["interrupts"]), len(after["interrupts"])],
        "answer": values["messages"][-1]["content"].startswith("The e-mail to ana@example.com"),
    }


async def fork(client):
    thread_id = (await client.threads.create())["thread_id"]
    await client.runs.wait(thread_id, "echo", input=says("one"))
    await client.runs.wait(thread_id, "echo", input=says("two"))
    history = await client.threads.get_history(thread_id)
    after_one = next(s for s in history if s["values"].get("count") == 1 and s["next"] == [])
    at = await client.threads.get_state(thread_id, checkpoint=after_one["checkpoint"])
    by_id = await client.threads.get_state(thread_id, checkpoint_id=after_one["checkpoint"]["checkpoint_id"])
    forked = await client.runs.wait(
        thread_id, "echo", input=says("other"), checkpoint_id=after_one["checkpoint"]["checkpoint_id"]
    )
    older = await client.threads.get_history(thread_id, limit=1, before=after_one["checkpoint"])
    return {
        "same": at == by_id,
        "contents": [message["content"] for message in forked["messages"]],
        "older": older[0]["checkpoint"] == after_one["parent_checkpoint"],
    }


async def stateless(client):
    parts = await collect(client.runs.stream(None, "echo", input=says("hi"), stream_mode="values"))
    waited = await client.runs.wait(None, "echo", input=says("hi"))
    return {"streamed": data(parts, "values")[-1]["count"], "waited": waited["count"]}


async def background(client):
    thread_id = (await client.threads.create())["thread_id"]
    run = await client.runs.create(thread_id, "sleeper", input={"ms": 200, "label": "one"}, stream_resumable=True)
    joined = await client.runs.join(thread_id, run["run_id"])
    streamed = await collect(client.runs.join_stream(thread_id, run["run_id"], last_event_id="-1"))
    ended = await client.runs.get(thread_id, run["run_id"])
    long = await client.runs.create(thread_id, "sleeper", input={"ms": 60000, "label": "long"})
    await client.runs.cancel(thread_id, long["run_id"], wait=True)
    cancelled = await client.runs.get(thread_id, long["run_id"])
    return {
        "joined": joined["slept"],
        "streamed": data(streamed, "values")[-1]["slept"],
        "status": [ended["status"], cancelled["status"]],
    }


async def main(url, api_key):
    client = get_client(url=url, api_key=api_key)
    report = {
        "human": await chat(client, "human"),
        "user": await chat(client, "user"),
        "approval": await approval(client),
        "fork": await fork(client),
        "stateless": await stateless(client),
        "background": await background(client),
    }
    print(json.dumps(report))


asyncio.run(main(*sys.argv[1:]))
