import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/all-commands.ts';
import { ALL_VARIABLES } from '../../src/config/config-file.ts';
import { loadConfig } from '../../src/config/load.ts';
import { project } from '../support/project.ts';
import { blocksOf, ROOT } from './blocks.ts';

const PAGES = [
  'README.md',
  ...['docs', 'docs/recipes'].flatMap((folder) => namesIn(folder).map((name) => `${folder}/${name}`)),
];
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: Record<string, string> };

function namesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder)).filter((name) => name.endsWith('.md'));
}

/** What `npm install` of a page names, of LangChain's packages and others whose newest is not what is tested. */
function packagesOf(page: string): { name: string; major: string | undefined }[] {
  return [...read(page).matchAll(/npm install ([^`\n]+)/g)].flatMap(([, line = '']) =>
    [...line.matchAll(/(@langchain\/[\w-]+|(?<![\w/-])langchain)(?:@(\d+))?/g)].map(
      ([, name = '', major]) => ({
        name,
        major,
      }),
    ),
  );
}

test.each(PAGES)('%s: packages of LangChain are installed in the tested major version', (page) => {
  const wrong = packagesOf(page).filter(
    ({ name, major }) => major !== undefined && major !== devDependencies[name]?.split('.')[0],
  );
  expect(wrong).toEqual([]);
});

test('docs/README.md names every page', () => {
  const index = read('docs/README.md');
  const missing = namesIn('docs').filter((name) => name !== 'README.md' && !index.includes(`](${name})`));
  expect(missing).toEqual([]);
});

test('every command in the documentation exists', () => {
  const known = new Set(COMMANDS.map(({ name }) => name.split(' ')[0]));
  const named = PAGES.flatMap((page) =>
    [...read(page).matchAll(/npx agent-server ([a-z]+)/g)].map(([, name = '']) => name),
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

test('the server reads every variable of docs/migrate.md', () => {
  const [, list = ''] = /official names and meanings: ([\s\S]*?)\.\n/.exec(read('docs/migrate.md')) ?? [];
  const named = [...list.matchAll(/`([A-Z_]+)`/g)].map(([, name = '']) => name);
  expect(named.sort()).toEqual(
    ALL_VARIABLES.map(({ name }) => name)
      .filter((name) => !name.startsWith('AGENT_SERVER_') && name !== 'LANGGRAPH_AES_FALLBACK_KEYS')
      .sort(),
  );
});

test.each(PAGES)('%s: configurations are valid', async (page) => {
  const configurations = blocksOf(page).filter(
    ({ language, text }) => language === 'yaml' && /^graphs:/m.test(text),
  );
  for (const { text } of configurations) {
    await using folder = await project({ 'agent.config.yaml': text, '.env': '' });
    const environment = Object.fromEntries(
      [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => [name, 'a-value']),
    );
    const { warnings } = await loadConfig({ cwd: folder.root, environment });
    expect(warnings).toEqual([]);
  }
});

/** What the sources say, with one space wherever they break a line of a message. */
const SOURCES = [...sourcesIn('src'), ...sourcesIn('bin')]
  .map(read)
  .join('\n')
  .replaceAll(/['`] \+\s+['`]/g, '')
  .replaceAll(/\s+/g, ' ');

function sourcesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.m?ts$|\.mjs$/.test(name))
    .map((name) => join(folder, name));
}

/** Said by Node, or put together from more than one place. */
const ELSEWHERE = [
  'GraphRecursionError',
  'Request Header Fields Too Large',
  'Not Found',
  '; did you mean ',
  ': expected ',
  ', received ',
];

test('docs/troubleshooting.md quotes messages of the server', () => {
  const rows = [...read('docs/troubleshooting.md').matchAll(/^\| (?:(?:\d|\d{3}) \| )?(`.+?) \|/gm)];
  const parts = rows.flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].flatMap(([, text = '']) =>
      text
        .split(/…|npm install|"|\[|\]|22\.19/)
        .map((part) => part.replace(/[.:;'\s]+$/, '').replace(/^[',.:;\s]+/, ''))
        .filter((part) => part.length > 3),
    ),
  );
  expect(parts.length).toBeGreaterThan(100);
  const missing = parts.filter(
    (part) => !SOURCES.includes(part) && !ELSEWHERE.some((each) => each.includes(part)),
  );
  expect(missing).toEqual([]);
});

test.each([
  [
    'docs/hosts.md',
    'Waits for a graph host: all ',
    ' are computing; ',
    'the event loop of host ',
    ' has been blocked for ',
  ],
  [
    'docs/postgresql.md',
    'connected to PostgreSQL',
    'is_pooled',
    'allowed_connections',
    'heartbeat',
    'listener',
  ],
  [
    'docs/scaling.md',
    'Another server uses the database ',
    '(it holds ',
    'Stop that server, or set another "storage.url"',
  ],
  ['docs/troubleshooting.md', 'the event loop of a graph host is blocked: its other runs wait'],
  [
    'docs/upgrades.md',
    'The database is at schema version ',
    ', but this program supports only versions up to ',
  ],
])('%s shows a message of the server: "%s"', (page, ...parts) => {
  const shown = blocksOf(page)
    .filter(({ language }) => language === 'text')
    .map(({ text }) => text.replaceAll(/\s+/g, ' '));
  expect(shown.filter((text) => parts.every((part) => text.includes(part)))).toHaveLength(1);
  expect(parts.filter((part) => !SOURCES.includes(part))).toEqual([]);
});

test('docs/troubleshooting.md covers every error status', () => {
  const statuses = [...read('src/core/errors.ts').matchAll(/status = (\d{3})/g)].map(([, status]) =>
    Number(status),
  );
  const page = read('docs/troubleshooting.md');
  expect(statuses.length).toBeGreaterThan(8);
  expect(statuses.filter((status) => status >= 400 && !page.includes(`| ${status} |`))).toEqual([]);
});

test.each([
  ['src/workers/lease.ts', /BEATS_PER_LEASE = 4;/, 'cancelled, rolled back or deleted there | 5 s'],
  ['src/workers/lease.ts', /return interval_ms;/, 'cancelled, rolled back or deleted there | 5 s'],
  ['src/config/sections/runs.ts', /lease_seconds: number\(.*\)\s*\.default\(20\)/, 'its lease lasts 20 s'],
  [
    'src/config/sections/runs.ts',
    /max_stall_seconds: integer|max_stall_seconds: number\(.*\)\s*\.default\(300\)/,
    '(300 s)',
  ],
  ['src/workers/reaper.ts', /return heartbeat_ms;/, 'others check every 5 s'],
  [
    'src/workers/runs.ts',
    /POLL_MS: PollIntervals = .* usual: 1000, frequent: 250/,
    'no process has claimed it | 1 s',
  ],
  ['src/workers/runs.ts', /usual: 1000, frequent: 250/, 'polls four times a second for runs'],
  ['src/events/safety-poll.ts', /frequent: 100/, 'ten times a second'],
  ['src/events/shared-bus.ts', /PRESENCE_MS = 15_000/, 'Every 15 s'],
  ['src/workers/schedules.ts', /MAX_SLEEP_MS.* usual: 5_000/, 'a delayed run was created or changed | 5 s'],
  ['src/workers/webhooks.ts', /MAX_SLEEP_MS.* usual: 5_000/, 'a webhook is due | 5 s'],
  ['src/services/assistants/assistant-cache.ts', /TTL_MS = 5000/, 'models | 5 s'],
  ['src/auth/api-keys.ts', /CACHE_TTL_MS = 1000/, 'revoked | 1 s'],
  ['src/events/safety-poll.ts', /SAFETY_POLL_MS = 500/, 'followed here | 0.5 s'],
  [
    'src/storage/pool-sizes.ts',
    /total = 20/,
    'At most 20 for each process: 10 for requests, 8 for runs, 1 for the heartbeat and 1 for notifications',
  ],
])('docs/scaling.md has the numbers of %s', (file, source, words) => {
  expect(read(file)).toMatch(source);
  expect(read('docs/scaling.md')).toContain(words);
});

test.each([
  ['src/db/engines/postgres-client.ts', /CONNECT_TIMEOUT_MS = 3000/, 'getting a connection | 3 s'],
  ['src/db/engines/postgres.ts', /ANSWER_TIMEOUT_MS = 10_000/, 'an answer of any kind | 10 s'],
  ['src/db/engines/postgres.ts', /STATEMENT_TIMEOUT_MS = 8000/, 'a statement | 8 s'],
  ['src/db/engines/postgres.ts', /'lock_timeout', '3000'/, 'waiting for a lock in a transaction | 3 s'],
  ['src/db/engines/postgres.ts', /session_timeout', '15000'/, 'a transaction that is idle | 15 s'],
  ['src/db/engines/postgres-db.ts', /MAX_ATTEMPTS = 4/, 'Runs the transaction again, up to three times'],
  ['src/db/engines/postgres-password.ts', /MAX_AGE_MS = 5 \* 60_000/, 'keeps it for 5 minutes'],
  ['src/db/engines/postgres-password.ts', /TIMEOUT_MS = 10_000/, 'It has 10 seconds'],
  ['src/db/migrate.ts', /'lock_timeout', '1000'/, 'at most a second for a lock'],
  ['src/db/migrate.ts', /GIVE_UP_MS = 10 \* 60_000/, 'tries again, up to 10 minutes'],
  ['src/db/engines/postgres-server.ts', /OLDEST = 13/, 'PostgreSQL 13 or newer'],
  ['src/storage/pool-sizes.ts', /total = 20/, '10 for requests, 8 for runs, 1 for the heartbeat and 1 for'],
])('docs/postgresql.md has the numbers of %s', (file, source, words) => {
  expect(read(file)).toMatch(source);
  expect(read('docs/postgresql.md')).toContain(words);
});
