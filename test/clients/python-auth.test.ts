import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { inProgram } from '../examples/blocks.ts';
import { openApp } from '../support/app.ts';
import { python } from '../support/python.ts';

const PROGRAM = `
from langgraph_sdk import get_sync_client

def client(token):
    return get_sync_client(url="http://127.0.0.1:8123", headers={"Authorization": f"Bearer {token}"})

alice, bob = client("alice-token"), client("bob-token")
thread = alice.threads.create()
run = alice.runs.wait(thread["thread_id"], "echo", input={"x": 1})
print("alice", run["x"], len(alice.threads.search()), thread["metadata"])
print("bob", len(bob.threads.search()))
for call in (lambda: bob.threads.get(thread["thread_id"]), lambda: client("nobody").threads.search()):
    try:
        call()
    except Exception as error:
        print(type(error).__name__, error)
`;

test.runIf(python)(
  'the Python client sees its own threads, 404 for those of other users and 401 without a token',
  async () => {
    const folder = resolve(import.meta.dirname, '../fixtures/auth');
    await using server = await openApp({ graphs: ['echo'], folder });
    const { url } = await server.app.listen();
    const told = await inProgram(python ?? '', ['-'], PROGRAM, url);
    expect(told).toMatch(
      /^alice 1 1 \{'owner': 'alice'\}\nbob 0\nNotFoundError .*not found\nAuthenticationError .*validate credentials\n$/,
    );
  },
);
