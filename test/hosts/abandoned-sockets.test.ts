import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { removeAbandonedSockets } from '../../src/hosts/pool/abandoned-sockets.ts';

const NOW = 1_800_000_000_000;
const HOUR = 3_600_000;

function temporaryFolder() {
  const root = mkdtempSync(join(tmpdir(), 'abandoned-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  return {
    root,
    /** Makes a folder; returns its path. */
    add(name: string): string {
      mkdirSync(join(root, name));
      return join(root, name);
    },
    clean: () => removeAbandonedSockets(root, 'agent-hosts-', NOW),
  };
}

function lastChanged(folder: string, ms_ago: number): void {
  const at = (NOW - ms_ago) / 1000;
  utimesSync(folder, at, at);
}

async function listen(path: string): Promise<Disposable> {
  const server = createServer().listen(path);
  await once(server, 'listening');
  return { [Symbol.dispose]: () => void server.close() };
}

/** A socket whose process has ended without removing it. */
async function leaveSocket(path: string): Promise<void> {
  using _server = await listen(`${path}.moved`);
  renameSync(`${path}.moved`, path);
}

test.skipIf(process.platform === 'win32')(
  'the sockets of a killed server are removed, and those of a listening or starting one are kept',
  async () => {
    const { add, clean } = temporaryFolder();
    const dead = add('agent-hosts-dead');
    const empty = add('agent-hosts-empty');
    const live = add('agent-hosts-live');
    const starting = add('agent-hosts-starting');
    await leaveSocket(join(dead, 'server.sock'));
    await leaveSocket(join(live, 'host-1.sock'));
    using _server = await listen(join(live, 'server.sock'));
    for (const folder of [dead, empty, live]) lastChanged(folder, 2 * HOUR);
    lastChanged(starting, HOUR / 2);

    await clean();
    expect([dead, empty, live, starting].map(existsSync)).toEqual([false, false, true, true]);
  },
);

test('a folder without sockets of a server is kept', async () => {
  const { root, add, clean } = temporaryFolder();
  const other = add('other');
  const linked = join(root, 'agent-hosts-linked');
  const holding = add('agent-hosts-holding');
  mkdirSync(join(holding, 'a-folder'));
  symlinkSync(other, linked);
  for (const folder of [other, holding]) lastChanged(folder, 2 * HOUR);

  await clean();
  expect([other, linked, holding].map(existsSync)).toEqual([true, true, true]);
});

test('an unreadable temporary folder does not fail the removal of abandoned sockets', async () => {
  await removeAbandonedSockets('/nowhere/at/all', 'agent-hosts-', NOW);
});
