// Builds the server for its package: bundles `src` into `dist`, with libraries left where they are. Node loads a few large
// files faster than 800 small ones. What is imported later stays a file of its own, and so does what several need.
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { dirname, relative, resolve } from 'node:path';
import { encode, type SourceMapSegment } from '@jridgewell/sourcemap-codec';
import { build, type Metafile, type Plugin } from 'esbuild';

const ROOT = import.meta.dirname;

/** What users import, and what processes and threads start with; in `dist` at the same place as in `src`. */
export const ENTRY_POINTS = [
  'index',
  'cli/main',
  'cli/dev/dev-server',
  'graphs/schemas/child',
  'hosts/host/main',
  'hosts/host/watch-thread',
  'workers/heartbeat-thread',
];

interface Vendored {
  /** The module that `import` loads. */
  readonly main: string;
  /** What it needs, and its licence. */
  readonly files: readonly string[];
}

/**
 * Libraries that the package contains, because a project with one of them among its packages runs an install script:
 * npm calls node-gyp for better-sqlite3's `binding.gyp` once a lock file has lost its `gypfile: false`, and pnpm fails
 * on scripts that nobody approved. esbuild's programs have no scripts and remain packages: `optionalDependencies`.
 */
export const VENDORED: Readonly<Record<string, Vendored>> = {
  'better-sqlite3': { main: 'lib/index.js', files: ['lib', 'prebuilds', 'LICENSE'] },
  esbuild: { main: 'lib/main.js', files: ['lib/main.js', 'LICENSE.md'] },
  // Without its reader for msgpackr-extract, which `msgpackr/pack` does not load either.
  msgpackr: { main: 'index.js', files: ['index.js', 'pack.js', 'unpack.js', 'iterators.js', 'LICENSE'] },
};

/** By way of `imports` in package.json, for esbuild writes the path of an external module as it is into any folder. */
const vendored: Plugin = {
  name: 'vendored',
  setup({ onResolve }) {
    onResolve({ filter: new RegExp(`^(${Object.keys(VENDORED).join('|')})(/|$)`) }, ({ path }) => {
      const name = path.split('/')[0] as string;
      return { path: `#vendor/${name}/${VENDORED[name]?.main}`, external: true };
    });
  },
};

async function copyVendored(folder: string): Promise<void> {
  for (const [name, { main, files }] of Object.entries(VENDORED)) {
    const [from, to] = [resolve(ROOT, 'node_modules', name), resolve(folder, 'vendor', name)];
    for (const file of files) await cp(resolve(from, file), resolve(to, file), { recursive: true });
    const {
      version,
      license,
      type = 'commonjs',
    } = JSON.parse(await readFile(resolve(from, 'package.json'), 'utf8'));
    await writeFile(
      resolve(to, 'package.json'),
      `${JSON.stringify({ name, version, license, type, main })}\n`,
    );
  }
}

/** Bundles the server into `folder`. Resolves to esbuild's report of what is in each file. */
export async function bundle(folder: string): Promise<Metafile> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: ENTRY_POINTS.map((path) => `src/${path}.ts`),
    outbase: 'src',
    outdir: 'dist',
    bundle: true,
    splitting: true,
    packages: 'external',
    plugins: [vendored],
    format: 'esm',
    platform: 'node',
    target: 'node22.19',
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    write: false,
  });
  const texts = new Map(outputFiles.map(({ path, text }) => [relative(resolve(ROOT, 'dist'), path), text]));
  for (const [path, text] of texts) {
    const file = resolve(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(
      file,
      path.endsWith('.map') ? mapOfLines(text, texts.get(path.slice(0, -4)) as string) : text,
    );
  }
  await copyVendored(folder);
  return metafile;
}

/** A source map with one mapping for each line, a tenth of the size: the server reads it to log where an error was thrown. */
function mapOfLines(text: string, code: string): string {
  const map = JSON.parse(text) as SourceMapPayload;
  const origins = new SourceMap(map);
  const mappings = code.split('\n').map((line, index): SourceMapSegment[] => {
    const origin = origins.findEntry(index, line.search(/\S|$/));
    // The nearest one may be that of a line before.
    if (!('originalSource' in origin) || origin.generatedLine !== index) return [];
    const source = map.sources.indexOf(origin.originalSource);
    return [[0, source, origin.originalLine, origin.originalColumn]];
  });
  return JSON.stringify({ ...map, names: [], mappings: encode(mappings) });
}

if (import.meta.main) await bundle(resolve(ROOT, 'dist'));
