import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rpcTo } from '../../support/a2a.ts';
import { senderTo } from '../../support/a2a-calls.ts';
import { openApp } from '../../support/app.ts';
import { askModern } from '../../support/mcp-messages.ts';
import { naming } from '../../support/naming.ts';
import { type Project, project } from '../../support/project.ts';

const MODEL = resolve(import.meta.dirname, '../../../examples/assistant/scripted-model.ts');

/** An agent as the documentation of LangChain makes it, whose model calls two tools, one of them after a review. */
const AGENT = `
import { createAgent, humanInTheLoopMiddleware, tool } from 'langchain';
import { z } from 'zod';
import { ScriptedChatModel } from '${MODEL}';

const schema = z.object({ to: z.string() });
const send = tool(({ to }) => 'sent to ' + to, { name: 'send', description: 'Sends.', schema });
const look = tool(({ to }) => 'looked up ' + to, { name: 'look', description: 'Looks up.', schema });

function script(messages) {
  const last = messages.at(-1);
  if (last.type === 'tool') return { text: messages.filter(({ type }) => type === 'tool').map(({ text }) => text).join('; ') };
  return { tool_calls: ['look', 'send'].map((name) => ({ name, args: { to: 'ana' } })) };
}

export const agent = createAgent({
  model: new ScriptedChatModel({ script, delay_ms: 0 }),
  tools: [send, look],
  middleware: [humanInTheLoopMiddleware({ interruptOn: { send: true } })],
});
`;

let files: Project;
let server: Awaited<ReturnType<typeof openApp>>;

beforeAll(async () => {
  files = await project({ 'agent.config.yaml': 'graphs: { agent: ./agent.ts:agent }\n', 'agent.ts': AGENT });
  server = await openApp({ graphs: ['agent'], folder: files.root, http: { openai: { enabled: true } } });
});

afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await files?.[Symbol.asyncDispose]();
});

const order = { messages: [{ role: 'user', content: 'Send it to Ana.' }] };

/** The last words of the conversation that a call of the tool `agent` leads to. */
async function overMcp(response: object): Promise<string> {
  const can = { capabilities: { elicitation: { form: {} } } };
  const call = { name: 'agent', arguments: order };
  const { result } = await askModern(server, 'tools/call', call, can);
  const [[key, { params }]] = Object.entries(result.inputRequests) as [[string, { params: object }]];
  expect(params).toMatchObject({
    message: expect.stringContaining('Tool: send'),
    requestedSchema: {
      properties: { decision0: { title: 'Decision on send', enum: ['approve', 'reject'] } },
      required: ['decision0'],
    },
  });
  const inputResponses = { [key]: response };
  const { requestState } = result;
  const answered = await askModern(server, 'tools/call', { ...call, inputResponses, requestState }, can);
  return JSON.stringify(answered.result.content);
}

test('an MCP client is asked for a decision on each tool call', async () => {
  expect(await overMcp({ action: 'accept', content: { decision0: 'approve' } })).toContain('sent to ana');
  const rejected = { decision0: 'reject', reason0: 'Ana is away.' };
  expect(await overMcp({ action: 'accept', content: rejected })).toContain('Ana is away.');
});

test.each([{ action: 'decline' }, { action: 'cancel' }, { action: 'accept', content: {} }])(
  'an MCP client that answers %j approves no tool call',
  async (response) => {
    expect(await overMcp(response)).toContain('rejected');
  },
);

test.each([
  ['yes', /sent to ana/],
  ['Approve.', /sent to ana/],
  ['no', /rejected the tool call/],
  ['Ana is away.', /Ana is away\./],
])('an A2A client may answer a review with %j in words', async (text, answer) => {
  const send = senderTo(server, 'agent');
  const asked = await send([{ text: 'Send it to Ana.' }]);
  expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  expect(asked.status.message?.parts[0]?.['text']).toContain('Tool: send');

  const done = await send([{ text }], { message: { taskId: asked.id } });
  expect(done.status.state).toBe('TASK_STATE_COMPLETED');
  const { result } = await rpcTo(server, 'agent')('GetTask', { id: asked.id, historyLength: 50 });
  expect(JSON.stringify(result)).toMatch(answer);
});

test('a chat completion asks for a review in words and accepts an answer in words', async () => {
  const say = (messages: object[]) =>
    server.post('/v1/chat/completions', { model: 'agent', messages }, { 'x-thread-id': 'a-chat' });
  const user = (content: string) => ({ role: 'user', content });
  const asked = await say([user('Send it to Ana.')]);
  const question = asked.body.choices[0].message;
  expect(question.content).toContain('Tool: send');

  const done = await say([user('Send it to Ana.'), question, user('yes')]);
  expect(done.body.choices[0].message.content).toContain('sent to ana');
});

test('a repeated chat completion does not approve a review', async () => {
  const again = () =>
    server.post(
      '/v1/chat/completions',
      { model: 'agent', messages: [{ role: 'user', content: 'ok' }] },
      { 'x-thread-id': 'repeated' },
    );
  const question = (await again()).body.choices[0].message;
  expect(question.content).toContain('Tool: send');

  const repeated = await again();
  expect(repeated).toMatchObject({
    status: 400,
    body: { error: { type: 'invalid_request_error', message: naming('decision', question.content) } },
  });
});
