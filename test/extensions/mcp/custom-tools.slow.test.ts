import { SignJWT } from 'jose';
import { expect, test } from 'vitest';
import { blocksOf } from '../../examples/blocks.ts';
import { openApp } from '../../support/app.ts';
import { askModern } from '../../support/mcp-messages.ts';
import { project } from '../../support/project.ts';

const GRAPH = `
import { END, START, StateGraph } from '@langchain/langgraph';
import { z } from 'zod';
const State = z.object({ x: z.string().optional() });
export const graph = new StateGraph(State).addNode('n', () => ({})).addEdge(START, 'n').addEdge('n', END).compile();
`;
const SECRET = 'a-secret-of-this-test-and-no-other';
const CONFIG = 'graphs: { plain: ./graph.ts:graph }\nmcp: { app: ./mcp.ts:register }\n';

test('docs/mcp.md: a project adds tools, resources and prompts to its assistants', async () => {
  const [register] = blocksOf('docs/mcp.md').filter(({ language }) => language === 'ts');
  await using own = await project({
    'agent.config.yaml': CONFIG,
    'graph.ts': GRAPH,
    'mcp.ts': register?.text ?? '',
  });
  await using server = await openApp({ graphs: ['plain'], folder: own.root });
  const { result } = await askModern(
    server,
    'resources/read',
    { uri: 'docs://terms', name: undefined },
    {
      headers: { 'mcp-name': 'docs://terms' },
    },
  );
  expect(result.contents).toEqual([{ uri: 'docs://terms', mimeType: 'text/plain', text: 'Be kind.' }]);
  const { tools } = (await askModern(server, 'tools/list', {})).result;
  expect(tools.map(({ name }: { name: string }) => name)).toEqual(['plain']);
});

test('custom MCP tools get their caller and take precedence over assistants of the same name', async () => {
  await using own = await project({
    'agent.config.yaml': `${CONFIG}auth: { jwt: { secret: ${SECRET} } }\n`,
    'graph.ts': GRAPH,
    'mcp.ts': `
      export function register(server, { request, auth }) {
        const text = () => \`\${auth?.identity ?? 'nobody'} at \${new URL(request.url).pathname}\`;
        for (const name of ['whoami', 'plain']) {
          server.registerTool(name, {}, () => ({ content: [{ type: 'text', text: text() }] }));
        }
      }`,
  });
  await using server = await openApp({ graphs: ['plain'], folder: own.root });
  const token = await new SignJWT({ sub: 'jane' })
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(SECRET));
  const headers = { authorization: `Bearer ${token}` };
  for (const name of ['whoami', 'plain']) {
    const { result } = await askModern(server, 'tools/call', { name, arguments: {} }, { headers });
    expect(result).toMatchObject({ content: [{ text: 'jane at /mcp' }] });
  }
  const toolsAt = async (path: string) => {
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const { tools } = (await server.post(path, list, headers)).body.result;
    return tools.map(({ name }: { name: string }) => name);
  };
  expect(await toolsAt('/mcp')).toEqual(['whoami', 'plain']);
  expect(await toolsAt('/mcp/plain')).toEqual(['plain']);
});
