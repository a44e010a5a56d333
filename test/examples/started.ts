import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { isInstalled } from '../support/installed.ts';
import { needs } from '../support/needs.ts';
import { callsOf, inShell, type Outcome, ROOT } from './blocks.ts';

/** A server in a process of its own, with data of its own. */
export interface Started extends AsyncDisposable {
  readonly url: string;
  /** Where the example `assistant` puts its e-mails. */
  readonly outbox: string;
}

/** What the machine's own environment may name must not reach the server; empty means not set. */
const NEUTRAL = { AGENT_SERVER_API_KEYS: '', OPENAI_API_KEY: '', OPENAI_BASE_URL: '' };

/**
 * Starts a server by a shell command of the documentation, on a free port. `says`: what the command prints once all that
 * it starts is ready; without it, the first answer counts.
 */
export async function started(
  command: string,
  env: Record<string, string> = {},
  says?: string,
): Promise<Started> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-'));
  const port = await freePort();
  const outbox = join(folder, 'outbox');
  needs('bash');
  const child = spawn('bash', ['-c', command], {
    cwd: ROOT,
    // A group of its own: npm and the shell do not always pass signals on.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      ...NEUTRAL,
      PORT: String(port),
      DATABASE_URI: `sqlite:${folder}/server.db`,
      OUTBOX: outbox,
      ...env,
    },
  });
  let log = '';
  for (const output of [child.stdout, child.stderr]) output.on('data', (data) => (log += data));
  const closed = once(child, 'close');
  const url = `http://127.0.0.1:${port}`;
  const stop = async () => {
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
    await closed;
    await rm(folder, { recursive: true, force: true });
  };
  const isReady = async () => (says === undefined ? await answers(url) : log.includes(says));
  if (await comesTrue(isReady, () => child.exitCode !== null))
    return { url, outbox, [Symbol.asyncDispose]: stop };
  await stop();
  throw new Error(`${command} does not serve:\n${log}`);
}

async function answers(url: string): Promise<boolean> {
  const response = await fetch(`${url}/ok`).catch(() => undefined);
  return response?.ok === true;
}

/** False when the command ended, or after two minutes: a busy machine takes one. */
async function comesTrue(isReady: () => Promise<boolean>, hasEnded: () => boolean): Promise<boolean> {
  for (const deadline = Date.now() + 120_000; Date.now() < deadline && !hasEnded(); await sleep(50)) {
    if (await isReady()) return true;
  }
  return false;
}

/** A server, and what became of the calls of a page. */
export interface CalledPage {
  readonly server: Started;
  readonly outcomes: readonly Outcome[];
}

/** For the tests of this file: makes all calls of a page of the docs to a server with the examples. */
export function useCallsOf(page: string): CalledPage {
  const called: { server?: Started; outcomes?: Outcome[] } = {};
  beforeAll(async () => {
    if (!isInstalled('bash') || !isInstalled('curl')) return;
    called.server = await started('npm start');
    called.outcomes = await inShell(callsOf(page), called.server.url);
  });
  beforeEach(() => {
    needs('bash');
    needs('curl');
  });
  afterAll(() => called.server?.[Symbol.asyncDispose]());
  return called as CalledPage;
}
