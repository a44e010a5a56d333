import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { ENTRY_POINTS } from '../build.ts';

/**
 * Who knows that there are extensions: the composition root, the command line, the configuration file and graph hosts, by the list alone.
 * Nobody else in the core knows more than their interface.
 */
const KNOW_THE_LIST = [
  'app/extensions.ts',
  'cli/all-commands.ts',
  'config/config-file.ts',
  'hosts/host/extensions.ts',
];

/** Imports point to the right; layers in one entry are siblings and never import each other. */
const LAYERS = [
  ['cli'],
  ['node', 'index'],
  ['app'],
  ['hosts'],
  ['config'],
  ['http', 'workers'],
  ['services'],
  ['auth', 'graphs'],
  ['events'],
  ['storage'],
  ['db'],
  ['schemas'],
  ['core'],
];

/**
 * The same within a layer, for its folders and the files beside them. One that is not listed, as a new resource, is
 * between the first entry and the second.
 */
const FOLDERS: Readonly<Record<string, string[][]>> = {
  services: [
    ['all-services'],
    ['conversation'],
    ['threads'],
    ['runs'],
    ['assistants', 'webhooks', 'idempotency'],
    ['pagination'],
  ],
  hosts: [['host', 'pool'], ['protocol']],
  graphs: [
    ['runtime'],
    ['checkpointer', 'store', 'schemas', 'observability'],
    ['steps'],
    ['project'],
    ['runnable'],
    ['graph', 'wire', 'checkpoint-config', 'public-errors'],
  ],
  db: [
    ['migrate'],
    ['schema'],
    ['migrations', 'engines'],
    ['rows'],
    ['db'],
    ['columns'],
    ['column-types'],
    ['tables', 'encryption', 'metadata-filter'],
    ['json', 'time', 'lateral-join'],
    ['sql', 'containment', 'containment-terms'],
  ],
  storage: [
    ['storage'],
    ['database'],
    ['owned-data', 'pool-sizes', 'until-reachable', 'unfinished-copy'],
    ['postgres-pools'],
    ['encryption'],
    ['queue'],
    ['threads'],
    ['crons', 'checkpoints'],
    ['runs'],
    ['webhooks', 'assistants', 'store'],
    ['access', 'search', 'idempotency', 'notifications', 'overview'],
    ['processes', 'riders'],
  ],
};

/** What the core of the core must not know, in a comment either: the nouns of extensions. */
const FOREIGN = {
  folders: /^(storage\/queue|services\/runs|workers|events)\//,
  nouns: /a2a|mcp|budget|revision/i,
};

