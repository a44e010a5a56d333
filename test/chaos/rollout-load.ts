import { Client } from '@langchain/langgraph-sdk';
import { expect } from 'vitest';
import { until } from '../support/until.ts';
import { TEN } from './ten-steps.ts';

const CLIENTS = 4;
/** For a client to come to its end, while servers start beside it. */
const SERVED_MS = 60_000;
/** A run that ends only by a cancel. */
const ENDLESS = { input: { n: 0 }, config: { configurable: { step_ms: 60_000 } } };
const STEPS = { input: { n: 0 }, config: { configurable: { step_ms: 30 } } };

/** What clients of the official SDK do, each its part again and again until they are stopped. */
export interface RolloutLoad {
  /** Threads with the runs that must have succeeded on them: one each. */
  readonly threads: string[];
  /** Resolves when a client of each kind has come to its end again; rejects as `stop` does. */
  served(): Promise<void>;
  /** Resolves when all clients are at their end; rejects with the first request that failed. */
  stop(): Promise<void>;
}

type Kind = keyof ReturnType<typeof kinds>;

/** `url`: of a load balancer. Requests are tried again only as the SDK does by itself. */
export function startRolloutLoad(url: string): RolloutLoad {
  const threads: string[] = [];
  const all = kinds(new Client({ apiUrl: url }), threads);
  const names = Object.keys(all) as Kind[];
  const done = Object.fromEntries(names.map((name) => [name, 0])) as Record<Kind, number>;
  let isOver = false;
  const clients = Array.from({ length: CLIENTS }, async (_, index) => {
    const name = names[index % names.length] as Kind;
    while (!isOver) {
      await all[name]();
      done[name] += 1;
    }
  });
  const ended = Promise.all(clients);
  // Whoever stops the load hears of it.
  ended.catch(() => {});
  const served = () => {
    const before = { ...done };
    return until(
      'a client of each kind was served',
      () => names.every((name) => done[name] > before[name]),
      SERVED_MS,
    );
  };
  return {
    threads,
    served: () => Promise.race([served(), ended.then(() => {})]),
    async stop() {
      isOver = true;
      await ended;
    },
  };
}

function kinds(client: Client, threads: string[]) {
  const newThread = async () => {
    const { thread_id } = await client.threads.create();
    threads.push(thread_id);
    return thread_id;
  };

  return {
    async joined() {
      const thread_id = await newThread();
      const { run_id } = await client.runs.create(thread_id, 'ten-steps', STEPS);
      expect(await client.runs.join(thread_id, run_id)).toEqual({ n: 10, executed: TEN });
    },

    async streamed() {
      const thread_id = await newThread();
      const options = { ...STEPS, streamMode: 'values' as const, streamResumable: true };
      const [ids, counts]: [number[], number[]] = [[], []];
      for await (const { id, event, data } of client.runs.stream(thread_id, 'ten-steps', options)) {
        // The SDK passes on a heartbeat as an event without a name.
        if (!event) continue;
        ids.push(Number(id));
        if (event === 'values') counts.push((data as unknown as { n: number }).n);
      }
      expect(ids).toEqual(ids.map((_, before) => before + 1));
      expect(counts).toEqual([0, ...TEN]);
    },

    async waited() {
      const { x } = (await client.runs.wait(null, 'echo', { input: { x: 7 } })) as { x: number };
      expect(x).toBe(7);
    },

    /** The thread goes again: what is left of all must have succeeded. */
    async cancelled() {
      const { thread_id } = await client.threads.create();
      const { run_id } = await client.runs.create(thread_id, 'ten-steps', ENDLESS);
      const status = async () => (await client.runs.get(thread_id, run_id)).status;
      await until('the run executes', async () => (await status()) === 'running');
      await client.runs.cancel(thread_id, run_id, true);
      expect(await status()).toBe('interrupted');
      await client.threads.delete(thread_id);
    },
  };
}
