const MB = 1024 ** 2;
/** Nearly what a body may have by default, bytes. */
export const MAX_BODY = 4 * MB - 2000;

/** Values of JSON that are as large as a body may be, in bytes or by default in values. */
const large = (bytes: number): Record<string, string> => ({
  text: JSON.stringify('x'.repeat(bytes)),
  escapes: `"${'\\n'.repeat(bytes / 2)}"`,
  nuls: `"${'\\u0000'.repeat(bytes / 6)}"`,
  // Text about what cannot be stored, and about escapes of it.
  surrogates: `"${'\\\\ud800'.repeat(bytes / 7)}"`,
  backslashes: `"${'\\\\'.repeat(bytes / 2 - 10)}\\\\ud800"`,
  texts: JSON.stringify(Array(40_000).fill('x'.repeat(bytes / 40_000 - 3))),
  numbers: JSON.stringify(Array(49_000).fill(1)),
  lists: `[${'[],'.repeat(24_000)}1]`,
  objects: `[${'{"a":1},'.repeat(12_000)}1]`,
  keys: JSON.stringify(Object.fromEntries(Array.from({ length: 24_000 }, (_, i) => [`k${i}`, i]))),
});
/** By kind, as JSON. */
export const LARGE: Readonly<Record<string, string>> = large(MAX_BODY);
/** The same, as large as the protocols take by default. */
export const MESSAGES: Readonly<Record<string, string>> = large(MB / 2 - 1000);

const message = (value: string) => `{"role":"user","content":"hi","additional_kwargs":{"a":${value}}}`;
/** The body of a run that has the value in its input. */
export const runOf = (value: string) => `{"assistant_id":"echo","input":{"messages":[${message(value)}]}}`;

/** Requests that may carry a value. */
export const REQUESTS: readonly (readonly [what: string, path: string, body: (value: string) => string])[] = [
  ['a run', '/runs/wait', runOf],
  ['metadata of a thread', '/threads', (value) => `{"metadata":{"a":${value}}}`],
  ['a search', '/threads/search', (value) => `{"metadata":{"a":${value}}}`],
  ['an invalid request', '/threads', (value) => `{"metadata":${value}}`],
  ['an unknown path', '/nowhere', (value) => value],
];

const isText = (kind: string) => MESSAGES[kind]?.startsWith('"') === true;
const rpc = (method: string, params: string) =>
  `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`;

/** A message of 1.0, and of 0.3: text, which the graph keeps and repeats, or data. */
const modern = (kind: string) =>
  `{"message":{"messageId":"m","role":"ROLE_USER","parts":[${
    isText(kind) ? `{"text":${MESSAGES[kind]}}` : `{"data":{"a":${MESSAGES[kind]}}}`
  }]}}`;
const old = (kind: string) =>
  `{"message":{"kind":"message","messageId":"m","role":"user","parts":[${
    isText(kind)
      ? `{"kind":"text","text":${MESSAGES[kind]}}`
      : `{"kind":"data","data":{"a":${MESSAGES[kind]}}}`
  }]}}`;
/** A call of a tool, of the oldest revision. */
const call = (kind: string) =>
  rpc(
    'tools/call',
    `{"name":"chat","arguments":${isText(kind) ? `{"messages":${MESSAGES[kind]}}` : `{"messages":"hi","a":${MESSAGES[kind]}}`}}`,
  );
const newCall = (kind: string) => call(kind).replace(/}}$/, `,"_meta":${JSON.stringify(META)}}}`);
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const JSON_TYPE = { 'content-type': 'application/json' };
const MCP_HEADERS = {
  ...JSON_TYPE,
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': 'chat',
};

type Door = readonly [what: string, path: string, body: (kind: string) => string, headers?: object];

/** Protocols that carry messages. */
export const DOORS: readonly Door[] = [
  ['A2A 1.0', '/a2a/chat', (kind) => rpc('SendMessage', modern(kind))],
  ['a stream of A2A 1.0', '/a2a/chat', (kind) => rpc('SendStreamingMessage', modern(kind))],
  ['A2A 0.3', '/a2a/chat', (kind) => rpc('message/send', old(kind))],
  ['a stream of A2A 0.3', '/a2a/chat', (kind) => rpc('message/stream', old(kind))],
  ['A2A over REST', '/a2a/chat/message:send', modern],
  ['a stream of A2A over REST', '/a2a/chat/message:stream', modern],
  ['an old revision of MCP', '/mcp', call, JSON_TYPE],
  ['MCP', '/mcp', newCall, MCP_HEADERS],
];
