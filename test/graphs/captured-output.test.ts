import { afterAll, afterEach, expect, test } from 'vitest';
import type { LogLine } from '../../src/core/logger.ts';
import type { OutputBatch } from '../../src/graphs/graph.ts';
import { captureOutput, uncapturedLogger } from '../../src/graphs/observability/capture-output.ts';
import { RunOutput, withRunOutput } from '../../src/graphs/observability/run-output.ts';
import { openApp } from '../support/app.ts';
import { recordingLogger } from '../support/recording-logger.ts';

// biome-ignore-start lint/suspicious/noConsole: what a graph of a user does
const print = console.log;
const printed: unknown[][] = [];
console.log = (...values) => void printed.push(values);
const replaced = console.log;

afterAll(() => {
  console.log = print;
});

afterEach(() => {
  printed.length = 0;
});

function outputOf(is_logged: boolean) {
  const batches: OutputBatch[] = [];
  const output = new RunOutput({ is_logged, sink: (batch) => batches.push(batch) });
  const messages = () => batches.flatMap(({ lines }) => lines.map(({ message }) => message));
  return { output, batches, messages };
}

test('each run gets the output of its own code, even after it waited', async () => {
  using _capture = captureOutput({ runningNode: () => undefined });
  const [one, two] = [outputOf(true), outputOf(true)];
  const act = async (name: string) => {
    console.log(`${name} begins`);
    await new Promise((resolve) => setImmediate(resolve));
    console.log(`${name} ends`);
  };

  await Promise.all([
    withRunOutput(one.output, () => act('one')),
    withRunOutput(two.output, () => act('two')),
  ]);

  expect(one.messages()).toEqual(['one begins', 'one ends']);
  expect(two.messages()).toEqual(['two begins', 'two ends']);
  expect(printed).toEqual([]);
});

test('without a log, the output of a run goes to the console too', () => {
  using _capture = captureOutput({ runningNode: () => undefined });
  const { output, messages } = outputOf(false);

  withRunOutput(output, () => console.log('shown', { twice: true }));

  expect(messages()).toEqual(['shown { twice: true }']);
  expect(printed).toEqual([['shown', { twice: true }]]);
});

test('output outside of runs, or after the end of one, goes to the console or to the log without fields of a run', () => {
  const lines: LogLine[] = [];
  const { output, messages } = outputOf(true);
  {
    using _capture = captureOutput({ runningNode: () => undefined });
    withRunOutput(output, () => {
      output[Symbol.dispose]();
      console.log('too late');
    });
    console.log('printed');
  }
  {
    const outside = recordingLogger('debug', (line) => lines.push(line));
    using _capture = captureOutput({ runningNode: () => undefined, outside });
    console.log('logged');
  }

  expect(messages()).toEqual([]);
  expect(printed).toEqual([['too late'], ['printed']]);
  expect(lines).toEqual([{ level: 'info', message: 'logged', fields: {} }]);
});

test('the console is restored when the last capture ends', () => {
  const first = captureOutput({ runningNode: () => undefined });
  const second = captureOutput({ runningNode: () => undefined });
  first[Symbol.dispose]();
  expect(console.log).not.toBe(replaced);
  second[Symbol.dispose]();
  expect(console.log).toBe(replaced);
});

test('a log line printed to the console is not captured as output of the run that it is about', () => {
  using _capture = captureOutput({ runningNode: () => undefined });
  const { output, messages } = outputOf(true);
  const logger = uncapturedLogger(recordingLogger('info', ({ message }) => console.log(message)));

  withRunOutput(output, () => logger.info('a line of the server'));

  expect(messages()).toEqual([]);
  expect(printed).toEqual([['a line of the server']]);
});

test('in a burst of output, the first lines are delivered at once and the newest at the end', () => {
  using _capture = captureOutput({ runningNode: () => undefined });
  const { output, batches, messages } = outputOf(true);
  withRunOutput(output, () => {
    for (let line = 1; line <= 10_000; line += 1) console.log(`line ${line}`);
  });
  const immediately = messages().length;
  output[Symbol.dispose]();

  // On a busy machine the loop may take more than one window.
  expect(immediately).toBeGreaterThanOrEqual(200);
  expect(immediately).toBeLessThan(5000);
  expect(messages().at(-1)).toBe('line 10000');
  expect(messages().length + batches.reduce((sum, { dropped }) => sum + dropped, 0)).toBe(10_000);
});

test('an embedded server leaves the console to its program and stores the output of runs', async () => {
  await using http = await openApp({ graphs: ['prints'] });
  const { body: thread } = await http.post('/threads', {});
  const path = `/threads/${thread.thread_id}/runs`;
  const { body: run } = await http.post(path, { assistant_id: 'prints', input: { what: 'many', count: 2 } });
  await http.get(`${path}/${run.run_id}/join`);

  const { body: lines } = await http.get(`/runs/${run.run_id}/logs`);
  expect(lines).toMatchObject([{ message: 'line 1', node: 'print' }, { message: 'line 2' }]);
  if (process.env['TEST_HOSTS'] === undefined) expect(printed).toEqual([['line 1'], ['line 2']]);
});
// biome-ignore-end lint/suspicious/noConsole: what a graph of a user does
