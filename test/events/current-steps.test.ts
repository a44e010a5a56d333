import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { systemIds } from '../../src/core/ids.ts';
import { memoryBus } from '../../src/events/bus.ts';
import { answerAboutSteps, currentSteps } from '../../src/events/current-steps.ts';
import type { CurrentStep } from '../../src/schemas/steps.ts';
import type { AttemptNow } from '../../src/storage/runs/active-attempts.ts';
import { introduced, Wire } from '../support/bus-wire.ts';

const RUN = { thread_id: randomUUID(), run_id: randomUUID() };
const NOWHERE = async () => undefined;
const ids = systemIds(systemClock);

function step(number: number, name = 'node'): CurrentStep {
  return {
    number,
    parent: null,
    kind: 'node',
    name,
    node: name,
    namespace: '',
    task_id: null,
    superstep: 1,
    checkpoint_id: null,
    started_at: number,
    ended_at: null,
    status: 'running',
    error: null,
    model: null,
    provider: null,
    tokens_in: null,
    tokens_cached: null,
    tokens_out: null,
  };
}

/** Two processes; the run executes in the second one, which does what `now` says. */
async function pair(now: () => Promise<AttemptNow | undefined>) {
  const wire = new Wire();
  const [asking, executing] = [wire.connect('asking'), wire.connect('executing')];
  await introduced(wire, 2);
  answerAboutSteps(asking, NOWHERE);
  answerAboutSteps(executing, ({ run_id }) => (run_id === RUN.run_id ? now() : NOWHERE()));
  return { wire, ask: currentSteps(asking, ids, NOWHERE) };
}

test('another process reports the current steps of a run, without their errors', async () => {
  const failed = { ...step(2), status: 'error', ended_at: 3, error: { error: 'E', message: 'm' } } as const;
  const { ask } = await pair(async () => ({ attempt: 3, steps: [step(1), failed] }));
  expect(await ask(RUN)).toEqual({ attempt: 3, steps: [step(1), { ...failed, error: null }] });
});

test('a list of current steps longer than one notification arrives whole, with the newest 50 steps', async () => {
  const steps = Array.from({ length: 60 }, (_, i) => step(i + 1, `"${'\u{1F9ED}\u0000\\'.repeat(60)}`));
  const { wire, ask } = await pair(async () => ({ attempt: 1, steps }));
  expect(await ask(RUN)).toEqual({ attempt: 1, steps: steps.slice(10) });
  expect(Math.max(...wire.sent.map((text) => Buffer.byteLength(text)))).toBeLessThan(8000);
});

test('concurrent callers share one request for the current steps', async () => {
  const { wire, ask } = await pair(async () => ({ attempt: 1, steps: [] }));
  const answers = await Promise.all([ask(RUN), ask(RUN), ask(RUN)]);
  expect(answers).toEqual(Array(3).fill({ attempt: 1, steps: [] }));
  const asked = wire.messages.flatMap((message) => message?.events ?? []);
  expect(asked.filter(({ name }) => name === 'steps.asked')).toHaveLength(1);
});

test('a process that does not report its current steps is not waited for', async () => {
  const { ask } = await pair(() => new Promise(() => {}));
  expect(await ask(RUN)).toBeUndefined();
  const broken = await pair(() => Promise.reject(new Error('gone')));
  expect(await broken.ask(RUN)).toBeUndefined();
});

test('no request for current steps is sent for a run of this process, or without notifications between processes', async () => {
  const here = { attempt: 1, steps: [step(1)] };
  const wire = new Wire();
  const [bus] = [wire.connect('one'), wire.connect('two')];
  await introduced(wire, 2);
  expect(await currentSteps(bus, ids, async () => here)(RUN)).toBe(here);
  expect(wire.messages).toEqual([]);
  const alone = memoryBus();
  alone.on('steps.asked', () => expect.unreachable());
  expect(await currentSteps(alone, ids, NOWHERE)(RUN)).toBeUndefined();
});
