import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { TEST_POSTGRES_URI } from '../support/postgres-schema.ts';
import { TESTED } from '../support/tested-versions.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGE = join(ROOT, 'docs/support.md');

interface Package {
  readonly engines: { readonly node: string };
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

const read = async (path: string): Promise<Package> => JSON.parse(await readFile(join(ROOT, path), 'utf8'));
const [newest, oldest] = await Promise.all([read('package.json'), read('test/oldest/package.json')]);

function row(name: string, key: string, note = ''): string[] {
  const accepted = newest.peerDependencies[key];
  return [
    name,
    newest.devDependencies[key] ?? '',
    oldest.dependencies[key] ?? '',
    accepted ? `\`${accepted}\`` : note,
  ];
}

function table(): string {
  const [node, ...olderNodes] = TESTED.node;
  const other = newest.devDependencies['langgraph-sdk-2']?.split('@').at(-1);
  const rows = [
    row('LangGraph.js, `@langchain/langgraph`', '@langchain/langgraph'),
    row('`@langchain/core`', '@langchain/core'),
    row('`@langchain/langgraph-checkpoint`', '@langchain/langgraph-checkpoint'),
    row('JavaScript SDK, `@langchain/langgraph-sdk`', '@langchain/langgraph-sdk', `${other} too`),
    row('`@langchain/react`', '@langchain/react'),
    row('`langchain`', 'langchain'),
    ['Python SDK, `langgraph-sdk`', TESTED.python_sdk, '', ''],
    [
      'Node.js',
      newest.devDependencies['node'] ?? `${node}`,
      olderNodes.join(', '),
      `\`${newest.engines.node}\``,
    ],
    ['PostgreSQL', TESTED.postgresql, '', `PGlite ${newest.devDependencies['@electric-sql/pglite']} too`],
    ['PgBouncer, in transaction mode', TESTED.pgbouncer, '', ''],
  ];
  const header = ['', 'newest', 'oldest', 'accepted, or also tested'];
  return [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

test('the table of supported versions matches the lists of the tests (vitest -u writes it)', async () => {
  const page = await readFile(PAGE, 'utf8');
  const written = page.replace(/(?<=<!-- versions -->\n).*(?=<!-- \/versions -->)/s, () => table());
  await expect(written).toMatchFileSnapshot(PAGE);
});

test('the oldest tested versions are the lower bounds of the peer dependencies', () => {
  const lowest = Object.entries(newest.peerDependencies)
    .filter(([name]) => name.startsWith('@langchain/'))
    .map(([name, range]) => [name, /^>=(\S+) /.exec(range)?.[1]]);
  expect(lowest.length).toBeGreaterThan(0);
  expect(oldest.dependencies).toMatchObject(Object.fromEntries(lowest));
});

test('this Node is the newest tested version, and the package names the oldest', () => {
  const [highest] = TESTED.node;
  expect(process.versions.node.split('.')[0]).toBe(String(highest));
  expect(newest.devDependencies['node']).toMatch(new RegExp(`^${highest}\\.`));
  expect(newest.engines.node).toMatch(new RegExp(`^>=${TESTED.node.at(-1)}\\.`));
});

/** What a program of this machine prints, if it is installed. */
function printed(program: string | undefined, ...args: string[]): string | undefined {
  const { stdout, status } = spawnSync(program ?? 'none', args, { encoding: 'utf8' });
  return status === 0 ? stdout : undefined;
}

const PYTHON_VERSION = 'from importlib.metadata import version; print(version("langgraph-sdk"))';
const programs = [
  ['PgBouncer', printed('pgbouncer', '--version'), `PgBouncer ${TESTED.pgbouncer}.`],
  ['the Python SDK', printed(process.env['TEST_PYTHON'], '-c', PYTHON_VERSION), `${TESTED.python_sdk}.`],
] as const;

test.each(programs.filter(([, version]) => version !== undefined))(
  'the version of %s on this machine is the one in the table',
  (_name, version, listed) => expect(version?.startsWith(listed)).toBe(true),
);

test.skipIf(TEST_POSTGRES_URI === undefined)(
  'the PostgreSQL of the tests is the one in the table',
  async () => {
    const { default: pg } = await import('pg');
    const client = new pg.Client(TEST_POSTGRES_URI);
    await client.connect();
    try {
      const { rows } = await client.query('show server_version');
      expect(rows[0].server_version.split('.')[0]).toBe(TESTED.postgresql);
    } finally {
      await client.end();
    }
  },
);
