import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { encodeFrame } from '../../src/hosts/protocol/frames.ts';
import { play, readConversation } from '../support/conversation.ts';
import { HostProcess } from '../support/host-process.ts';

const OURS = [process.execPath, fileURLToPath(new URL('../../src/hosts/host/main.ts', import.meta.url))];
/** The host that is tested: a program with arguments, separated by spaces. */
const COMMAND = process.env['GRAPH_HOST_COMMAND']?.split(' ') ?? OURS;

const conversations = new URL('conversations/', import.meta.url);
const project = fileURLToPath(new URL('project', conversations));
const files = readdirSync(conversations).filter((name) => name.endsWith('.json') && name !== 'blocking.json');

test.each(files)(
  'a graph host follows the recorded conversation %s, and ends with its connection',
  async (name) => {
    await using host = await HostProcess.of(COMMAND);
    await play(host, await readConversation(new URL(name, conversations), { project, folder: host.folder }));
    host.close();
    expect([await host.exited, await host.stderr]).toEqual([0, '']);
  },
);

test('the watchdog of a graph host reports the source location while its event loop is blocked', async () => {
  await using host = await HostProcess.of(COMMAND);
  await play(
    host,
    await readConversation(new URL('blocking.json', conversations), { project, folder: host.folder }),
  );
  await expect
    .poll(() => host.watch('ping'), { interval: 200 })
    .toMatchObject({
      blocked_ms: expect.toSatisfy((ms: number) => ms >= 1000),
      rss_bytes: expect.any(Number),
      place: { run_id: 'run-1', node: 'block', at: expect.stringMatching(/graph\.mjs:\d+/) },
    });
});

test.each([
  ['no MessagePack', Buffer.from([0, 0, 0, 1, 0xc1])],
  ['a length above the limit', Buffer.from([0xff, 0xff, 0xff, 0xff])],
  ['no JSON-RPC', encodeFrame([1, 2])],
  ['a response to nothing', encodeFrame({ jsonrpc: '2.0', id: 7, result: {} })],
])('a graph host ends when it receives %s', async (_what, bytes) => {
  await using host = await HostProcess.of(COMMAND);
  host.sendBytes(bytes);
  expect(await host.exited).toBe(1);
});