/** Packages and globals that belong to one place. */
const PINNED: { what: RegExp; only: RegExp }[] = [
  { what: /from '(fastify|fastify-plugin|@fastify\/[\w-]+)'/, only: /^(app\.ts|http\/|extensions\/)/ },
  { what: /from 'pino'/, only: /^core\/json-logger\.ts$/ },
  { what: /from 'pino-pretty'/, only: /^cli\/readable-lines\.ts$/ },
  { what: /from 'croner'/, only: /^core\/cron-times\.ts$/ },
  { what: /from '(better-sqlite3|pg)'/, only: /^db\/engines\// },
  { what: /from '@langchain\//, only: /^(graphs\/|auth\/custom)/ },
  { what: /\bprocess\.env\b/, only: /^config\// },
  {
    what: /\b(Date\.now\(|new Date\(\)|performance\.now\(|randomUUID|crypto\.random)/,
    only: /^core\/(clock|ids)\.ts$/,
  },
  { what: /from 'prom-client'/, only: /^http\/metrics\/prometheus\.ts$/ },
  { what: /\bconsole\./, only: /^cli\// },
  // Node would load its own copy of undici, for an export that nobody uses. Types cost nothing.
  { what: /^(?:import|export) (?!type )[^']*from 'node:https?'/m, only: /^$/ },
  // Not where the source is: the package has it in a file with others.
  { what: /(?<!createRequire\()import\.meta\b/, only: /^core\/package-files\.ts$/ },
  // Node 22 lacks them. The build replaces `using`.
  {
    what: /\b((Async)?DisposableStack|SuppressedError|Promise\.try|RegExp\.escape|Error\.isError|URLPattern|Float16Array)\b/,
    only: /^$/,
  },
  // A delay beyond 2^31 − 1 ms fires at once. Sockets have time-outs of their own.
  {
    what: /\b(setTimeout|setInterval)\b|AbortSignal\.timeout/,
    only: /^(core\/timers|http\/stalled-clients)\.ts$/,
  },
];

const SRC = resolve(import.meta.dirname, '../src');
const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const source = new Map(files.map((file) => [file, readFileSync(join(SRC, file), 'utf8')]));

/**
 * What a process does not load at its start, by the file it starts with: libraries that not each one needs. `loads`: at
 * least so many others, or the search is broken.
 */
const LATER: [entry: string, libraries: RegExp, loads: number][] = [
  [
    'app.ts',
    /@modelcontextprotocol\/server|@a2a-js\/sdk|marked|minisearch|jiti|@fastify\/(rate-limit|swagger)|prom-client/,
    21,
  ],
  ['hosts/host/main.ts', /fastify|light-my-request|pino|@modelcontextprotocol\/server/, 21],
  // A thread has a heap of its own.
  ['hosts/host/watch-thread.ts', /: (?!node:)/, 6],
];

/** `http/sse.ts` → `http`; `app.ts` and `app/context.ts` → `app`. */
function folderOf(file: string): string {
  return (file.split('/')[0] as string).replace(/\.ts$/, '');
}

function layerOf(file: string): number {
  return LAYERS.findIndex((layer) => layer.includes(folderOf(file)));
}

const ALL_IMPORTS = /(?:from|import|import\()\s*'(\.[^']+)'/g;
const LOADED_WITH_IT = /(?:from|import)\s*'(\.[^']+)'/g;

function importsOf(file: string, pattern = ALL_IMPORTS): string[] {
  const found = (source.get(file) as string).matchAll(pattern);
  return [...found].map((match) => resolvedFrom(file, match[1] as string));
}

/** `../core/ids.ts` in `http/server.ts` → `core/ids.ts`. */
function resolvedFrom(file: string, to: string): string {
  return relative(SRC, resolve(SRC, file, '..', to));
}

/** What a file imports when it is loaded itself: neither types nor what it imports later. */
function valuesFrom(file: string, name: RegExp): string[] {
  const imports = `^(?:import|export) (?!type )(?:[^']*? from )?'(${name.source})';$`;
  return [...(source.get(file) ?? '').matchAll(new RegExp(imports, 'gm'))].map((match) => match[1] as string);
}

function mayImport(from: string, to: string): boolean {
  if (folderOf(from) === 'extensions') return mayExtensionImport(from, to);
  if (to === 'extensions/extension.ts')
    return folderOf(from) === 'app' || from === 'hosts/host/extensions.ts';
  if (to === 'extensions/index.ts') return KNOW_THE_LIST.includes(from);
  if (to.startsWith('..')) return to === '../package.json';
  if (folderOf(from) === folderOf(to)) return mayImportWithin(from, to);
  return layerOf(from) < layerOf(to);
}

/** Its own folder and the core. The composition root only for what the interface gives it. */
function mayExtensionImport(from: string, to: string): boolean {
  const [, own] = from.split('/');
  const [folder, name] = to.split('/');
  if (from === 'extensions/index.ts') return folder === 'extensions';
  if (from === 'extensions/extension.ts') return folder !== 'extensions';
  if (to === 'extensions/extension.ts') return true;
  if (folder === 'extensions') return name === own;
  // A command is one like those of the core.
  return (
    layerOf(to) > layerOf('app.ts') ||
    (/\/commands\//.test(from) &&
      /^(cli\/(command|config|configured-storage|ask\/(client|sanitize))|node)\.ts$/.test(to))
  );
}

function mayImportWithin(from: string, to: string): boolean {
  const order = FOLDERS[folderOf(from)];
  if (!order) return true;
  const [upper, lower] = [from, to].map((file) => (file.split('/')[1] as string).replace(/\.ts$/, '')) as [
    string,
    string,
  ];
  const at = (name: string) => {
    const index = order.findIndex((names) => names.includes(name));
    return index < 0 ? 0.5 : index;
  };
  return upper === lower || at(upper) < at(lower);
}

/**
 * Every chain of imports that returns to the file where it began, type imports included; but for what an extension loads when
 * it is on or its command is called, when everything else has been loaded.
 */
function cycles(): string[] {
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (file: string, path: readonly string[]) => {
    if (path.includes(file)) found.push([...path.slice(path.indexOf(file)), file].join(' -> '));
    if (done.has(file) || path.includes(file)) return;
    const isExtension = file.startsWith('extensions/') && file.endsWith('/extension.ts');
    const imported = importsOf(file, isExtension ? LOADED_WITH_IT : ALL_IMPORTS);
    for (const to of imported.filter((name) => source.has(name))) visit(to, [...path, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  return found;
}

test('every file belongs to a layer or to an extension', () => {
  expect(files.filter((file) => layerOf(file) < 0 && folderOf(file) !== 'extensions')).toEqual([]);
});

test.each(['src/README.md', 'docs/decisions/layers.md'])('%s shows the layers', (page) => {
  const [shown = ''] = /^cli → .+$/m.exec(readFileSync(resolve(SRC, '..', page), 'utf8')) ?? [];
  expect(shown.match(/\w+/g)).toEqual(LAYERS.flat());
});

test('imports point downwards', () => {
  const wrong = files.flatMap((file) =>
    importsOf(file)
      .filter((to) => !mayImport(file, to))
      .map((to) => `${file} -> ${to}`),
  );
  expect(wrong).toEqual([]);
});

test('no import leads back to its file', () => {
  expect(cycles()).toEqual([]);
});

test('the queue, runs, workers and events name no extension', () => {
  const known = files.filter((file) => FOREIGN.folders.test(file));
  expect(known.length).toBeGreaterThan(50);
  expect(known.filter((file) => FOREIGN.nouns.test(source.get(file) as string))).toEqual([]);
});

test('packages and globals stay in their place', () => {
  const wrong = files.flatMap((file) =>
    PINNED.filter(({ what, only }) => what.test(source.get(file) as string) && !only.test(file)).map(
      ({ what }) => `${file}: ${what.source}`,
    ),
  );
  expect(wrong).toEqual([]);
});

test.each(LATER)('starting %s loads no optional module', (entry, libraries, loads) => {
  const atStart = new Set([entry]);
  for (const file of atStart)
    for (const to of valuesFrom(file, /\.[^']+/)) atStart.add(resolvedFrom(file, to));
  const loaded = [...atStart].flatMap((file) => valuesFrom(file, /[^.'][^']*/).map((to) => `${file}: ${to}`));
  expect(atStart.size).toBeGreaterThan(5);
  expect(loaded.length).toBeGreaterThanOrEqual(loads);
  expect(loaded.filter((line) => libraries.test(line))).toEqual([]);
});

test('the server starts without LangChain, which only projects load', () => {
  expect(
    files.flatMap((file) => valuesFrom(file, /@langchain\/[^']*/).map((name) => `${file}: ${name}`)),
  ).toEqual([]);
});

test('every file that is started by its path is an entry point of the build', () => {
  const programs = files.flatMap((file) =>
    [...(source.get(file) as string).matchAll(/\bprogramFile\('([^']+)'\)/g)].map((match) => match[1]),
  );
  expect(programs.length).toBeGreaterThan(4);
  expect(programs.filter((path) => !ENTRY_POINTS.includes(path as string))).toEqual([]);
});

test('no hand-written file is longer than 300 lines', () => {
  const written = files.filter((file) => file !== 'db/tables.ts');
  expect(written.filter((file) => (source.get(file) as string).split('\n').length > 301)).toEqual([]);
});

test('each PostgreSQL advisory lock has its own number', () => {
  const literal = /pg_(?:try_)?advisory\w*_lock\((\d+)/g;
  const numbers = [...source.values()].flatMap((text) => [...text.matchAll(literal)].map(([, key]) => key));
  expect(numbers.length).toBeGreaterThanOrEqual(3);
  expect(numbers).toEqual([...new Set(numbers)]);
});
