import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openPostgres } from '../../src/db/engines/postgres.ts';
import { raw } from '../../src/db/sql.ts';
import type { HttpClient } from '../support/http-client.ts';
import { POSTGRES_BINARIES, serverUser, startPostgres } from '../support/postgres-server.ts';
import { createThread, joinRun, startRun } from '../support/remote-runs.ts';
import { type ChaosServer, startChaosServer } from './server.ts';

const KB = 1024;

/** A disk of a test's own, which needs root. */
interface SmallDisk extends Disposable {
  readonly folder: string;
  grow(): void;
}

const disks = new DisposableStack();
afterAll(() => disks.dispose());

function mountDisk(): SmallDisk | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'agent-server-small-disk-'));
  const mount = (...args: string[]) => spawnSync('mount', [...args, folder]).status === 0;
  disks.defer(() => rmSync(folder, { recursive: true, force: true }));
  if (!mount('-t', 'tmpfs', '-o', 'size=24m', 'none')) return undefined;
  return disks.use({
    folder,
    grow: () => mount('-o', 'remount,size=96m'),
    [Symbol.dispose]: () => void spawnSync('umount', ['--lazy', folder]),
  });
}

/** Creates large threads until one is refused, which must be said as a full disk. Then grows the disk. */
async function expectRecovery({ http, process }: ChaosServer, disk: SmallDisk): Promise<void> {
  const kept: string[] = [];
  const refused = await fill(http, kept);
  expect(refused).toMatchObject({ status: 507, body: { detail: expect.stringContaining('disk') } });
  expect(kept.length).toBeGreaterThan(3);
  for (const thread_id of kept) expect((await http.send('GET', `/threads/${thread_id}`)).status).toBe(200);
  disk.grow();
  const run = await startRun(http, { assistant_id: 'echo', input: { x: 1 } });
  expect(await joinRun(http, run)).toMatchObject({ log: ['a:1', 'b'] });
  expect(await http.call('POST', '/threads/count', { metadata: { is: 'large' } })).toBe(kept.length);
  expect(process.errors).toBe('');
}

async function fill(http: HttpClient, kept: string[]) {
  for (;;) {
    const text = randomBytes(300 * KB).toString('base64');
    const answer = await http.send('POST', '/threads', { body: { metadata: { is: 'large', text } } });
    if (answer.status !== 200) return answer;
    kept.push((answer.body as { thread_id: string }).thread_id);
  }
}

const disk = process.env['TEST_DATABASE'] === 'postgres' ? undefined : mountDisk();
describe.runIf(disk)('a full disk under SQLite', () => {
  test('writes fail with the reason, no data is lost, and work resumes when there is space', async () => {
    const { folder } = disk as SmallDisk;
    await using server = await startChaosServer({ DATABASE_URI: `sqlite:${join(folder, 'server.db')}` });
    await createThread(server.http);
    await expectRecovery(server, disk as SmallDisk);
  });
});

const tables = POSTGRES_BINARIES ? mountDisk() : undefined;
describe.runIf(tables)('a full disk under PostgreSQL', () => {
  test('writes fail with the reason, no data is lost, and work resumes when there is space', async () => {
    const { folder } = tables as SmallDisk;
    const user = serverUser();
    if (user) chownSync(folder, user.uid, user.gid);
    await using postgres = await startPostgres();
    await using db = openPostgres(postgres.url);
    // Tables alone: without room for its log, PostgreSQL itself ends.
    await db.run(raw(`create tablespace small location '${folder}'`));
    const url = new URL(postgres.url);
    url.searchParams.set('options', '-c default_tablespace=small');
    await using server = await startChaosServer({ DATABASE_URI: url.href });
    await expectRecovery(server, tables as SmallDisk);
  });
});
