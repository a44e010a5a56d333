import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import type { BuildRevision } from '../../src/extensions/deployments/services/builder.ts';
import { KEY, openDeploymentServer, projectThat } from '../support/deployments.ts';
import { hookOf, sendHook } from '../support/git-hooks.ts';
import { PROGRAM } from '../support/program.ts';
import { PACKAGES } from '../support/project.ts';
import { NODE, onlyBlock } from './blocks.ts';

const run = promisify(execFile);
const PAGE = 'docs/deployments.md';

/** Stands for the repository, which is not fetched. */
const writeProject: BuildRevision = async ({ folder }) => {
  const source = join(folder, 'source');
  await mkdir(source, { recursive: true });
  for (const [name, text] of Object.entries(projectThat('pushed'))) await writeFile(join(source, name), text);
  await symlink(PACKAGES, join(source, 'node_modules'));
  return {
    commit: undefined,
    root: 'source',
    config_file: 'langgraph.json',
    isolation: 'None: it is a test.',
  };
};

test('docs/deployments.md: the commands set up hooks of GitHub, a generic hook, a token and a deploy key', async () => {
  await using server = await openDeploymentServer({ build: writeProject });
  const folder = await mkdtemp(join(tmpdir(), 'documented-'));
  const program = async (name: string, script: string) => {
    await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(folder, name), 0o755);
  };
  // The server of this test, a service that writes down what it is asked, and the one expression of jq.
  await program('npx', `shift; exec "${NODE}" "${PROGRAM}" "$@" --url "${server.url}" --key "${KEY}"`);
  await program('gh', `[ "$1" = auth ] && echo token-of-github; printf '%s\\n' "$@" >> "${folder}/asked"`);
  await program('jq', `exec "${NODE}" -pe 'JSON.parse(require("node:fs").readFileSync(0)).id'`);
  const shell = (text: string) =>
    run('sh', ['-c', text.replaceAll('http://127.0.0.1:8123', server.url)], {
      cwd: folder,
      env: { ...process.env, PATH: `${folder}:${process.env['PATH']}` },
    });
  const hooks = onlyBlock(PAGE, 'sh', 'gh api');
  const generic = onlyBlock(PAGE, 'sh', '/hooks/generic');
  try {
    const { stdout } = await shell(`${hooks}\n${generic}`);
    expect(JSON.parse(stdout.slice(stdout.indexOf('{')))).toMatchObject({
      kind: 'generic',
      outcome: 'queued',
    });
    const asked = await readFile(join(folder, 'asked'), 'utf8');
    const [, url = '', secret = ''] = /config\[url\]=(\S+)\n-f\nconfig\[secret\]=(\S+)/.exec(asked) ?? [];
    const own = url.replace('https://agents.example.com', server.url);
    expect((await sendHook(own, hookOf('github', secret))).status).toBe(202);

    const [{ id }] = (await server.get('/v2/deployments')).body.resources;
    await shell(onlyBlock(PAGE, 'sh', 'gh auth token'));
    expect((await server.get(`/v2/deployments/${id}/repository-token`)).body).toMatchObject({
      is_set: true,
      host: 'github.com',
    });
    await shell(onlyBlock(PAGE, 'sh', 'gh repo deploy-key'));
    const { public_key } = (await server.get(`/v2/deployments/${id}/deploy-key`)).body;
    expect(await readFile(join(folder, 'agent.pub'), 'utf8')).toBe(`${public_key}\n`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
