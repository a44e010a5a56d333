// Builds the server for its package: bundles `src` into `dist`, with libraries left where they are. Node loads a few large
// files faster than 800 small ones. What is imported later stays a file of its own, and so does what several need.
import { mkdir, writeFile } from 'node:fs/promises';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { dirname, relative, resolve } from 'node:path';
import { encode, type SourceMapSegment } from '@jridgewell/sourcemap-codec';
import { build, type Metafile } from 'esbuild';

const ROOT = import.meta.dirname;

/** What users import, and what processes and threads start with; in `dist` at the same place as in `src`. */
export const ENTRY_POINTS = [
  'index',
  'cli/main',
  'cli/dev/dev-server',
  'cli/watchdog-thread',
  'graphs/schemas/child',
  'hosts/host/main',
  'hosts/host/watch-thread',
  'workers/heartbeat-thread',
];

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
