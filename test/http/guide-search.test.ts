import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

let server: Awaited<ReturnType<typeof openApp>>;

beforeAll(async () => {
  server = await openApp({ graphs: ['echo'], environment: { AGENT_SERVER_API_KEYS: 'a-key' } });
});

afterAll(() => server[Symbol.asyncDispose]());

const get = (url: string) => server.app.server.inject({ url, remoteAddress: '127.0.0.1' });

/** The paths of the pages that a search finds, best first. */
async function found(question: string): Promise<string[]> {
  const { body } = await get(`/docs/guides/search?${new URLSearchParams({ q: question })}`);
  const list = /<ol class="matches">([\s\S]*)<\/ol>/.exec(body)?.[1] ?? '';
  return [...list.matchAll(/<a href="\/docs\/guides\/([^"#]+)/g)].map(([, path = '']) => path);
}

/** What users asked, in their words, and the page that answers it. */
test.each([
  ['run my agent every weekday at 9 in Berlin time', 'crons.md'],
  ['log in with Auth0', 'authentication.md'],
  ['migrate from LangGraph Platform', 'migrate.md'],
  ['three machines behind a load balancer', 'scaling.md'],
  ['can I write my graph in Python?', 'graphs.md'],
  ['Kubernetes', 'kubernetes.md'],
  ['do I need Redis?', 'scaling.md'],
  ['which LangGraph versions are supported', 'support.md'],
  ['rotate API keys', 'authentication.md'],
  ['cancel a run when the client disconnects', 'runs.md'],
  ['turn off Studio', 'studio.md'],
  ['use my own PostgresSaver checkpointer', 'checkpointers.md'],
  ['what does each customer cost me', 'usage.md'],
  ['big files in the state', 'recipes/images-and-files.md'],
  ['delete all data of a user (GDPR)', 'recipes/erase-user-data.md'],
  ['send an image to the agent', 'recipes/images-and-files.md'],
  ['stream only tokens of one node', 'recipes/stream-final-answer.md'],
  ['approve a tool call in Slack', 'recipes/approve-in-slack.md'],
  ['evaluate my agent in CI', 'recipes/regression-tests.md'],
  ['limit how many runs one user can have at once', 'recipes/limit-runs-per-user.md'],
])('a search for "%s" finds %s first', async (question, path) => {
  expect((await found(question))[0]).toBe(path);
});

test('a search for words that no page has, and one with hostile words, answer a page without matches', async () => {
  expect(await found('xyzzy')).toEqual([]);
  const { statusCode, body } = await get('/docs/guides/search?q=%22%3E%3Cscript%3Exyzzy&q=two');
  expect([statusCode, body.includes('<script>')]).toEqual([200, false]);
  const one = await get('/docs/guides/search?q=%22%3E%3Cscript%3Exyzzy');
  expect(one.body).toContain('value="&quot;>&lt;script>xyzzy"');
});

test('the excerpt of a match has no marks of Markdown', async () => {
  const { body } = await get('/docs/guides/search?q=address+that+A2A+clients+are+given');
  const [, excerpt] = /<a href="\/docs\/guides\/a2a\.md#clients">[^<]*<\/a><br>([^<]+)/.exec(body) ?? [];
  expect(excerpt).toMatch(/^The address/);
});

test('every page has the contents by section, with the page itself marked', async () => {
  const { body } = await get('/docs/guides/recipes/approve-in-slack.md');
  const sections = [...body.matchAll(/<summary>(\w+)<\/summary>/g)].map(([, title]) => title);
  expect(sections).toEqual([
    'Start',
    'Guides',
    'Recipes',
    'Concepts',
    'Operations',
    'Reference',
    'Internals',
  ]);
  const [, current] = /<a href="([^"]+)" aria-current="page"/.exec(body) ?? [];
  expect(current).toBe('/docs/guides/recipes/approve-in-slack.md');
});

test('the name of a guide without its ending leads to it', async () => {
  const { statusCode, headers } = await get('/docs/guides/crons');
  expect([statusCode, headers.location]).toEqual([302, '/docs/guides/crons.md']);
});

test('llms.txt lists every page as Markdown, as it is in the package', async () => {
  const { body, headers } = await get('/docs/guides/llms.txt');
  expect(headers['content-type']).toBe('text/plain; charset=utf-8');
  const links = [...body.matchAll(/^- \[[^\]]+\]\((\/docs\/guides\/markdown\/[^)]+)\): \S/gm)].map(
    ([, link = '']) => link,
  );
  expect(links.length).toBeGreaterThan(50);
  for (const link of links) {
    const page = await get(link);
    expect([link, page.statusCode, page.headers['content-type']]).toEqual([
      link,
      200,
      'text/markdown; charset=utf-8',
    ]);
    expect(page.body).toMatch(/^# /);
  }
  expect((await get('/docs/guides/markdown/images/studio-run.png')).statusCode).toBe(404);
});
