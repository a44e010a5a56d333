import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { naming } from '../support/naming.ts';
import { project } from '../support/project.ts';

const WATCHDOG = resolve(import.meta.dirname, '../../src/cli/watchdog.ts');

/** A process whose event loop never turns again, and what it wrote. */
const blocked = (options: object, node: object | undefined) => `
import { watchEventLoop } from '${WATCHDOG}';
const lines = { level: 'info', json: true, color: false };
watchEventLoop({ lines, ...${JSON.stringify(options)} }, () => (${JSON.stringify(node)}));
function busy() {
  for (;;);
}
setTimeout(busy, 500);
`;

test('a process whose event loop stays blocked is ended, and the node is logged', async () => {
  const node = { run_id: 'r', thread_id: 't', graph: 'g', node: 'work' };
  await using folder = await project({});
  const faulty_node_file = folder.path('faulty-node.json');
  await folder.write({ 'blocked.ts': blocked({ fatal_ms: 1500, faulty_node_file }, node) });
  const child = spawn(process.execPath, [folder.path('blocked.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [printed, [, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')]);

  expect(signal).toBe('SIGKILL');
  const lines = printed
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const at = expect.stringMatching(/blocked\.ts:[67]:\d+$/);
  expect(lines).toMatchObject([
    {
      level: 'warn',
      message: naming('event loop', 'blocked'),
      ...node,
      at,
    },
    {
      level: 'error',
      message: naming('event loop', 'restarting'),
      ...node,
      at,
    },
  ]);
  const faultyNode = JSON.parse(await readFile(faulty_node_file, 'utf8'));
  expect(faultyNode).toEqual({
    ...node,
    what: expect.stringMatching(/event loop for [12] s$/),
    at,
  });
});

test('the watchdog logs nothing while the event loop turns, and does not keep the process alive', async () => {
  const code = `
    import { watchEventLoop } from '${WATCHDOG}';
    watchEventLoop({ lines: { level: 'info', json: true, color: false } }, () => undefined);
    setTimeout(() => {}, 1500);`;
  await using folder = await project({ 'quiet.ts': code });
  const child = spawn(process.execPath, [folder.path('quiet.ts')], { stdio: ['ignore', 'pipe', 'inherit'] });

  expect(await text(child.stdout)).toBe('');
});
