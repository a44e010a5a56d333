import { readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { KEY, openDeploymentServer } from '../../support/deployments.ts';
import { agentServer } from '../../support/program.ts';
import { PACKAGES, project } from '../../support/project.ts';

/** Of all that is secret. What is printed of it must not even be a part. */
const MARK = 'hush-';
const SECRETS = {
  TOKEN: `${MARK}plain-4f9d2c1e7a`,
  PEM: `-----BEGIN KEY-----\n${MARK}first-line-4f9d2c1e7a\n${MARK}second-line-4f9d2c1e7a\n-----END KEY-----`,
  QUOTED: `${MARK}"quoted"-\\back\\-4f9d2c1e7a`,
};
const ALL = Object.entries(SECRETS).map(([name, value]) => ({ name, value }));

/** Prints its environment in all ways that are common, when it is loaded and when it runs. */
const TALKATIVE = `import { END, START, StateGraph } from '@langchain/langgraph';
import { z } from 'zod';
const own = () => Object.fromEntries(['TOKEN', 'PEM', 'QUOTED'].map((name) => [name, process.env[name]]));
function tell() {
  for (const value of Object.values(own())) console.log('value: ' + value);
  console.error(own());
  console.warn(JSON.stringify({ nested: own() }));
  process.stdout.write('directly: ' + process.env.TOKEN + '\\n');
}
tell();
export const graph = new StateGraph(z.object({ said: z.any(), is_set: z.any() }))
  .addNode('tell', () => {
    tell();
    return { is_set: process.env.TOKEN.length > 0 };
  })
  .addEdge(START, 'tell')
  .addEdge('tell', END)
  .compile();
`;

test('no secret of a deployment appears in a response, a log, the output of a command, an argument or a file', async () => {
  await using server = await openDeploymentServer({
    build: undefined,
    environment: { LANGGRAPH_AES_KEY: 'k'.repeat(32) },
  });
  await using app = await project({
    // As `init` makes it; other tests have the official langgraph.json.
    'agent.config.yaml': 'graphs: { agent: "./agent.ts:graph" }\n',
    'agent.ts': TALKATIVE,
    // A build is given no secrets, but its sources may have some.
    'leak.txt': Buffer.from(Object.values(SECRETS).join('\n')).toString('base64'),
    '.env': ALL.map(({ name, value }) => `${name}='${value}'`).join('\n'),
  });
  const said: string[] = [];
  const listen = <T>(answer: T): T => {
    said.push(JSON.stringify(answer));
    return answer;
  };
  const args = argumentsOfAll();
  const cli = async (...line: string[]) =>
    listen(await agentServer([...line, '--url', server.url, '--key', KEY], { cwd: app.root }));
  const get = async (path: string) => listen(await server.get(path));

  const install_command = `ln -s ${PACKAGES} node_modules && base64 -d leak.txt && env`;
  const created = await server.post('/v2/deployments', {
    ...{ name: 'talks', source: 'internal_source', source_config: { install_command }, secrets: ALL },
  });
  const { id } = listen(created).body;
  expect(await cli('deploy', '.', '--name', 'talks', '--env-file', '.env', '--json')).toMatchObject({
    code: 0,
  });
  expect((await server.run('talks')).body).toMatchObject({ is_set: true });

  await app.write({
    'agent.ts': 'throw new Error(Object.values(process.env).join(" and ") + process.env.TOKEN);',
  });
  expect(await cli('deploy', '.', '--name', 'talks')).toMatchObject({ code: 1 });
  await app.write({ 'agent.ts': 'console.log(process.env); process.exit(1);' });
  expect(await cli('deploy', '.', '--name', 'talks')).toMatchObject({ code: 1 });

  await cli('deployments', 'list', '--json');
  await cli('deployments', 'show', 'talks', '--json');
  for (const number of ['1', '2', '3']) {
    await cli('deployments', 'logs', 'talks', '--revision', number);
    await cli('deployments', 'logs', 'talks', '--revision', number, '--type', 'build');
  }
  await get('/v2/deployments');
  await get(`/v2/deployments/${id}`);
  await get(`/v2/deployments/${id}/revisions`);
  listen(await server.post(`/v1/projects/${id}/deploy_logs`, { limit: 1000 }));
  listen(
    (await server.send('PATCH', `/v2/deployments/${id}`, { secrets: [{ name: 'PORT', value: MARK }] })).body,
  );

  // It was listened to: all of it was printed, and masked.
  const everything = said.join('\n');
  expect(everything).toMatch(/value: \*\*\*/);
  expect(everything).toMatch(/directly: \*\*\*/);
  expect(everything).toContain('cannot be loaded');
  expect(linesWith(MARK, everything)).toEqual([]);
  expect(linesWith(MARK, server.log.map((line) => JSON.stringify(line)).join('\n'))).toEqual([]);
  expect(await filesWith(MARK, server.folder)).toEqual([]);
  expect(linesWith(MARK, args.stop().join('\n'))).toEqual([]);
});

function linesWith(text: string, lines: string): string[] {
  return lines.split(/\n|\\n/).filter((line) => line.includes(text));
}

/** Paths of files that hold the text, as it is. */
async function filesWith(text: string, folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const found = await Promise.all(
    paths.map(async (path) => ((await readFile(path)).includes(text) ? [path] : [])),
  );
  return found.flat();
}

/** Collects the command lines of all processes of the machine, where it can be asked for them. */
function argumentsOfAll(): { stop(): string[] } {
  const lines = new Set<string>();
  const timer = setInterval(() => {
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      try {
        lines.add(readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' '));
      } catch {
        // It has ended.
      }
    }
  }, 20);
  return {
    stop() {
      clearInterval(timer);
      expect([...lines].some((line) => line.includes('node'))).toBe(true);
      return [...lines];
    },
  };
}
