import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '../../../src/core/logger.ts';
import {
  type LongTermStore,
  longTermStore,
  type StoreQuery,
} from '../../../src/graphs/store/long-term-store.ts';
import { storeIndex } from '../../../src/graphs/store/store-index.ts';
import { type OpenStorage, openStorage, type Storage } from '../../../src/storage/storage.ts';
import { type Measurement, percentile, type Scenario } from '../measurements.ts';

const SIZES = [1000, 100_000, 1_000_000];
const DIMS = 384;
const VECTORS = 10_000;
const ITEMS_OF_A_USER = 10;
const SAMPLES = 30;

/** Also on PostgreSQL when TEST_POSTGRES_URI names a server with an empty database. */
export const store: Scenario = {
  title: 'The long-term store: a page of ten items among a thousand, a hundred thousand and a million',
  async run() {
    const measurements = await onSqlite();
    const uri = process.env['TEST_POSTGRES_URI'];
    return uri
      ? [...measurements, ...(await measured('PostgreSQL', () => openStorage({ url: uri, ...FULL })))]
      : measurements;
  },
};

const FULL = { synchronous: 'full' } as const;

async function onSqlite(): Promise<Measurement[]> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-bench-'));
  try {
    return await measured('SQLite', () =>
      openStorage({ url: `sqlite:${join(folder, 'store.db')}`, ...FULL }),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measured(engine: string, open: () => Promise<OpenStorage>): Promise<Measurement[]> {
  await using storage = await open();
  const words = longTermStore({ items: storage.storeItems, ttl: { refresh_on_read: true } });
  const measurements: Measurement[] = [...(await puts(words))];
  let filled = 0;
  for (const size of SIZES) {
    await fill(words, filled, size);
    filled = size;
    measurements.push(...(await searches(words, size)));
  }
  measurements.push(...(await nearest(storage)));
  return measurements.map((measurement) => ({ ...measurement, what: `${engine}: ${measurement.what}` }));
}

/** One after the other: each is on the disk before the next begins. */
async function puts(words: LongTermStore): Promise<Measurement[]> {
  const put = (n: number) => words.apply([{ namespace: ['puts'], key: `${n}`, value: memory(n) }]);
  return [{ what: 'put, p50', value: await p50(put), unit: 'ms' }];
}

/** A tenth of the users are in one team, so that a namespace of any size is there. */
async function fill(words: LongTermStore, from: number, to: number): Promise<void> {
  const BATCH = 500;
  for (let start = from; start < to; start += BATCH) {
    await words.apply(
      Array.from({ length: Math.min(BATCH, to - start) }, (_, place) => {
        const n = start + place;
        const user = Math.floor(n / ITEMS_OF_A_USER);
        return { namespace: ['memories', `team${user % 10}`, `user${user}`], key: `${n}`, value: memory(n) };
      }),
    );
  }
}

const TASTES = ['tea', 'coffee', 'chess', 'walks', 'jazz', 'maps', 'dogs', 'boats'];

function memory(n: number): Record<string, unknown> {
  return {
    text: `likes ${TASTES[n % TASTES.length]} and the number n${n}`,
    n,
    kind: n % 2 === 0 ? 'even' : 'odd',
  };
}

async function searches(words: LongTermStore, size: number): Promise<Measurement[]> {
  const page = { limit: 10, offset: 0 };
  const user = (n: number) => {
    const one = (n * 7919) % (size / ITEMS_OF_A_USER);
    return ['memories', `team${one % 10}`, `user${one}`];
  };
  const search = (query: Partial<StoreQuery>) => words.search({ namespace_prefix: [], ...page, ...query });
  const asked: [what: string, ask: (n: number) => Promise<unknown>][] = [
    ['list all', () => search({})],
    ['list one user', (n) => search({ namespace_prefix: user(n) })],
    ['list a tenth', (n) => search({ namespace_prefix: ['memories', `team${n % 10}`] })],
    ['filter of one user', (n) => search({ namespace_prefix: user(n), filter: { kind: 'odd' } })],
    ['words in one user', (n) => search({ namespace_prefix: user(n), query: 'who likes tea' })],
    ['a rare word in all', (n) => search({ query: `n${(n * 7919) % size}` })],
    ['a word of an eighth in all', () => search({ query: 'tea' })],
    ['namespaces, two labels deep', () => words.namespaces({ prefix: ['memories'], max_depth: 2, ...page })],
    ['namespaces, a page of users', () => words.namespaces({ prefix: ['memories', 'team1'], ...page })],
  ];
  const measurements: Measurement[] = [];
  for (const [what, ask] of asked) {
    measurements.push({ what: `${size} items, ${what}, p50`, value: await p50(ask), unit: 'ms' });
  }
  return measurements;
}

/** The ten nearest of 10,000 vectors, in a namespace of their own and in a tenth of it. */
async function nearest(storage: Storage): Promise<Measurement[]> {
  const form = await storage.storeItems.prepareVectors();
  const random = randomNumbers();
  const vector = () => Array.from({ length: DIMS }, random);
  const embedder = { documents: async (texts: string[]) => texts.map(vector), query: async () => vector() };
  const rules = { dims: DIMS, embed: 'random', fields: ['text'] };
  const index = storeIndex({ embedder, rules, form: form.kind, logger: silentLogger });
  const indexed = longTermStore({ items: storage.storeItems, ttl: { refresh_on_read: true }, index });
  for (let start = 0; start < VECTORS; start += 500) {
    await indexed.apply(
      Array.from({ length: 500 }, (_, place) => ({
        namespace: ['vectors', `part${place % 10}`],
        key: `${start + place}`,
        value: memory(start + place),
      })),
    );
  }
  const ask = (namespace_prefix: string[]) =>
    p50(() => indexed.search({ namespace_prefix, query: 'any', limit: 10, offset: 0 }));
  const what = `nearest 10 of ${VECTORS} × ${DIMS} (${form.kind})`;
  return [
    { what: `${what}, p50`, value: await ask(['vectors']), unit: 'ms' },
    { what: `${what}, in a tenth, p50`, value: await ask(['vectors', 'part3']), unit: 'ms' },
  ];
}

/** The same numbers each time, between -0.5 and 0.5. */
function randomNumbers(): () => number {
  let state = 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647 - 0.5;
  };
}

async function p50(ask: (n: number) => Promise<unknown>): Promise<number> {
  for (let n = 0; n < 3; n++) await ask(n);
  const samples: number[] = [];
  for (let n = 0; n < SAMPLES; n++) {
    const begin = performance.now();
    await ask(n + 3);
    samples.push(performance.now() - begin);
  }
  return percentile(samples, 0.5);
}
