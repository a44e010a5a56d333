import type { RunRequest } from './run-request.ts';

interface Call {
  /** URL of the server, without a trailing slash. */
  readonly url: string;
  readonly thread_id: string;
  readonly request: RunRequest;
  /** Whether the server needs a key. */
  readonly needsKey: boolean;
}

/** Environment variable with the key. Snippets never contain a key. */
const KEY = 'AGENT_SERVER_KEY';

export type Language = 'curl' | 'JavaScript' | 'Python';

/** Code that starts the run again on its thread and prints its events. */
export const SNIPPETS: Readonly<Record<Language, (call: Call) => string>> = {
  curl: ({ url, thread_id, request, needsKey }) =>
    [
      `curl -N ${shellText(`${url}/threads/${thread_id}/runs/stream`)}`,
      `-H 'content-type: application/json'`,
      ...(needsKey ? [`-H "x-api-key: $${KEY}"`] : []),
      `-d ${shellText(JSON.stringify(request, null, 2))}`,
    ].join(' \\\n  '),

  JavaScript: ({ url, thread_id, request, needsKey }) => {
    const { assistant_id, ...options } = request;
    const key = needsKey ? `, apiKey: process.env.${KEY}` : '';
    return `import { Client } from '@langchain/langgraph-sdk';

const client = new Client({ apiUrl: ${JSON.stringify(url)}${key} });
const stream = client.runs.stream(${JSON.stringify(thread_id)}, ${JSON.stringify(assistant_id)}, ${JSON.stringify(camelCased(options), null, 2)});
for await (const { event, data } of stream) console.log(event, data);
`;
  },

  Python: ({ url, thread_id, request, needsKey }) => {
    const { assistant_id, ...options } = request;
    const key = needsKey ? `, api_key=os.environ["${KEY}"]` : '';
    const given = Object.entries(options).map(([name, value]) => `    ${name}=${pythonText(value, 1)},\n`);
    return `${needsKey ? 'import os\n\n' : ''}from langgraph_sdk import get_sync_client

client = get_sync_client(url=${JSON.stringify(url)}${key})
stream = client.runs.stream(
    ${JSON.stringify(thread_id)},
    ${JSON.stringify(assistant_id)},
${given.join('')})
for part in stream:
    print(part.event, part.data)
`;
  },
};

function shellText(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Options of the JavaScript client: names in camel case, values unchanged. */
function camelCased(options: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => [
      name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );
}

/** A JSON value as a Python literal, at indentation level `depth`. */
function pythonText(value: unknown, depth: number): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const items = Array.isArray(value)
    ? value.map((item) => pythonText(item, depth + 1))
    : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${pythonText(item, depth + 1)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  if (items.length === 0) return `${open}${close}`;
  const indent = '    '.repeat(depth);
  return `${open}\n${items.map((item) => `${indent}    ${item},\n`).join('')}${indent}${close}`;
}
