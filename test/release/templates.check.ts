import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Engine, engineIn } from '../image/engine.ts';
import { expectStreaming } from '../image/project-story.ts';
import { emptyFolder } from '../package/pack.ts';
import { projectIn } from '../package/project.ts';
import { serving } from '../package/serving.ts';
import { streamedBy } from '../package/streamed.ts';

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
    await expectStreaming(image, images.path, template === 'chat' ? /html/ : /json/);
  },
);
