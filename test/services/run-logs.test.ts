import { expect, test } from 'vitest';
import { systemActor } from '../../src/auth/actor.ts';
import { memoryBus } from '../../src/events/bus.ts';
import type { Frame } from '../../src/events/frame.ts';
import { LiveRuns } from '../../src/events/writer.ts';
import type { RunLogLine } from '../../src/schemas/run-logs.ts';
import { runLogService } from '../../src/services/runs/run-logs.ts';
import { END_EVENT } from '../../src/storage/runs/events.ts';
import { partsOf } from '../support/parts-of.ts';

const run_id = '019c7a4e-8d52-7c31-9d6e-5b2f8a1c4e70';

function line(seq: number): RunLogLine {
  return { seq, time: '', level: 'info', message: `line ${seq}`, node: null, at: null, attempt: 1 };
}

/** A run of this process: `stored` are its lines in the database, which has the run as long as it `exists`. */
function openRun(stored: RunLogLine[]) {
  const [bus, live] = [memoryBus(), new LiveRuns()];
  const state = { exists: true, onRead: () => {} };
  const service = runLogService({
    bus,
    live,
    runs: partsOf({ get: async () => (state.exists ? { status: 'running' } : undefined) as never }),
    runLogs: partsOf({
      read: async (_run, after = 0, limit) => {
        const lines = stored.filter(({ seq }) => seq > after).slice(0, limit);
        state.onRead();
        return lines;
      },
    }),
  });
  const run = live.open(run_id, 0);
  return {
    state,
    print(...numbers: number[]) {
      const lines = numbers.map((seq) => [0, 'info', `line ${seq}`, null, null] as const);
      const ids = { run_id, thread_id: 'thread', assistant_id: 'assistant' };
      bus.emit('lines.stored', { ...ids, attempt: 1, seq: numbers.at(-1) ?? 0, lines });
    },
    end() {
      run.push({ seq: 1, event: END_EVENT, data: '{}' });
      bus.updated(run_id);
    },
    async follow(): Promise<AsyncIterator<Frame>> {
      const { signal } = new AbortController();
      const frames = await service.stream(systemActor('test'), undefined, run_id, { limit: 1000 }, signal);
      return frames[Symbol.asyncIterator]();
    },
  };
}

test('a follower of a run gets its last lines before the end, even if the run is deleted', async () => {
  const run = openRun([line(1)]);
  const frames = await run.follow();
  expect((await frames.next()).value).toMatchObject({ event: 'log', seq: 1 });

  // Between the commit of its end, and what this process does next.
  run.state.exists = false;
  const reads = Promise.withResolvers<void>();
  run.state.onRead = () => {
    run.state.onRead = () => {};
    queueMicrotask(() => {
      run.print(2, 3);
      run.end();
      reads.resolve();
    });
  };
  const next = frames.next();
  await reads.promise;

  expect((await next).value).toMatchObject({ event: 'log', seq: 2 });
  expect((await frames.next()).value).toMatchObject({ event: 'log', seq: 3 });
  expect((await frames.next()).value).toMatchObject({ event: 'end', seq: 3 });
});

test('a follower gets lines from storage and from other processes once, in order', async () => {
  const stored = [1, 2].map(line);
  const run = openRun(stored);
  const frames = await run.follow();
  await frames.next();
  await frames.next();
  stored.push(...[3, 4, 5].map(line));
  run.print(3);
  run.print(4, 5);
  run.print(6);

  const numbers: (number | undefined)[] = [];
  while (numbers.length < 4) numbers.push((await frames.next()).value?.seq);
  expect(numbers).toEqual([3, 4, 5, 6]);
});

test('a follower of a run that is deleted while its node executes sees the end', async () => {
  const run = openRun([]);
  run.state.exists = true;
  const frames = await run.follow();
  run.state.exists = false;

  expect((await frames.next()).value).toMatchObject({ event: 'end' });
});
