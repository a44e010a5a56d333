import { expect, test } from 'vitest';
import { type Event, foreign, playing, THREAD } from '../support/foreign-server.ts';
import { naming } from '../support/naming.ts';
import { agentServer } from '../support/program.ts';

const ask = (url: string, args: string[], input = '') =>
  agentServer(['ask', ...args, '--url', url], { input });

const piece = (id: string | undefined, content: string, task = 'node:1', more = {}): Event => [
  'messages',
  [{ type: 'AIMessageChunk', ...(id && { id }), content, ...more }, { langgraph_checkpoint_ns: task }],
];
const whole = (id: string | undefined, content: string, task = 'node:1'): Event => [
  'messages',
  [{ type: 'ai', ...(id && { id }), content }, { langgraph_checkpoint_ns: task }],
];

test.each([
  [
    'two concurrent messages one after the other',
    [
      piece('a', 'The ', 'left:1'),
      piece('b', 'And ', 'right:2'),
      piece('a', 'first.', 'left:1'),
      piece('b', 'second.', 'right:2'),
      whole('b', 'And second.', 'right:2'),
      whole('a', 'The first.', 'left:1'),
    ],
    'The first.\nAnd second.\n',
  ],
  [
    'the next, when the node of the first has ended',
    [piece('a', 'one', 'left:1'), ['updates', { left: null }], piece('b', 'two', 'right:2')],
    'one\ntwo\n',
  ],
  ['messages without an id', [whole(undefined, 'one'), whole(undefined, 'two')], 'one\ntwo\n'],
  ['chunks without an id', [piece(undefined, 'o'), piece(undefined, 'ne'), whole(undefined, 'one')], 'one\n'],
  [
    'a complete message that follows another one once',
    [whole('a', 'one'), whole('b', 'two', 'other:2'), whole('a', 'one')],
    'one\ntwo\n',
  ],
  ['the part of a message that its chunks lack', [piece('a', 'Hel'), whole('a', 'Hello')], 'Hello\n'],
  [
    'the messages of the state if none was streamed',
    [
      ['values', { messages: [{ type: 'ai', content: 'earlier' }] }],
      [
        'values',
        {
          messages: [
            { type: 'ai', content: 'earlier' },
            { role: 'assistant', content: 'hello' },
          ],
        },
      ],
    ],
    'hello\n',
  ],
  ['nothing for an empty state', [['values', { messages: [] }]], ''],
  [
    'no bidirectional or terminal control characters',
    [whole('a', 'a\u202eb\u2066c\u001b[31m \u{1F468}\u200D\u{1F469}')],
    'abc[31m \u{1F468}\u200D\u{1F469}\n',
  ],
] satisfies [string, Event[], string][])('ask prints %s', async (_what, events, printed) => {
  await using server = await playing({ runs: [events] });
  expect(await ask(server.url, ['x', 'hi'])).toMatchObject({ code: 0, stdout: printed });
});

test('ask prints each tool call of a conversation once, with or without an id, alone or in a list', async () => {
  const call = (tool_calls: object[]) => ({ type: 'ai', content: '', tool_calls });
  const named = { id: '1', name: 'look', args: { at: 1 } };
  const calls = [named, { name: 'look', args: { at: 2 } }, { name: 'look', args: { at: 3 } }];
  const again: Event = ['updates', { agent: { messages: call(calls) } }];
  const asks: Event = ['updates', { __interrupt__: [{ id: 'i', value: 'ok?' }] }];
  await using server = await playing({
    runs: [
      [again, asks],
      [again, whole('a', 'done')],
    ],
    waiting: [[], [{ id: 'i', value: 'ok?' }]],
  });
  const { stdout, stderr } = await ask(server.url, ['x', 'hi'], 'null\n');

  expect(stdout).toBe('done\n');
  expect(stderr.match(/^· look .*$/gm)).toEqual(['· look {"at":1}', '· look {"at":2}', '· look {"at":3}']);
  expect(
    JSON.parse(server.asked.findLast(({ what }) => what.endsWith('/stream'))?.body as string),
  ).toMatchObject({
    command: { resume: { i: null } },
  });
});

test.each([
  ['is cut', { cut: true }],
  ['ends while the run continues', { status: 'running' }],
  ['ends with a run that was cancelled', { status: 'interrupted' }],
  ['ends with a run that failed', { status: 'error' }],
])('a stream that %s fails with the command that continues it', async (_how, script) => {
  await using server = await playing({ runs: [[piece('a', 'half an ')]], ...script });
  const { code, stdout, stderr } = await ask(server.url, ['x', 'hi']);

  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: 'half an \n',
    stderr: naming(`agent-server ask x --thread ${THREAD} --url ${server.url}\n`),
  });
});

test('ask refuses a text while several interrupts wait', async () => {
  const waiting = [
    [
      { id: 'a', value: 'ok?' },
      { id: 'b', value: 'sure?' },
    ],
  ];
  await using server = await playing({ runs: [], waiting });

  expect(await ask(server.url, ['x', 'yes', '--thread', THREAD])).toEqual({
    code: 2,
    stdout: '',
    stderr: naming('agent-server: ask: ', '2 answers'),
  });
});

const HTML = '<!doctype html><title>Welcome</title>';

