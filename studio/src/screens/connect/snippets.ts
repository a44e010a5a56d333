import { isSystemAssistant, type ListedAssistant } from '../../api/assistants.ts';

/** The id that clients use: the graph name for the default assistant. */
export function callName(assistant: ListedAssistant): string {
  return isSystemAssistant(assistant) ? assistant.graph_id : assistant.assistant_id;
}

/** What a snippet calls. */
export interface Target {
  /** URL of the server, without a trailing slash. */
  readonly url: string;
  /** The id of the assistant, or the name of its graph. */
  readonly assistant: string;
  readonly input: Record<string, unknown>;
  /** Whether clients need a key. */
  readonly key: boolean;
}

export interface Snippet {
  readonly title: string;
  /** What to install or enable. */
  readonly note?: string;
  readonly code: string;
}

const KEY = 'YOUR_KEY';
const NAMES = [
  ['javascript', 'JavaScript'],
  ['python', 'Python'],
  ['curl', 'curl'],
  ['mcp', 'MCP'],
  ['a2a', 'A2A'],
  ['openai', 'OpenAI'],
  ['ag-ui', 'AG-UI'],
] as const;

export type Way = (typeof NAMES)[number][0];

/** Those that are extensions of the server, which may be off. */
const EXTENSIONS: readonly string[] = ['mcp', 'a2a', 'openai'] satisfies readonly Way[];

/** Ways to call a server with these extensions, most common first. */
export function waysOf(extensions: readonly string[]) {
  return NAMES.map(([name, label]) => ({ name, label })).filter(
    ({ name }) => !EXTENSIONS.includes(name) || extensions.includes(name),
  );
}

/** Snippets ready to paste, for one way to call the assistant. */
export function snippetsOf(way: Way, target: Target): Snippet[] {
  return { javascript, python, curl, mcp, a2a, openai, 'ag-ui': agUi }[way](target);
}

/** A literal that is valid in JavaScript and, without booleans and nulls, in Python. */
const literal = (value: unknown): string => JSON.stringify(value);
/** A single-quoted shell string. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function javascript({ url, assistant, input, key }: Target): Snippet[] {
  return [
    {
      title: 'LangGraph SDK',
      note: 'npm install @langchain/langgraph-sdk',
      code: `import { Client } from '@langchain/langgraph-sdk';

const client = new Client({ apiUrl: '${url}'${key ? `, apiKey: '${KEY}'` : ''} });
const { thread_id } = await client.threads.create();
const input = ${literal(input)};
for await (const { event, data } of client.runs.stream(thread_id, '${assistant}', { input, streamMode: 'updates' })) {
  console.log(event, JSON.stringify(data));
}`,
    },
    {
      title: 'React',
      note: 'npm install @langchain/react. A key in a web page is public; use a browser token there.',
      code: `import { useStream } from '@langchain/react';

const { messages, interrupt, isLoading, submit, respond } = useStream({
  apiUrl: '${url}',
  assistantId: '${assistant}',
});`,
    },
  ];
}

function python({ url, assistant, input, key }: Target): Snippet[] {
  return [
    {
      title: 'LangGraph SDK',
      note: 'pip install "langgraph-sdk>=0.4"',
      code: `from langgraph_sdk import get_sync_client

client = get_sync_client(url="${url}"${key ? `, api_key="${KEY}"` : ''})
thread = client.threads.create()
run_input = ${literal(input)}
for part in client.runs.stream(thread["thread_id"], "${assistant}", input=run_input, stream_mode="updates"):
    print(part.event, part.data)`,
    },
  ];
}

function curl({ url, assistant, input, key }: Target): Snippet[] {
  const header = key ? ` -H 'X-Api-Key: ${KEY}'` : '';
  const body = quoted(JSON.stringify({ assistant_id: assistant, input }));
  const call = (path: string, flags: string) =>
    `curl ${flags} ${url}${path}${header} -H 'Content-Type: application/json' \\\n  -d ${body}`;
  return [
    { title: 'Wait for the answer', code: call('/runs/wait', '-s') },
    { title: 'Stream it', code: call('/runs/stream', '-sN') },
  ];
}

function mcp({ url, assistant, key }: Target): Snippet[] {
  const address = `${url}/mcp/${assistant}`;
  const headers = key ? { headers: { 'X-Api-Key': KEY } } : {};
  const config = (value: object) => JSON.stringify(value, null, 2);
  return [
    {
      title: 'Claude Code',
      note: 'This address serves this assistant only; /mcp serves all of them.',
      code: `claude mcp add --transport http ${assistant} ${address}${key ? ` --header "X-Api-Key: ${KEY}"` : ''}`,
    },
    {
      title: 'VS Code',
      note: 'In .vscode/mcp.json',
      code: config({ servers: { [assistant]: { type: 'http', url: address, ...headers } } }),
    },
    {
      title: 'Cursor and many others',
      note: 'In .cursor/mcp.json',
      code: config({ mcpServers: { [assistant]: { url: address, ...headers } } }),
    },
  ];
}

function a2a({ url, assistant, key }: Target): Snippet[] {
  const header = key ? ` -H 'X-Api-Key: ${KEY}'` : '';
  return [
    {
      title: 'Address',
      note: 'Keep the trailing slash: clients look for the agent card below this address.',
      code: `${url}/a2a/${assistant}/`,
    },
    {
      title: 'Agent card',
      code: `curl -s ${url}/a2a/${assistant}/.well-known/agent-card.json${header}`,
    },
  ];
}

function openai({ url, assistant, key }: Target): Snippet[] {
  const headers = key ? `\n  defaultHeaders: { 'X-Api-Key': '${KEY}' },` : '';
  return [
    {
      title: 'Chat completions',
      note: 'npm install openai@6. Requires a graph that takes messages.',
      code: `import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: '${url}/v1',
  apiKey: '${key ? KEY : 'none'}',${headers}
});
const messages = [{ role: 'user', content: 'Hello!' }];
const stream = await client.chat.completions.create({ model: '${assistant}', messages, stream: true });
for await (const { choices } of stream) process.stdout.write(choices[0]?.delta.content ?? '');`,
    },
  ];
}

function agUi({ url, assistant, key }: Target): Snippet[] {
  return [
    {
      title: 'AG-UI',
      note: 'npm install @ag-ui/langgraph@0.0.43. For CopilotKit and other front ends.',
      code: `import { LangGraphAgent } from '@ag-ui/langgraph';

const agent = new LangGraphAgent({
  graphId: '${assistant}',
  deploymentUrl: '${url}',${key ? `\n  langsmithApiKey: '${KEY}',` : ''}
  threadId: crypto.randomUUID(),
});
agent.addMessage({ id: crypto.randomUUID(), role: 'user', content: 'Hello!' });
const { newMessages } = await agent.runAgent();
console.log(newMessages);`,
    },
  ];
}
