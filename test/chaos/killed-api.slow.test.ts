import { expect, test } from 'vitest';
import { TEST_POSTGRES_URI } from '../support/databases.ts';
import { startRun } from '../support/remote-runs.ts';
import { until } from '../support/until.ts';
import { CutReader } from './cut-reader.ts';
import { startFour } from './on-postgres.ts';
import { sized } from './size.ts';
import { spread } from './spread.ts';

const RUNS = sized(6, 20);
const KILLS = sized(2, 6);
const TOKENS = 200;

test.runIf(TEST_POSTGRES_URI)(
  'streams resume through another process when theirs is killed, without gaps or duplicates',
  async () => {
    await using four = await startFour({ N_JOBS_PER_WORKER: String(RUNS) });
    const [{ http, process: one }, { process: two }] = four.apis;
    await using either = await spread(one.url, two.url);
    const body = {
      assistant_id: 'tokens',
      input: { count: TOKENS, token_ms: sized(15, 40) },
      stream_mode: ['messages-tuple'],
      stream_resumable: true,
    };
    const runs = await Promise.all(Array.from({ length: RUNS }, () => startRun(http, body)));
    const streams = runs.map(({ thread_id, run_id }) => ({
      path: `/threads/${thread_id}/runs/${run_id}/stream`,
      all: '-1',
    }));
    const readers = streams.map((stream) => new CutReader(either.url, stream));
    const reading = Promise.all(readers.map((reader) => reader.read([])));

    for (let kill = 1; kill <= KILLS; kill++) {
      const share = (TOKENS * kill) / (KILLS + 1);
      await until(`each has ${share} events`, () => readers.every(({ seen }) => seen.length >= share));
      const victim = kill % 2 === 0 ? two : one;
      await victim.kill('SIGKILL');
      await victim.restart();
    }
    await reading;

    for (const [index, { seen }] of readers.entries()) {
      expect(seen.map(({ id }) => Number(id))).toEqual(seen.map((_, before) => before + 1));
      const later = new CutReader(two.url, streams[index] as (typeof streams)[number]);
      await later.read([]);
      expect(seen).toEqual(later.seen);
      expect(seen.length).toBeGreaterThan(TOKENS);
    }
    expect(readers.reduce((sum, { failures }) => sum + failures, 0)).toBeGreaterThan(0);
  },
);
