import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { Client } from '@langchain/langgraph-sdk';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { project } from '../support/project.ts';
import { blocksOf, callsOf, inShell, NODE, onlyBlock, ROOT } from './blocks.ts';
import { started } from './started.ts';

const PAGE = 'docs/debugging.md';
/** Types, and lines that are types only: where the statements stand must not change. */
const AGENT = `import { END, START, StateGraph, StateSchema } from '@langchain/langgraph';
import { z } from 'zod';

interface Counted {
  readonly n: number;
}

const State = new StateSchema({ n: z.number() });

function count({ n }: Counted): Counted {
  const more: number = n + 1;
  return { n: more };
}

function spin(): Counted {
  for (let n = 0; ; n++) Math.sqrt(n);
}

export const spinning = new StateGraph(State).addNode('spin', spin).addEdge(START, 'spin').compile();

export const graph = new StateGraph(State)
  .addNode('count', count)
  .addEdge(START, 'count')
  .addEdge('count', END)
  .compile();
`;

/** Resolves to the first match in what a process prints. */
function printed(output: Readable, pattern: RegExp): Promise<string> {
  return new Promise((found) =>
    createInterface(output).on('line', (line) => {
      const [, part] = pattern.exec(line) ?? [];
      if (part !== undefined) found(part);
    }),
  );
}

async function stopped(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

/** As much of a debugger as a breakpoint needs. */
async function attach(url: string) {
  const socket = new WebSocket(url);
  const answers = new Map<number, (result: Paused) => void>();
  let pause = Promise.withResolvers<Paused>();
  socket.addEventListener('message', ({ data }) => {
    const { id, result, method, params } = JSON.parse(String(data));
    answers.get(id)?.(result);
    if (method === 'Debugger.paused') pause.resolve(params);
  });
  await once(socket, 'open');
  let count = 0;
  return {
    /** The next stop. */
    paused: async () => {
      const paused = await pause.promise;
      pause = Promise.withResolvers();
      return paused;
    },
    send(method: string, params: object = {}): Promise<Paused> {
      const id = ++count;
      socket.send(JSON.stringify({ id, method, params }));
      return new Promise((resolve) => answers.set(id, resolve));
    },
  };
}

interface Paused {
  readonly callFrames?: { callFrameId: string; functionName: string; location: { lineNumber: number } }[];
  readonly result?: { value: unknown };
}

test('a breakpoint in TypeScript stops at its line, and a pause where a node computes', async () => {
  const command = onlyBlock(PAGE, 'sh', '--inspect').trim();
  expect(command).toMatch(/^node --inspect node_modules\/agent-server\/bin\/agent-server\.mjs start$/);
  await using folder = await project({
    'agent.config.yaml': 'graphs: { agent: ./agent.ts:graph, spinning: ./agent.ts:spinning }',
    'agent.ts': AGENT,
  });
  const port = await freePort();
  const args = [`--inspect=127.0.0.1:${port}`, join(ROOT, 'bin/agent-server.mjs'), 'start', '--port', '0'];
  const child = spawn(NODE, args, { cwd: folder.root, stdio: ['ignore', 'pipe', 'ignore'] });
  // Also when the test takes too long: what spins would take a core from all others.
  onTestFinished(() => stopped(child));
  const apiUrl = await printed(child.stdout, /"url":"([^"]+)".*"message":"ready"/);

  const targets = await fetch(`http://127.0.0.1:${port}/json/list`);
  const [target] = (await targets.json()) as { webSocketDebuggerUrl: string }[];
  const debug = await attach(target?.webSocketDebuggerUrl ?? '');
  await debug.send('Debugger.enable');
  const line = AGENT.split('\n').findIndex((text) => text.includes('const more'));
  await debug.send('Debugger.setBreakpointByUrl', { urlRegex: 'agent\\.ts$', lineNumber: line });
  const client = new Client({ apiUrl, apiKey: null });
  const values = client.runs.wait(null, 'agent', { input: { n: 41 } });
  const [frame] = (await debug.paused()).callFrames ?? [];
  expect(frame).toMatchObject({ functionName: 'count', location: { lineNumber: line } });
  const callFrameId = frame?.callFrameId;
  const { result } = await debug.send('Debugger.evaluateOnCallFrame', { callFrameId, expression: 'n' });
  expect(result?.value).toBe(41);
  await debug.send('Debugger.resume');
  expect(await values).toEqual({ n: 42 });

  // What computes for ever is found by a pause.
  void client.runs.create(null, 'spinning', { input: { n: 0 } }).catch(() => {});
  const loop = AGENT.split('\n').findIndex((text) => text.includes('Math.sqrt'));
  const pausedAt = async () => {
    await debug.send('Debugger.pause');
    const stop = await debug.paused();
    await debug.send('Debugger.resume');
    return stop.callFrames?.[0];
  };
  await expect.poll(pausedAt).toMatchObject({ functionName: 'spin', location: { lineNumber: loop } });
  expect((await fetch(`${apiUrl}/ok`)).status).toBe(200);
});

test('the launch configuration starts the program of the package', () => {
  const { configurations } = JSON.parse(onlyBlock(PAGE, 'json', 'configurations'));
  expect(configurations[0]).toMatchObject({
    program: expect.stringMatching(/node_modules\/agent-server\/bin\/agent-server\.mjs$/),
    args: ['start'],
  });
});

test('docs/debugging.md shows what each node did, why a run waits, and how to repeat a step', async () => {
  expect(blocksOf(PAGE).filter(({ language }) => language === 'sh')).toHaveLength(callsOf(PAGE).length + 3);
  await using server = await started('npm start');
  const command = onlyBlock(PAGE, 'sh', 'agent-server explain').replace(
    'npx agent-server',
    `${NODE} bin/agent-server.mjs`,
  );
  const blocks = callsOf(PAGE).toSpliced(5, 0, command);
  const [nodes, recorded, contents, history, explained, printed, again, changed] = await inShell(
    blocks,
    server.url,
  );

  expect(nodes?.output).toMatch(/^event: tasks\|investigate:[\w-]+\r$/m);
  expect(nodes?.output).toMatch(/^event: debug\r$/m);
  expect(recorded).toMatchObject({ statuses: [200, 200, 200, 200], complaints: '' });
  expect(recorded?.output).toMatch(/"attempts":\[/);
  expect(contents).toMatchObject({ statuses: [200], complaints: '' });
  expect(contents?.output).toMatch(/"contents":\{/);
  expect(history).toMatchObject({ statuses: [200, 200, 200], complaints: '' });
  expect(history?.output).toMatch(/"next":\["echo"\]/);
  expect(explained).toMatchObject({ statuses: [200, 200, 200], complaints: '' });
  expect(explained?.output).toMatch(/"summary":"Waits until .*"summary":"Busy with run .*Waits until /s);
  expect(printed).toMatchObject({
    output: expect.stringMatching(/^run .*: pending\nWaits until /),
    complaints: '',
  });
  expect(again?.statuses).toEqual([200, 200, 200]);
  expect(again?.output).toMatch(/"next":\["echo"\]/);
  expect(changed).toMatchObject({ statuses: [200, 200], complaints: '' });
  expect(changed?.output).toMatch(/"count":42/);
});
