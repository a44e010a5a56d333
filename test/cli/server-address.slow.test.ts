import { Client } from '@langchain/langgraph-sdk';
import { expect, test } from 'vitest';
import { developing } from '../support/developing.ts';
import { freePort } from '../support/free-port.ts';
import { type Project, project } from '../support/project.ts';
import { startServer } from '../support/server.ts';

/** Remembers the address that it was given as it was loaded, and calls the server there. */
const CALLER = `
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
const { PORT, LANGGRAPH_API_URL } = process.env;
export const graph = new StateGraph(Annotation.Root({ port: Annotation(), url: Annotation(), status: Annotation() }))
  .addNode('call', async () => {
    const { status } = await fetch(LANGGRAPH_API_URL + '/info');
    return { port: PORT, url: LANGGRAPH_API_URL, status };
  })
  .addEdge(START, 'call').addEdge('call', END).compile();
`;

/** `port`: in the configuration, which the variables of the project contradict. */
const files = (hosts: number, port: number) => ({
  'agent.config.yaml': `
graphs: { caller: "./caller.ts:graph" }
server: { port: ${port} }
hosts: { count: ${hosts} }
http: { mount_prefix: /agents }
env: { LANGGRAPH_API_URL: "http://localhost:2024" }
`,
  'caller.ts': CALLER,
});

const callOf = (url: string) =>
  new Client({ apiUrl: url }).runs.wait(null, 'caller', { input: { port: '' } });
const addressOf = (url: string) => ({ port: new URL(url).port, url, status: 200 });

async function addressInDev(folder: Project) {
  await using server = await developing(folder);
  return { seen: await callOf(server.url), expected: addressOf(server.url) };
}

test.each([0, 1])(
  'start with --port 0 and %i graph hosts tells graphs the port before they load',
  async (hosts) => {
    await using folder = await project(files(hosts, 9));
    // A variable of the machine is not the port either.
    const env = { AGENT_SERVER_HOSTS: String(hosts), PORT: '9', LANGGRAPH_API_URL: 'http://127.0.0.1:9' };
    await using server = await startServer({
      ...{ config: folder.path('agent.config.yaml'), env },
      one_process: 'each has a port of its own',
    });

    expect(await callOf(server.url)).toEqual(addressOf(server.url));
  },
);

test.each([0, 1])('dev with port 0 and %i graph hosts tells graphs the port', async (hosts) => {
  await using folder = await project(files(hosts, 0));
  const { seen, expected } = await addressInDev(folder);

  expect(seen).toEqual(expected);
});

test('dev tells graphs the configured port', async () => {
  const port = await freePort();
  await using folder = await project(files(0, port));
  const { seen, expected } = await addressInDev(folder);

  expect(seen).toEqual(expected);
  expect(expected.port).toBe(String(port));
});
