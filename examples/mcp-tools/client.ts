import {
  Client,
  type ElicitRequestFormParams,
  type ElicitResult,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';

/** What a person says to a question. */
export type Answer = (question: string) => Promise<string>;

type Content = NonNullable<ElicitResult['content']>;

/** A client of the newest revision, which may be asked during a call. Without it, questions are results. */
export async function connect(url: string, key: string, answer: Answer): Promise<Client> {
  const client = new Client(
    { name: 'mcp-tools', version: '1.0.0' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: 'auto' } },
  );
  client.setRequestHandler('elicitation/create', async ({ params }) =>
    params.mode === 'url' ? { action: 'decline' } : fillIn(params, answer),
  );
  const headers = { 'X-Api-Key': key };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  return client;
}

/** Asks for each field that a form needs. An empty answer to the first one declines. */
async function fillIn(
  { message, requestedSchema: { properties, required = [] } }: ElicitRequestFormParams,
  answer: Answer,
): Promise<ElicitResult> {
  const content: Content = {};
  for (const [name, field] of Object.entries(properties)) {
    if (!required.includes(name)) continue;
    const text = await answer(`${message} ${field.title ?? name}${choicesOf(field)}: `);
    if (text === '' && Object.keys(content).length === 0) return { action: 'decline' };
    content[name] = entered(text, field);
  }
  return { action: 'accept', content };
}

type Field = ElicitRequestFormParams['requestedSchema']['properties'][string];

function choicesOf(field: Field): string {
  if (field.type === 'boolean') return ' (yes/no)';
  return 'enum' in field && field.enum ? ` (${field.enum.join('/')})` : '';
}

function entered(text: string, { type }: Field): Content[string] {
  if (type === 'boolean') return /^y/i.test(text);
  return type === 'string' ? text : Number(text);
}
