import { project } from './project.ts';

const GRAPH = `
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
const State = Annotation.Root({ block_ms: Annotation });
export const graph = new StateGraph(State)
  .addNode('compute', ({ block_ms }) => {
    const end = Date.now() + (block_ms ?? 0);
    while (Date.now() < end);
    return {};
  })
  .addEdge(START, 'compute')
  .addEdge('compute', END)
  .compile();
`;

/** The bearer token is what the handlers do; thread metadata names what `threads:create` does. */
const AUTH = `
import { appendFileSync, existsSync } from 'node:fs';
import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';

const note = (name) => appendFileSync(new URL(name, import.meta.url), process.pid + '\\n');
const acts = {
  'note': () => note('noted.pids'),
  'die the first time': () => {
    if (existsSync(new URL('died.pids', import.meta.url))) return;
    note('died.pids');
    process.kill(process.pid, 'SIGKILL');
  },
  'block for ever': () => { for (;;); },
  'end the process': () => process.exit(3),
  'never answer': () => new Promise(() => {}),
  'fail': () => { throw new Error('the secret directory is down'); },
  'fail as a class of the server': () => {
    throw Object.assign(new Error('secret'), { name: 'NotFound' });
  },
  'refuse': () => { throw new HTTPException(418, { message: 'No coffee', headers: { 'X-Pot': 'tea' } }); },
  'match nothing in particular': () => ({ owner: undefined }),
};

export const auth = new Auth()
  .authenticate(async (request) => {
    const token = request.headers.get('authorization')?.replace('Bearer ', '') ?? 'nobody';
    await acts[token]?.();
    return { identity: token, pid: process.pid };
  })
  .on('threads:create', async ({ value, user }) => {
    const { act, ...metadata } = value.metadata;
    if (act) return await acts[act]();
    value.metadata.pids = [user.pid, process.pid];
    value.metadata.deep.list.push('added');
    delete value.metadata.deep.removed;
  });
`;

const EMBED = `
import { appendFileSync } from 'node:fs';
export async function embed(texts) {
  if (texts.includes('end the process')) process.exit(3);
  if (texts.includes('nothing')) return undefined;
  appendFileSync(new URL('embedder.pids', import.meta.url), process.pid + '\\n');
  return texts.map((text) => [text.length, 1]);
}
`;

const MCP = `
import { writeFileSync } from 'node:fs';
import { inputRequired, ResourceTemplate } from '@modelcontextprotocol/server';
import { z } from 'zod';

export function register(server, { request, auth }) {
  if (request.headers.has('x-end')) process.exit(3);
  const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });
  server.registerTool('pid', {}, () => text(process.pid));
  server.registerTool('work', { inputSchema: z.object({ steps: z.number() }) }, async ({ steps }, ctx) => {
    const { progressToken } = ctx.mcpReq._meta ?? {};
    for (let progress = 1; progress <= steps; progress += 1) {
      await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress } });
    }
    await ctx.mcpReq.log('info', 'worked');
    return text(auth?.identity);
  });
  server.registerTool('fail', {}, () => { throw new Error('broken tool'); });
  server.registerTool('exit', {}, () => process.exit(3));
  server.registerTool('header', { inputSchema: z.object({ where: z.string().meta({ 'x-mcp-header': 'Where' }) }) },
    ({ where }) => text(where));
  server.registerTool('scoped', { scopeChallenge: () => ({ scopes: ['files:write'] }) }, () => text('done'));
  server.registerTool('wait', {}, async (ctx) => {
    const note = (name) => writeFileSync(new URL(name, import.meta.url), '');
    note('waiting');
    await new Promise((stop) => ctx.mcpReq.signal.addEventListener('abort', stop));
    note(request.signal.aborted ? 'stopped' : 'only cancelled');
    return text('late');
  });
  server.registerTool('list', {}, () => ({ structuredContent: [1, 2], content: [] }));
  server.registerTool('ask', {}, (ctx) => {
    const { answer } = ctx.mcpReq.inputResponses ?? {};
    if (answer) return text(answer.content.name);
    const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } };
    const elicit = inputRequired.elicit({ message: 'Who?', requestedSchema });
    return inputRequired({ inputRequests: { answer: elicit } });
  });
  server.registerPrompt('fail', {}, () => { throw new Error('broken prompt'); });
  server.registerResource('page', new ResourceTemplate('page://{name}', {
    list: undefined,
    complete: { name: (typed) => ['one', 'other'].filter((each) => each.startsWith(typed)) },
  }), { cacheHint: { ttlMs: 5, cacheScope: 'public' } }, ({ href }, { name }) => ({
    contents: [{ uri: href, text: name }],
  }));
  server.server.setRequestHandler('acme/search', { params: z.object({ query: z.string() }) }, ({ query }) => ({
    hits: [query, process.pid],
  }));
}
`;

/** A project with code of all kinds, which says in which process it executes. */
export function customCode(config = '') {
  return project({
    'agent.config.yaml': `graphs: { compute: ./graph.mjs:graph }\n${config}`,
    'graph.mjs': GRAPH,
    'auth.mjs': AUTH,
    'embed.mjs': EMBED,
    'mcp.mjs': MCP,
    'ui/card.tsx': "import './card.css';\nexport default { card: () => <p className='card' /> };\n",
    'ui/card.css': '@import "tailwindcss";\n@plugin "./plugin.mjs";\n',
    'ui/plugin.mjs':
      "export default ({ addBase }) => addBase({ ':root': { '--pid': 'p' + process.pid } });\n",
  });
}
