"""A deployment from a git repository by the control plane API: created, waited for, changed, deleted.

The requests are those of the example in LangSmith's reference of the control plane, in its order, with its headers and
bodies. What they answer is told as one JSON object: `python_control_plane.py HOST KEY REPOSITORY INSTALL_COMMAND`.
"""

import json
import sys
import time
from urllib.request import Request, urlopen

HOST, KEY, REPOSITORY, INSTALL_COMMAND = sys.argv[1:]
REVISION = {"repo_ref": "main", "langgraph_config_path": "langgraph.json"}


def call(method, path, body=None):
    headers = {"X-Api-Key": KEY, "X-Tenant-Id": "3f1c7c3e-2b0a-4c6e-9f5d-8a7b6c5d4e3f"}
    if body is not None:
        headers["Content-Type"] = "application/json"
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(HOST + path, data=data, headers=headers, method=method)) as response:
        text = response.read()
        return response.status, json.loads(text) if text else None


def deployed(deployment):
    """Waits for the newest revision."""
    _, revisions = call("GET", f"{deployment}/revisions")
    newest = revisions["resources"][0]["id"]
    while True:
        _, revision = call("GET", f"{deployment}/revisions/{newest}")
        if revision["status"] == "DEPLOYED":
            return revision
        if "FAILED" in revision["status"]:
            sys.exit(json.dumps(revision))
        time.sleep(0.2)


def main():
    created, deployment = call(
        "POST",
        "/v2/deployments",
        {
            "name": "my_deployment",
            "source": "github",
            "source_config": {
                "integration_id": "9b2d6f0e-5c1a-4e7b-8d3f-1a2b3c4d5e6f",
                "repo_url": REPOSITORY,
                "deployment_type": "serverless",
                "build_on_push": False,
                "custom_url": None,
                "resource_spec": None,
                "install_command": INSTALL_COMMAND,
            },
            "source_revision_config": {**REVISION, "image_uri": None},
            "secrets": [
                {"name": "OPENAI_API_KEY", "value": "test_openai_api_key"},
                {"name": "ANTHROPIC_API_KEY", "value": "test_anthropic_api_key"},
                {"name": "TAVILY_API_KEY", "value": "test_tavily_api_key"},
            ],
        },
    )
    path = f"/v2/deployments/{deployment['id']}"
    first = deployed(path)
    read, shown = call("GET", path)
    url = shown["source_config"]["custom_url"]
    ran, answer = call("POST", url[len(HOST) :] + "/runs/wait", {"assistant_id": "agent", "input": {}})
    patched, _ = call(
        "PATCH", path, {"source_config": {"build_on_push": True}, "source_revision_config": REVISION}
    )
    second = deployed(path)
    deleted, _ = call("DELETE", path)
    statuses = [created, read, ran, patched, deleted]
    print(json.dumps({"statuses": statuses, "url": url, "answer": answer, "revisions": [first, second]}))


main()
