import { createInterface } from 'node:readline/promises';
import { connect } from './client.ts';

/**
 * Without arguments it lists the assistants of a server as tools. With a tool, and a text or its arguments as JSON, it
 * calls it, says how far it is, and asks what the assistant asks.
 */
const { MCP_URL = 'http://127.0.0.1:8123/mcp', API_KEY = 'local-key' } = process.env;
const [tool, given = ''] = process.argv.slice(2);

const client = await connect(MCP_URL, API_KEY, askPerson).catch((error: Error) => {
  console.error(
    `${MCP_URL}: ${error.message}. Is a server there (MCP_URL), and does it know the key (API_KEY)?`,
  );
  process.exit(1);
});
try {
  await (tool === undefined ? list() : call(tool));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await client.close();
}

async function list(): Promise<void> {
  const { tools } = await client.listTools();
  for (const { name, description } of tools) console.log(`${name}: ${description}`);
}

async function call(name: string): Promise<void> {
  const { content, structuredContent, isError } = await client.callTool(
    { name, arguments: given.startsWith('{') ? JSON.parse(given) : { messages: given } },
    { onprogress: ({ message }) => console.error(`… ${message}`) },
  );
  const texts = content.map((block) => (block.type === 'text' ? block.text : `(${block.type})`));
  console.log(structuredContent ?? texts.join('\n'));
  if (isError) process.exitCode = 1;
}

async function askPerson(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await terminal.question(question);
  } finally {
    terminal.close();
  }
}
