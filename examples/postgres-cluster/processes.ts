import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { roundRobinProxy } from './proxy.ts';

/**
 * What compose.yaml starts, as processes of this machine on a PostgreSQL that is there already: two servers that answer
 * requests behind a proxy, and two that execute runs. A process that ends is started again; SIGTERM and SIGINT stop all.
 */
const { DATABASE_URI = '', PORT = '8123' } = process.env;
if (!/^postgres(ql)?:/.test(DATABASE_URI))
  throw new Error('Set DATABASE_URI to postgres://user:password@host/database.');

const PROGRAM = join(import.meta.dirname, '../../bin/agent-server.mjs');
const CONFIG = join(import.meta.dirname, 'agent.config.yaml');
const NAMES = ['api-1', 'api-2', 'worker-1', 'worker-2'] as const;

/** Of the servers that are ready, by name. */
const urls = new Map<string, string>();
const children = new Map<string, ChildProcess>();
let stopping = false;

/** Keeps a server running until all are stopped. */
async function supervise(name: string): Promise<void> {
  const role = name.replace(/-\d$/, '');
  const args = [PROGRAM, 'start', '--config', CONFIG, '--role', role, '--port', '0'];
  while (!stopping) {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    children.set(name, child);
    createInterface(child.stdout).on('line', (line) => read(name, line));
    const [code, signal] = await once(child, 'close');
    urls.delete(name);
    if (stopping) return;
    console.log(`${name} ended (${signal ?? code}) and starts again`);
    await sleep(1000);
  }
}

/** Servers write their log as JSON where nobody reads it in a terminal. */
function read(name: string, line: string): void {
  console.log(`${name} ${line}`);
  const entry = line.startsWith('{') ? JSON.parse(line) : {};
  if (entry.message === 'ready') urls.set(name, entry.url);
  if (urls.size === NAMES.length) console.log(`all processes are ready: http://127.0.0.1:${PORT}`);
}

const proxy = roundRobinProxy(() =>
  [...urls].filter(([name]) => name.startsWith('api')).map(([, url]) => url),
);
proxy.listen(Number(PORT), '127.0.0.1');

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    stopping = true;
    for (const child of children.values()) child.kill('SIGTERM');
  });
}

await Promise.all(NAMES.map(supervise));
proxy.close();
proxy.closeAllConnections();
