import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { edited } from '../chaos/faults/edited.ts';
import { copySources } from './copied-sources.ts';

/** A later release of the server: its sources in a folder of their own. */
export interface Release extends AsyncDisposable {
  readonly program: string;
  readonly version: string;
  /** The migrations that it adds. */
  readonly migrations: readonly number[];
}

/** One busy table each: with locks on two, a migration and a run wait for each other. */
const MIGRATIONS = [
  'alter table runs add column release text;',
  'create index runs_release on runs (release) where release is not null;',
  'alter table run_queue add column release text;',
  'create table releases (name text primary key);',
];

/**
 * What a release does to the one before it: migrations of the expanding kind, rows with a value that the older program
 * does not know, and bus messages with a field and an event that it has never heard of.
 */
const CHANGES = [
  {
    file: 'src/storage/queue/enqueue.ts',
    find: 'created_at, updated_at, announces_end, key_id, $' + '{MARKER_COLUMNS}, ',
    replace: 'created_at, updated_at, release, announces_end, key_id, $' + '{MARKER_COLUMNS}, ',
  },
  {
    file: 'src/storage/queue/enqueue.ts',
    find: '$' + '{run.created_at}, $' + '{run.updated_at},\n',
    replace: '$' + '{run.created_at}, $' + "{run.updated_at}, 'next',\n",
  },
  {
    file: 'src/events/bus-messages.ts',
    find: 'const fresh = () => ({ from, events: [] as SentEvent[],',
    replace: `const later = { name: 'release.announced', payload: ['next'] } as unknown as SentEvent;
  const fresh = () => ({ from, release: { name: 'next' }, events: [later],`,
  },
];

/** Makes the release that follows the sources of this repository. `contracting`: SQL of a last migration that removes something. */
export async function nextRelease(contracting?: string): Promise<Release> {
  const sources = await copySources();
  const { folder } = sources;
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const version = `${manifest.version}-next`;
  await writeFile(join(folder, 'package.json'), JSON.stringify({ ...manifest, version }));
  const migrations = await addMigrations(join(folder, 'src/db/migrations/index.ts'), contracting);
  for (const change of CHANGES) {
    const file = join(folder, change.file);
    await writeFile(file, edited(await readFile(file, 'utf8'), change));
  }
  return {
    program: sources.program,
    version,
    migrations,
    [Symbol.asyncDispose]: () => sources[Symbol.asyncDispose](),
  };
}

/** Returns their numbers. */
async function addMigrations(file: string, contracting: string | undefined): Promise<number[]> {
  const source = await readFile(file, 'utf8');
  const last = Math.max(...[...source.matchAll(/version: (\d+),/g)].map(([, version]) => Number(version)));
  const texts = contracting === undefined ? MIGRATIONS : [...MIGRATIONS, contracting];
  const added = texts.map((text, index) => ({
    ...{ version: last + 1 + index, name: 'next', text },
    ...(text !== contracting && { expands: true }),
  }));
  const lines = added.map((each) => `,\n  ${JSON.stringify(each)} as Migration`).join('');
  const end = source.lastIndexOf('];');
  await writeFile(file, `${source.slice(0, end).replace(/,\s*$/, '')}${lines}${source.slice(end)}`);
  return added.map(({ version }) => version);
}
