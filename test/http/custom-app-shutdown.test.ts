import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { project } from '../support/project.ts';
import { startServer } from '../support/server.ts';
import { until } from '../support/until.ts';

/** A plugin with a route that waits for a file, and with something to close. */
const APP = `import { existsSync, writeFileSync } from 'node:fs';
  import { setTimeout as sleep } from 'node:timers/promises';
  export async function app(server, options) {
    const file = (name) => new URL(name, import.meta.url);
    server.get('/own/slow', async () => {
      writeFileSync(file('begun'), '');
      while (!existsSync(file('gate'))) await sleep(20);
      return 'slow';
    });
    server.addHook('onClose', async () => {
      await sleep(100);
      writeFileSync(file('closed'), 'in order');
    });
  }`;

test('a stopping server waits for requests of the custom app, and then closes the app', async () => {
  await using code = await project({
    'agent.config.yaml': 'graphs: { a: ./a.mjs:graph }\nhttp: { app: "./app.mjs:app" }\n',
    'a.mjs': 'export const graph = { stream() {}, getState() {} };\n',
    'app.mjs': APP,
  });
  await using server = await startServer({ config: code.path('agent.config.yaml') });
  const answer = fetch(`${server.url}/own/slow`);
  await until('the route is called', () => existsSync(code.path('begun')));
  const ended = server.kill('SIGTERM');
  await server.untilLog('stopping');
  await writeFile(code.path('gate'), '');
  expect(await (await answer).text()).toBe('slow');
  expect(await ended).toBe(0);
  expect(await readFile(code.path('closed'), 'utf8')).toBe('in order');
});
