import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { PROGRAM } from '../support/program.ts';
import { project } from '../support/project.ts';
import { until } from '../support/until.ts';

const GRAPH = 'export const graph = { stream() {}, getState() {} };\n';

/** A command with a terminal as its output, which `script` of Debian's bsdutils makes. */
function onTerminal(command: string, cwd: string) {
  const line = `${process.execPath} ${PROGRAM} ${command} --port 0`;
  const child = spawn('script', ['--quiet', '--return', '--flush', '--command', line, '/dev/null'], {
    cwd,
    env: { PATH: process.env['PATH'], TERM: 'xterm' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (data) => {
    output += stripVTControlCharacters(String(data)).replaceAll('\r', '');
  });
  return {
    output: () => output,
    /** By the key that interrupts. */
    async [Symbol.asyncDispose]() {
      child.stdin.write('\u0003');
      await once(child, 'exit');
    },
  };
}

test.each(['start', 'dev'])(
  '%s on a terminal begins with a summary and logs readable lines',
  async (command) => {
    await using folder = await project({
      'agent.config.yaml': 'graphs: { one: "./one.mjs:graph", other: "./gone.mjs:graph" }\n',
      'one.mjs': GRAPH,
    });
    await using terminal = onTerminal(command, folder.root);
    await until('it greets', () => terminal.output().includes('Keys'));

    const [, url] = /API +(\S+)/.exec(terminal.output()) ?? [];
    expect(terminal.output()).toMatch(/^ {2}Agent Server \d+\.\d+\.\d+\S*\n\n {2}API {5}http:/m);
    expect(terminal.output()).toContain(
      `  Docs    ${url}/docs\n  Graphs  one\n  Failed  other\n  Data    sqlite:/`,
    );
    expect(terminal.output()).toContain("ERROR: Graph 'other' failed to load");
    expect((await fetch(`${url}/ok`)).status).toBe(200);
  },
);

test('a log configured as JSON is JSON even on a terminal', async () => {
  await using folder = await project({
    'agent.config.yaml': 'graphs: { one: "./one.mjs:graph" }\nlog: { json: true }\n',
    'one.mjs': GRAPH,
  });
  await using terminal = onTerminal('start', folder.root);
  await until('it is ready', () => terminal.output().includes('"message":"ready"'));

  expect(terminal.output()).not.toContain('Agent Server');
});
