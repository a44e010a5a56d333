"""Every method of the official Python client's assistants, told as one JSON object: `python_assistants.py URL`."""

import asyncio
import json
import sys
import uuid

from every_method import EveryMethod, status_of
from langgraph_sdk import get_client


async def main(url):
    assistants = EveryMethod(get_client(url=url).assistants)
    metadata = {"py": True}
    assistant_id = str(uuid.uuid4())
    made = await assistants.create(
        "counter",
        context={"by": 2},
        metadata=metadata,
        assistant_id=assistant_id,
        name="Counts by two",
        description="Counts.",
    )
    again = await assistants.create("echo", assistant_id=assistant_id, if_exists="do_nothing")
    conflict = await status_of(assistants.create("echo", assistant_id=assistant_id))
    got = await assistants.get(assistant_id)
    changed = await assistants.update(
        assistant_id, graph_id="echo", config={"tags": ["t"]}, metadata={"changed": True}, name="Echoes"
    )
    versions = await assistants.get_versions(assistant_id)
    found = await assistants.get_versions(assistant_id, metadata={"changed": True}, limit=5, offset=0)
    restored = await assistants.set_latest(assistant_id, 1)
    await assistants.create("counter", name="Counts by three", metadata=metadata)
    query = {"metadata": metadata, "graph_id": "counter", "name": "by", "sort_by": "name", "sort_order": "asc"}
    rows = await assistants.search(**query, limit=1, offset=1, select=["name"])
    page = await assistants.search(**query, limit=1, response_format="object")
    count = await assistants.count(metadata=metadata, graph_id="counter", name="COUNTS")
    await assistants.delete(assistant_id, delete_threads=True)
    gone = await status_of(assistants.get(assistant_id))
    drawn = await assistants.get_graph("three-levels", xray=1)
    schemas = await assistants.get_schemas("zod-state")
    subgraphs = await assistants.get_subgraphs("three-levels", recurse=True)
    subgraph = await assistants.get_subgraphs("three-levels", namespace="top_two")
    return {
        "made": [made[name] for name in ("graph_id", "context", "name", "description", "version")],
        "same": made == again == got,
        "conflict": conflict,
        "changed": [changed[name] for name in ("graph_id", "context", "metadata", "version")],
        "versions": [each["version"] for each in versions],
        "found": [each["version"] for each in found],
        "restored": [restored[name] for name in ("graph_id", "context", "version")],
        "count": count,
        "names": [row["name"] for row in rows],
        "page": [[row["name"] for row in page["assistants"]], page["next"]],
        "drawn": any(str(node["id"]).startswith("top_two:") for node in drawn["nodes"]),
        "schema": schemas["state_schema"]["properties"]["topic"]["type"],
        "subgraphs": list(subgraphs),
        "subgraph": list(subgraph),
        "gone": gone,
        "uncalled": assistants.uncalled(),
    }


print(json.dumps(asyncio.run(main(sys.argv[1]))))
