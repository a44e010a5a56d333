import { build } from 'esbuild';
import { createJiti } from 'jiti';
import type { Browser } from 'playwright-core';
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser, openBrowser } from '../support/browser.ts';
import { type Project, project } from '../support/project.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { filesOf } from './blocks.ts';
import { type Handler, startNext } from './next-server.ts';

const ROUTE = 'app/api/[..._path]/route.ts';
const AGENT = `
import { AIMessage } from '@langchain/core/messages';
import { END, interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
const answer = ({ messages }) => {
  const text = messages.at(-1).text;
  const said = text.startsWith('pay') ? 'You said ' + interrupt({ question: 'Pay?' }) : 'Echo: ' + text;
  return { messages: [new AIMessage(said)] };
};
export const graph = new StateGraph(MessagesAnnotation).addNode('answer', answer)
  .addEdge(START, 'answer').addEdge('answer', END).compile();`;

/** The page as a program for the browser, which takes over what the server has rendered. */
async function bundled({ root, write }: Project): Promise<string> {
  const entry = `import { hydrateRoot } from 'react-dom/client'; import Page from './app/page';
    hydrateRoot(document.getElementById('root'), <Page />);`;
  await write({ 'entry.tsx': entry });
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ['entry.tsx'],
    bundle: true,
    write: false,
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'error',
  });
  return outputFiles[0]?.text ?? '';
}

describe.runIf(hasBrowser)(
  'docs/recipes/nextjs-chat.md, in a browser (needs Debian package chromium)',
  () => {
    let server: TestServer;
    let folder: Project;
    let next: Awaited<ReturnType<typeof startNext>>;
    let browser: Browser;

    beforeAll(async () => {
      folder = await project({
        ...filesOf('docs/recipes/nextjs-chat.md'),
        [ROUTE]: filesOf('docs/nextjs.md')[ROUTE] ?? '',
        'tsconfig.json': '{ "compilerOptions": { "paths": { "@/*": ["./*"] }, "jsx": "react-jsx" } }',
        'package.json': '{ "type": "module" }',
        'agent.config.yaml': 'graphs: { agent: "./agent.mjs:graph" }',
        'agent.mjs': AGENT,
      });
      server = await startServer({ config: folder.path('agent.config.yaml'), api_keys: ['local-key'] });
      Object.assign(process.env, { AGENT_SERVER_URL: server.url, AGENT_SERVER_KEY: 'local-key' });
      const jiti = createJiti(folder.root, {
        tsconfigPaths: true,
        fsCache: false,
        jsx: { runtime: 'automatic' },
      });
      const route = await jiti.import<Record<string, Handler>>(folder.path(ROUTE));
      const { default: Page } = await jiti.import<{ default: () => never }>(folder.path('app/page.tsx'));
      const html = `<!doctype html><div id="root">${renderToString(createElement(Page))}</div><script src="/page.js"></script>`;
      next = await startNext(route, {
        '/': { type: 'text/html; charset=utf-8', body: html },
        '/page.js': { type: 'text/javascript', body: await bundled(folder) },
      });
      browser = await openBrowser();
    });

    afterAll(async () => {
      await browser?.close();
      next?.[Symbol.dispose]();
      await server?.[Symbol.asyncDispose]();
      await folder?.[Symbol.asyncDispose]();
    });

    test('a conversation goes through the proxy, asks a person, and survives a reload', async () => {
      const page = await browser.newPage();
      const problems: string[] = [];
      page.on('pageerror', (error) => problems.push(error.message));
      await page.goto(new URL('/', next.url).href);
      const say = async (text: string) => {
        await page.getByLabel('Message').fill(text);
        await page.getByRole('button', { name: 'Send' }).click();
      };
      const message = (text: string) => page.getByRole('listitem').filter({ hasText: text }).waitFor();

      await say('hello');
      await message('Echo: hello');
      await say('pay 7');
      await page.getByRole('button', { name: 'Approve' }).waitFor();
      await page.reload();
      await page.getByRole('button', { name: 'Approve' }).click();
      await message('You said approve');

      expect(await page.getByRole('listitem').allInnerTexts()).toEqual([
        'hello',
        'Echo: hello',
        'pay 7',
        'You said approve',
      ]);
      expect(problems).toEqual([]);
    });
  },
);
