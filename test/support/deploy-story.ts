import { expect } from 'vitest';
import { type Files, KEY, openDeploymentServer } from './deployments.ts';
import { type CliOptions, type OfficialCli, officialCli } from './official-cli.ts';
import { project } from './project.ts';

export interface DeployStory {
  /** What makes the packages of the project be installed. */
  readonly files: Files;
  /** Of `deploy`, beside those that every user needs. */
  readonly args?: readonly string[];
}

const AGENT = `import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
const State = Annotation.Root({ name: Annotation, said: Annotation });
export const graph = new StateGraph(State)
  .addNode('greet', ({ name }) => {
    console.log('greeting ' + name);
    return { said: process.env.GREETING + ' ' + name };
  })
  .addEdge(START, 'greet')
  .addEdge('greet', END)
  .compile();
`;

/**
 * Every command of an official command line tool about deployments that take an upload, on a server that builds as it
 * does for anybody. Nothing but its address and a key are given to the tool.
 */
export async function deployStory(cli: OfficialCli, { files, args = [] }: DeployStory): Promise<void> {
  await using server = await openDeploymentServer({ build: undefined });
  await using app = await project({
    'langgraph.json': '{ "node_version": "22", "graphs": { "agent": "./agent.ts:graph" }, "env": ".env" }',
    'agent.ts': AGENT,
    '.env': 'GREETING=Good-morning\n',
    ...files,
  });
  const run = (line: string, options: Partial<CliOptions> = {}) =>
    officialCli(cli, [...line.split(' '), '--host-url', server.url, '--api-key', KEY], {
      cwd: app.root,
      ...options,
    });
  const deploy = () =>
    officialCli(
      cli,
      [
        'deploy',
        '--remote',
        '--no-input',
        '--name',
        'demo',
        '--host-url',
        server.url,
        '--api-key',
        KEY,
        ...args,
      ],
      { cwd: app.root },
    );

  const deployed = await deploy();
  expect(deployed, deployed.stdout + deployed.stderr).toMatchObject({ code: 0 });
  expect(deployed.stdout).toContain('Deployment successful!');
  const url = /^ *URL: (\S+)$/m.exec(deployed.stdout)?.[1];
  expect(url).toBe(`${server.url}/deployments/demo`);
  const greet = async (name: string) => {
    const body = JSON.stringify({ assistant_id: 'agent', input: { name } });
    const headers = { 'content-type': 'application/json', 'x-api-key': KEY };
    return (await fetch(`${url}/runs/wait`, { method: 'POST', headers, body })).json();
  };
  expect(await greet('Ada')).toEqual({ name: 'Ada', said: 'Good-morning Ada' });

  const listed = (await run('deploy list')).stdout;
  const id = /([0-9a-f-]{36}) +demo +(\S+)/.exec(listed);
  expect(id?.[2]).toBe(url);
  const of = id?.[1] as string;
  expect(deployed.stdout).toContain(`/host/deployments/${of}`);

  expect((await run(`deploy logs --deployment-id ${of} --type build`)).stdout).toMatch(
    /\[INFO\] == source[\s\S]*\[INFO\] == switch/,
  );
  const logs = (await run('deploy logs --name demo')).stdout;
  expect(logs).toContain('greeting Ada');
  expect(logs).not.toContain('undefined');
  let asked: Promise<unknown> | undefined;
  const followed = await run('deploy logs --name demo --follow', {
    isEnough(printed) {
      // It has shown what was there: what comes now was not.
      if (printed.includes('greeting Ada')) asked ??= greet('Grace');
      return printed.includes('greeting Grace');
    },
  });
  expect(await asked).toMatchObject({ said: 'Good-morning Grace' });
  // Some tools say that they were interrupted in the manner of a shell.
  expect([0, 130]).toContain(followed.code);
  expect(followed.stdout.match(/greeting \w+/g)).toEqual(['greeting Ada', 'greeting Grace']);

  await app.write({ 'agent.ts': 'throw new Error("no such luck");' });
  const failed = await deploy();
  expect(failed.code).not.toBe(0);
  expect(failed.stdout + failed.stderr).toContain('Deployment failed');
  expect((await run(`deploy logs --deployment-id ${of} --type build`)).stdout).toMatch(
    /\[ERROR\] The graph "agent" cannot be loaded: .*no such luck/,
  );
  expect(await greet('Alan')).toMatchObject({ said: 'Good-morning Alan' });

  expect((await run(`deploy revisions list ${of}`)).stdout).toMatch(/DEPLOY_FAILED[\s\S]*DEPLOYED/);
  expect(await run(`deploy delete ${of} --force`)).toMatchObject({ code: 0 });
  expect((await run('deploy list')).stdout).not.toContain('demo');
  expect((await server.get('/deployments/demo/ok')).status).toBe(404);
}
