import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { emptyFolder } from '../package/pack.ts';
import { projectIn } from '../package/project.ts';
import { serving } from '../package/serving.ts';

let folder: Awaited<ReturnType<typeof emptyFolder>>;
const tarball = inject('tarball');

beforeAll(async () => {
  folder = await emptyFolder();
});

afterAll(() => folder[Symbol.asyncDispose]());

test.each(['agent', 'deep-agent', 'chat'])(
  'the commands of the workflow of the template %s succeed with packages from the registry, and its agent streams',
  async (template) => {
    const node = dirname(process.execPath);
    const init = `npx --yes --package ${tarball} agent-server init ${template} --template ${template}`;
    await projectIn(folder.path, node).run(init);
    const { env, ...app } = projectIn(join(folder.path, template), node);
    await app.run('npm install');

    const workflow = await readFile(join(app.root, '.github/workflows/test.yml'), 'utf8');
    const commands = [...workflow.matchAll(/- run: (npm .+)/g)].map(([, line]) => line as string);
    expect(commands).toContain('npm ci');
    for (const line of commands) await app.run(line);

    await using server = await serving({ ...app, env: { ...env, PORT: '0' } });
    const client = new Client({ apiUrl: server.url });
    const input = { messages: [{ role: 'user', content: 'Hello' }] };
    const events: string[] = [];
    for await (const { event } of client.runs.stream(null, 'agent', { input, streamMode: 'messages-tuple' }))
      events.push(event);
    expect(events.filter((event) => event === 'messages').length).toBeGreaterThan(1);
    expect(await server.stop()).toBe(0);
  },
);
