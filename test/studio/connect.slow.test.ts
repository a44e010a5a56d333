import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NODE, ROOT } from '../examples/blocks.ts';
import { openApp } from '../support/app.ts';
import { python } from '../support/python.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { useStudioServer } from '../support/studio-server.ts';
import { signIn } from '../support/studio-sign-in.ts';

const OPERATOR = 'an-operator';
const ANSWER = 'You said: Hello!';

describe.runIf(hasStudio)(
  'the code that Studio shows for connecting clients (needs Chromium and a build of Studio)',
  () => {
    const studio = useStudioServer(['chat'], {
      environment: { AGENT_SERVER_API_KEYS: OPERATOR },
      http: { openai: { enabled: true } },
    });
    let page: Page;
    /** Its programs find the packages of the repository. */
    let folder: string;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'agent-server-snippets-'));
      await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
      ({ page } = await openStudio(studio.browser, studio.origin, '/connect'));
      await signIn(page, OPERATOR);
    });

    afterAll(() => rm(folder, { recursive: true, force: true }));

    /** The snippets of a way by their titles, with a key in its place. */
    async function snippets(way: string): Promise<ReadonlyMap<string, string>> {
      await page.goto(`${studio.origin}/studio/connect?tab=${way}`);
      await page.locator('pre').first().getByText(studio.origin).waitFor();
      const titles = await page.locator('header:has(+ pre) h2').allInnerTexts();
      const codes = await page.locator('pre').allInnerTexts();
      expect(titles).toHaveLength(codes.length);
      return new Map(titles.map((title, i) => [title, codes[i]?.replaceAll('YOUR_KEY', OPERATOR) ?? '']));
    }

    const only = async (way: string, title: string) => (await snippets(way)).get(title) ?? '';

    async function printedBy(program: string, ...args: string[]): Promise<string> {
      const { stdout, stderr } = await promisify(execFile)(program, args, { cwd: folder });
      return stdout + stderr;
    }

    async function printedByModule(code: string): Promise<string> {
      const file = join(folder, 'snippet.mjs');
      await writeFile(file, code);
      return printedBy(NODE, file);
    }

    test('the LangGraph SDK of JavaScript', async () => {
      const printed = await printedByModule(await only('javascript', 'LangGraph SDK'));
      expect(printed).toContain(ANSWER);
      expect(printed).toMatch(/^metadata /m);
    });

    test('the hook for React, in a component', async () => {
      const [imports = '', ...body] = (await only('javascript', 'React')).split('\n\n');
      const names = /\{(.*)\} =/.exec(body.join(''))?.[1] ?? '';
      const printed = await printedByModule(`${imports}
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
function App() {
  ${body.join('\n')}
  return Object.entries({ ${names} }).map(([name, value]) => name + ': ' + (Array.isArray(value) ? 'list' : typeof value)).join(', ');
}
console.log(renderToString(createElement(App)));`);
      expect(printed.trim()).toBe(
        'messages: list, interrupt: undefined, isLoading: boolean, submit: function, respond: function',
      );
    });

    test.runIf(python)('the LangGraph SDK of Python', async () => {
      const printed = await printedBy(python ?? '', '-c', await only('python', 'LangGraph SDK'));
      expect(printed).toContain(ANSWER);
    });

    test('curl, for the answer and for a stream', async () => {
      const calls = await snippets('curl');
      expect([...calls.keys()]).toEqual(['Wait for the answer', 'Stream it']);
      const [waited = '', streamed] = await Promise.all(
        [...calls.values()].map((call) => printedBy('bash', '-c', call)),
      );
      expect(JSON.parse(waited).messages.at(-1).content).toBe(ANSWER);
      expect(streamed).toMatch(/^event: values\r?\ndata: .*You said: Hello!/m);
    });

    interface McpServer {
      readonly type?: string;
      readonly url: string;
      readonly headers: Record<string, string>;
    }

    /** What a client of MCP hears that has been told of this server. */
    async function calledAsTool({ url, headers }: McpServer): Promise<string> {
      const client = new Client({ name: 'test', version: '1' });
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
      try {
        const { tools } = await client.listTools();
        const [tool] = tools;
        expect(tools).toHaveLength(1);
        const messages = [{ role: 'user', content: 'Hello!' }];
        return JSON.stringify(await client.callTool({ name: tool?.name ?? '', arguments: { messages } }));
      } finally {
        await client.close();
      }
    }

    test('the configurations of clients of MCP', async () => {
      const shown = await snippets('mcp');
      const vsCode = JSON.parse(shown.get('VS Code') ?? '') as { servers: Record<string, McpServer> };
      const cursor = JSON.parse(shown.get('Cursor and many others') ?? '') as {
        mcpServers: Record<string, McpServer>;
      };
      expect(vsCode.servers['chat']?.type).toBe('http');
      // The command as a shell takes it apart: the client itself is a program of its own.
      const command = `claude() { printf '%s\\n' "$@"; }; ${shown.get('Claude Code')}`;
      const args = (await printedBy('bash', '-c', command)).trim().split('\n');
      const [name = '', value = ''] = args.at(-1)?.split(': ') ?? [];
      expect(args.slice(0, 5)).toEqual(['mcp', 'add', '--transport', 'http', 'chat']);
      expect(args.at(-2)).toBe('--header');
      const claude = { url: args[5] ?? '', headers: { [name]: value } };
      for (const server of [vsCode.servers['chat'], cursor.mcpServers['chat'], claude]) {
        expect(await calledAsTool(server as McpServer)).toContain(ANSWER);
      }
    });

    test('the address and the card of the agent for A2A', async () => {
      const shown = await snippets('a2a');
      const card = await printedBy('bash', '-c', shown.get('Agent card') ?? '');
      expect(JSON.parse(card)).toMatchObject({ name: 'chat' });
      const address = shown.get('Address') ?? '';
      const printed = await printedByModule(`import { Role } from '@a2a-js/sdk';
import { ClientFactory, ClientFactoryOptions, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
const fetchImpl = (url, init = {}) => {
  const headers = new Headers(init.headers);
  headers.set('X-Api-Key', '${OPERATOR}');
  return fetch(url, { ...init, headers });
};
const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
  transports: [new JsonRpcTransportFactory({ fetchImpl })],
  cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
});
const client = await new ClientFactory(options).createFromUrl('${address}');
const parts = [{ content: { $case: 'text', value: 'Hello!' } }];
const message = { messageId: 'm', contextId: '', taskId: '', role: Role.ROLE_USER, parts, extensions: [], referenceTaskIds: [] };
console.log(JSON.stringify(await client.sendMessage({ tenant: '', message })));`);
      expect(printed).toContain(ANSWER);
    });

    test('the official client of OpenAI', async () => {
      expect(await printedByModule(await only('openai', 'Chat completions'))).toBe(ANSWER);
    });

    test('shows no protocol that is off', async () => {
      const ways = async (origin: string) => {
        const { page: shown } = await openStudio(studio.browser, origin, '/connect');
        const links = shown.getByRole('navigation', { name: 'Views' }).getByRole('link');
        await links.first().waitFor();
        const names = await links.allInnerTexts();
        await shown.goto(`${origin}/studio/connect?tab=a2a`);
        await shown.locator('pre').first().getByText('@langchain/langgraph-sdk').waitFor();
        await shown.context().close();
        return names;
      };
      await using off = await openApp({
        graphs: ['chat'],
        http: { disable_mcp: true, disable_a2a: true },
        one_process: 'a setting of its own',
      });
      const { origin } = new URL((await off.app.listen()).url);
      expect(await ways(origin)).toEqual(['JavaScript', 'Python', 'curl', 'AG-UI']);
    });

    test('the agent of AG-UI', async () => {
      expect(await printedByModule(await only('ag-ui', 'AG-UI'))).toContain(ANSWER);
    });
  },
);
