import { readdirSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchServer } from '../bench/bench-server.ts';
import type { Measurement } from '../bench/measurements.ts';
import { createThread, startRun } from '../support/remote-runs.ts';
import { startSoakCluster } from './cluster.ts';

/** Clients at a time. */
const AT_ONCE = 100;
/** Time for connections and timers of clients that are gone to end, ms. */
const SETTLE_MS = 15_000;

/** Event streams that are opened and cut in random states: what is left of them? */
export async function clients(count: number): Promise<Measurement[]> {
  await using cluster = await startSoakCluster();
  const { apis } = cluster;
  const paths = await streams(apis[0]);
  let cut = 0;
  const cutAll = async (until: number): Promise<void> => {
    const one = async () => {
      while (cut < until)
        await openAndCut(apis[cut % 2] as BenchServer, paths[cut++ % paths.length] as string);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, one));
    await sleep(SETTLE_MS);
  };
  // What is made once, such as caches and connections, is there after the first tenth.
  await cutAll(count / 10);
  const before = await Promise.all(apis.map(leftOf));
  await cutAll(count);
  const after = await Promise.all(apis.map(leftOf));
  return apis.flatMap((_, index) =>
    Object.entries(after[index] ?? {}).map(([what, value]): Measurement => {
      const unit = what === 'memory' ? 'MB' : '';
      const change = value - (before[index]?.[what as keyof Left] ?? 0);
      return { what: `api ${index + 1}: ${what} more than after the first tenth`, value: change, unit };
    }),
  );
}

/** A run that speaks, one that waits, and the thread of each. */
async function streams(api: BenchServer): Promise<string[]> {
  const speaking = { assistant_id: 'clock', input: { count: 1e6, pause_ms: 50 }, stream_mode: 'custom' };
  const waiting = { assistant_id: 'echo', input: {}, after_seconds: 86_400 };
  const paths = await Promise.all(
    [speaking, waiting].map(async (body) => {
      const { thread_id, run_id } = await startRun(api.http, body, await createThread(api.http));
      return [`/threads/${thread_id}/runs/${run_id}/stream`, `/threads/${thread_id}/stream`];
    }),
  );
  return paths.flat();
}

/** Cut before the answer, when it begins, or while events arrive. */
async function openAndCut({ process }: BenchServer, path: string): Promise<void> {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const asked = request(process.url + path, { agent: false });
  asked.on('error', () => {}).on('close', resolve);
  const state = Math.floor(Math.random() * 3);
  if (state === 0) setTimeout(() => asked.destroy(), Math.random() * 20);
  asked.on('response', (answer: IncomingMessage) => {
    answer.on('error', () => {}).resume();
    setTimeout(() => asked.destroy(), state === 1 ? 0 : Math.random() * 300);
  });
  asked.end();
  await closed;
}

interface Left {
  readonly memory: number;
  readonly 'open files': number;
  readonly 'connections to the database in use': number;
}

async function leftOf({ process, residentMegabytes }: BenchServer): Promise<Left> {
  return {
    memory: residentMegabytes(),
    'open files': readdirSync(`/proc/${process.pid}/fd`).length,
    'connections to the database in use': await inUse(process.url),
  };
}

async function inUse(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const sum = (name: string) =>
    [...text.matchAll(new RegExp(`^${name}\\{[^}]*\\} (\\d+)`, 'gm'))].reduce(
      (n, [, value]) => n + Number(value),
      0,
    );
  return sum('lg_api_pg_pool_size') - sum('lg_api_pg_pool_available');
}
