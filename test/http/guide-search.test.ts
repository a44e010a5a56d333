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

/**
 * The questions that users asked, with other words for each, and the pages that answer it. The words are those of users:
 * when one fails, change the page or the search.
 */
const QUESTIONS: readonly (readonly [questions: readonly string[], ...pages: string[]])[] = [
  [
    [
      'run my agent every weekday at 9 in Berlin time',
      'schedule a job on weekdays with timezone',
      'how do I run something at 9am Europe/Berlin Monday to Friday',
    ],
    'crons.md',
    'recipes/cron-digest.md',
  ],
  [
    ['log in with Auth0', 'can my users sign in with Auth0', 'use Auth0 JWTs to protect the API'],
    'authentication.md',
    'recipes/auth0-chat.md',
  ],
  [['migrate from LangGraph Platform', 'move from langgraph dev to this server'], 'migrate.md'],
  [
    ['three machines behind a load balancer', 'run it on 3 servers', 'high availability with several nodes'],
    'scaling.md',
    'recipes/three-machines.md',
  ],
  [['can I write my graph in Python?', 'python graph support'], 'graphs.md'],
  [
    ['Kubernetes', 'deploy to k8s with helm', 'how do I install it on my Kubernetes cluster'],
    'kubernetes.md',
  ],
  [['do I need Redis?', 'is redis required', 'does it use redis'], 'scaling.md'],
  [
    [
      'which LangGraph versions are supported',
      'supported versions of node and langgraph',
      'which version of LangGraph do I need',
    ],
    'support.md',
  ],
  [['rotate API keys', 'how can I replace an API key', 'revoke a leaked key'], 'authentication.md'],
  [['cancel a run when the client disconnects', 'what happens when the browser disconnects'], 'runs.md'],
  [['turn off Studio', 'disable studio in production', 'disable Studio and the docs page'], 'studio.md'],
  [
    ['use my own PostgresSaver checkpointer', 'custom checkpointer', 'can I bring my own checkpointer'],
    'checkpointers.md',
  ],
  [
    ['what does each customer cost me', 'cost per customer', 'bill my customers for tokens'],
    'usage.md',
    'recipes/cost-per-customer.md',
  ],
  [
    [
      'big files in the state',
      'my state is too large because of files',
      'store large files outside the state',
    ],
    'recipes/images-and-files.md',
  ],
  [
    ['delete all data of a user (GDPR)', "erase a user's data", 'right to be forgotten'],
    'recipes/erase-user-data.md',
  ],
  [
    ['send an image to the agent', 'upload a PDF', 'how do I attach files or pictures to a message'],
    'recipes/images-and-files.md',
  ],
  [
    ['stream only tokens of one node', "stream one node's tokens", 'hide the tokens of intermediate nodes'],
    'recipes/stream-final-answer.md',
  ],
  [
    ['approve a tool call in Slack', 'human approval via slack', 'slack button to confirm an action'],
    'recipes/approve-in-slack.md',
  ],
  [['evaluate my agent in CI', 'regression tests for an agent', 'evals'], 'recipes/regression-tests.md'],
  [
    [
      'limit how many runs one user can have at once',
      "limit a user's concurrent runs",
      'max concurrent runs per user',
    ],
    'recipes/limit-runs-per-user.md',
  ],
  [['use createDeepAgent', 'deep agent with subagents'], 'recipes/deepagents.md'],
  [['chat UI in Next.js', 'build a chat frontend with React'], 'recipes/nextjs-chat.md'],
  [['blue green deployment'], 'recipes/blue-green.md'],
  [['send a report every morning'], 'recipes/cron-digest.md'],
  [['answer questions from my documents'], 'recipes/rag-with-store.md'],
  [['pnpm workspaces monorepo'], 'recipes/monorepo.md'],
  [['map reduce with Send'], 'recipes/fan-out.md'],
  [['show progress of a long task'], 'recipes/background-progress.md'],
];

test.each(
  QUESTIONS.flatMap(([questions, ...pages]) =>
    questions.map((question) => [question, pages.join(' or '), pages] as const),
  ),
)('a search for "%s" finds %s first', async (question, _, pages) => {
  expect(pages).toContain((await found(question))[0]);
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
