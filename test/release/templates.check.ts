import { chown, mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { startContainer } from '../image/container.ts';
import { type Engine, engineIn } from '../image/engine.ts';
import { command } from '../package/command.ts';
import { emptyFolder } from '../package/pack.ts';
import { projectIn } from '../package/project.ts';
import { serving } from '../package/serving.ts';
import { freePort } from '../support/free-port.ts';

/** The user `node` of the image. */
const UID = 1_000;
const KEY = 'key-of-the-template';

let folder: Awaited<ReturnType<typeof emptyFolder>>;
let images: Awaited<ReturnType<typeof emptyFolder>>;
let engine: Engine;
const tarball = inject('tarball');

beforeAll(async () => {
  [folder, images] = await Promise.all([emptyFolder(), emptyFolder()]);
  engine = await engineIn(images.path);
});

afterAll(async () => {
  await folder[Symbol.asyncDispose]();
  await images[Symbol.asyncDispose]();
});

/** How many pieces of its answer the agent streams. */
async function streamedBy(apiUrl: string, apiKey?: string): Promise<number> {
  const client = new Client({ apiUrl, ...(apiKey !== undefined && { apiKey }) });
  const input = { messages: [{ role: 'user', content: 'Hello' }] };
  let pieces = 0;
  for await (const { event } of client.runs.stream(null, 'agent', { input, streamMode: 'messages-tuple' }))
    if (event === 'messages') pieces += 1;
  return pieces;
}

test.each(['agent', 'deep-agent', 'chat'])(
  'a project of the template %s passes its own workflow, and streams from its folder and from an image of its Dockerfile',
  async (template) => {
    const node = dirname(process.execPath);
    // With the package of the server in it, which no registry has yet.
    const init = `npx --yes --package ${tarball} agent-server init ${template} --template ${template} --vendor`;
    await projectIn(folder.path, node).run(init);
    const { env, ...app } = projectIn(join(folder.path, template), node);
    await app.run('npm install');

    const workflow = await readFile(join(app.root, '.github/workflows/test.yml'), 'utf8');
    const commands = [...workflow.matchAll(/- run: (.+)/g)].map(([, line]) => line as string);
    expect(commands.at(0)).toBe('npm ci');
    expect(commands.at(-1)).toBe('docker build .');
    for (const line of commands.slice(0, -1)) await app.run(line);

    await using server = await serving({ ...app, env: { ...env, PORT: '0' } });
    expect(await streamedBy(server.url)).toBeGreaterThan(1);
    expect(await server.stop()).toBe(0);

    const image = await engine.build(`of-${template}`, app.root);
    expect(image.config).toMatchObject({ User: 'node', ExposedPorts: { '8123/tcp': {} } });
    const data = join(images.path, `data-${template}`);
    await mkdir(data);
    await chown(data, UID, UID);
    const port = String(await freePort());
    const options = { uid: UID, env: { AGENT_SERVER_API_KEYS: KEY, PORT: port }, mounts: { '/data': data } };
    await using container = await startContainer(image.container(options));
    const url = `http://127.0.0.1:${port}`;
    expect(await streamedBy(url, KEY)).toBeGreaterThan(1);
    expect((await fetch(url)).headers.get('content-type')).toMatch(template === 'chat' ? /html/ : /json/);
    const check = image.container(options, image.config.Healthcheck.Test.slice(1));
    await command(check.name, check.args, { cwd: images.path });
    expect(await container.stop()).toBe(0);
  },
);