test.each([
  ['HTML', 200, HTML, /does not look like an Agent Server: unexpected reply to POST \/assistants\/search/],
  ['other JSON', 200, '{"hello":[1]}', /does not look like an Agent Server/],
  [
    'an error with terminal control characters',
    400,
    JSON.stringify({ detail: `\u001b]0;x\u0007no\n\u202e${'x'.repeat(2000)}` }),
    /400: \]0;xno x{480,500}…$/,
  ],
])('ask reports %s in one line', async (_what, status, text, why) => {
  await using server = await foreign((_, response) => response.writeHead(status).end(text));
  const { code, stdout, stderr } = await ask(server.url, ['x', 'hi']);

  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr.trimEnd()).toMatch(why);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
});

test('ask reports a redirect and does not forward the key', async () => {
  await using other = await foreign((_, response) => response.end('[]'));
  await using server = await foreign((_, response) =>
    response.writeHead(307, { Location: `${other.url}/secret-path` }).end(),
  );
  const { code, stderr } = await ask(server.url, ['x', 'hi', '--key', 'mine']);

  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: naming(`agent-server: ${server.url} redirects to ${new URL(other.url).host}: `, '--url'),
  });
  expect(other.asked).toEqual([]);
});

test('ask takes the key from --key or the environment and ignores trailing slashes of the address', async () => {
  await using server = await playing({ runs: [[], []] });
  const env = { AGENT_SERVER_API_KEYS: ' first , second' };
  await agentServer(['ask', 'x', 'hi', '--url', `${server.url}//`], { env });
  await agentServer(['ask', 'x', 'hi', '--url', server.url, '--key', 'mine'], { env });

  expect(new Set(server.asked.map(({ key }) => key))).toEqual(new Set(['first', 'mine']));
  expect(server.asked[0]?.what).toBe('POST /assistants/search');
});

test.each([
  [['--url', 'http://ana:hush@127.0.0.1:1'], /--url must not contain a user or password/],
  [['--url', 'ana:hush@127.0.0.1'], /--url must be the address of a server/],
  [['--url', 'nonsense hush'], /--url must be the address of a server/],
  [['--url', 'http://127.0.0.1:1', '--key', 'hush\u2026'], /the API key must be printable ASCII/],
  [['--url', 'http://127.0.0.1:1', '--key', 'hush\nX: y'], /the API key must be printable ASCII/],
])('ask refuses %j in one line that does not repeat the value', async (flags, why) => {
  const { code, stdout, stderr } = await agentServer(['ask', 'x', 'hi', ...flags]);

  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(why);
  expect(stderr).not.toContain('hush');
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
});

const REVIEW = (allowed: string[]) => ({
  id: 'i',
  value: {
    action_requests: [{ name: 'send', args: {}, description: 'May I?' }],
    review_configs: [{ action_name: 'send', allowed_decisions: allowed }],
  },
});

test.each([
  ['approve', 'a\ny\nyes\n', { type: 'approve' }],
  ['approve in capitals', 'APPROVE\n', { type: 'approve' }],
  ['a rejection by its beginning', 'r\nno\n', { type: 'reject', message: 'no' }],
  ['an unknown decision, as a whole word', 'esc\nEscalate\n', { type: 'escalate' }],
  [
    'an edit, once its JSON is right',
    'e\n{bad\n[1]\n{"to":1}\n',
    { type: 'edit', edited_action: { name: 'send', args: { to: 1 } } },
  ],
  ['decisions as JSON', '{"decisions":[{"type":"approve"}]}\n', { type: 'approve' }],
])('the prompt for a decision accepts %s', async (_what, input, decision) => {
  const waiting = [[REVIEW(['approve', 'edit', 'reject', 'escalate'])]];
  await using server = await playing({ runs: [[whole('a', 'done')]], waiting });
  const { code, stderr } = await ask(server.url, ['x', '--thread', THREAD], input);

  expect({ code, stderr }).toMatchObject({ code: 0 });
  const { body } = server.asked.find(({ what }) => what.endsWith('/stream')) ?? { body: '{}' };
  expect(JSON.parse(body).command.resume.decisions).toEqual([expect.objectContaining(decision)]);
  if (input.includes('{bad')) expect(stderr).toMatch(/not valid JSON: [\s\S]*must be an object/);
});

test('ask leaves a run interrupted if the graph allows no decision', async () => {
  await using server = await playing({ runs: [], waiting: [[REVIEW([])]] });
  expect(await ask(server.url, ['x', '--thread', THREAD], 'approve\n')).toEqual({
    code: 1,
    stdout: '',
    stderr: naming('agent-server: send', 'decision', 'interrupted'),
  });
});

test.each([
  ['{"a":1}', { a: 1 }],
  ['[1]', [1]],
  ['5', 5],
  ['true', true],
  ['null', { i: null }],
  ['007', '007'],
  ['12345678901234567890', '12345678901234567890'],
  ['"quoted"', '"quoted"'],
  ['fine', 'fine'],
])('%s gives the same answer on the command line and at the prompt', async (text, resume) => {
  const waiting = [[{ id: 'i', value: 'ok?' }]];
  for (const [args, input] of [
    [[text], ''],
    [[], `${text}\n`],
  ] as const) {
    await using server = await playing({ runs: [[]], waiting });
    await ask(server.url, ['x', ...args, '--thread', THREAD], input);
    const { body } = server.asked.find(({ what }) => what.endsWith('/stream')) ?? { body: '{}' };
    expect(JSON.parse(body).command).toEqual({ resume });
  }
});
