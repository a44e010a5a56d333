"""The Python client as a servant, for many agents at once.

Reads calls from standard input, a JSON object a line: `{id, to: [agent, binding, version], method, argument}`. Tells for
each what the client said of it: `{id, value}` or `{id, error}`, and for streams `{id, event}` before that. Calls go on
beside each other.
"""

import asyncio
import json
import sys
import uuid

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import a2a_pb2 as a2a
from google.protobuf.json_format import ParseDict


def tell(**line):
    print(json.dumps(line), flush=True)


def text(parts):
    return "".join(part.text for part in parts)


def state(status):
    return a2a.TaskState.Name(status.state)


def task(of):
    artifacts = [text(artifact.parts) for artifact in of.artifacts]
    said = text(of.status.message.parts)
    return {"id": of.id, "context_id": of.context_id, "state": state(of.status), "said": said, "artifacts": artifacts}


def event(of):
    if of.HasField("task"):
        return {"kind": "task", "task": task(of.task)}
    if of.HasField("status_update"):
        status = of.status_update.status
        return {"kind": "status", "state": state(status), "said": text(status.message.parts)}
    update = of.artifact_update
    return {"kind": "artifact", "text": text(update.artifact.parts), "append": update.append}


def request(saying):
    parts = [{name: saying[name]} for name in ("text", "data") if name in saying]
    message = {
        "messageId": str(uuid.uuid4()),
        "role": "ROLE_USER",
        "parts": parts,
        "taskId": saying.get("task_id", ""),
        "contextId": saying.get("context_id", ""),
        "metadata": {"configurable": saying.get("configurable", {})},
    }
    configuration = {"returnImmediately": saying.get("at_once", False)}
    return ParseDict({"message": message, "configuration": configuration}, a2a.SendMessageRequest())


class Agent:
    """Of a server, over one binding of one version."""

    def __init__(self, http, card, binding):
        def client(streaming):
            config = ClientConfig(httpx_client=http, supported_protocol_bindings=[binding], streaming=streaming)
            return ClientFactory(config).create(card)

        self.streaming, self.client = client(True), client(False)

    async def connect(self, _id, _argument):
        return True

    async def send(self, _id, saying):
        return [task(each.task) async for each in self.client.send_message(request(saying))][-1]

    async def stream(self, id, saying):
        async for each in self.streaming.send_message(request(saying)):
            tell(id=id, event=event(each))

    async def subscribe(self, id, task_id):
        async for each in self.streaming.subscribe(a2a.SubscribeToTaskRequest(id=task_id)):
            tell(id=id, event=event(each))

    async def get(self, _id, task_id):
        return task(await self.client.get_task(a2a.GetTaskRequest(id=task_id)))

    async def cancel(self, _id, task_id):
        return task(await self.client.cancel_task(a2a.CancelTaskRequest(id=task_id)))

    async def list(self, _id, context_id):
        listed = await self.client.list_tasks(a2a.ListTasksRequest(context_id=context_id))
        return [each.id for each in listed.tasks]


async def connected(http, url, binding, version):
    card = await A2ACardResolver(http, url).get_agent_card()
    kept = [each for each in card.supported_interfaces if each.protocol_version == version]
    del card.supported_interfaces[:]
    card.supported_interfaces.extend(kept)
    return Agent(http, card, binding)


async def serve(http, agents, id, to, method, argument):
    try:
        if method == "connect":
            agents[tuple(to)] = await connected(http, *to)
        tell(id=id, value=await getattr(agents[tuple(to)], method)(id, argument))
    except Exception as error:
        tell(id=id, error=f"{type(error).__name__}: {error}")


async def main():
    agents = {}
    async with httpx.AsyncClient(timeout=60) as http, asyncio.TaskGroup() as calls:
        while line := await asyncio.to_thread(sys.stdin.readline):
            calls.create_task(serve(http, agents, **json.loads(line)))


asyncio.run(main())
