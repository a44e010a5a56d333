import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { silentLogger } from '../../src/core/logger.ts';
import type { GraphSource } from '../../src/graphs/schemas/extraction.ts';
import { typeSchemas } from '../../src/graphs/schemas/type-schemas.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const READER = join(ROOT, 'src/graphs/schemas');
const FIXTURES = join(ROOT, 'test/fixtures/graphs');

/**
 * Before all tests: one folder for the schemas that their servers read from TypeScript types. It stays: an entry is valid
 * while the files that it was read from are unchanged, and the folder belongs to this version of the code that reads. A new
 * folder gets the graphs of the fixtures at once: most of the time goes into the types of LangChain, which they share, and
 * twenty servers would read them separately, each for four seconds of CPU.
 */
export default async function setup(): Promise<void> {
  const hash = createHash('sha256');
  for (const file of readdirSync(READER).sort()) hash.update(readFileSync(join(READER, file)));
  const folder = join(ROOT, 'node_modules/.cache/agent-server-schemas', hash.digest('hex').slice(0, 16));
  process.env['TEST_SCHEMAS'] = folder;
  if (mkdirSync(folder, { recursive: true }) === undefined) return;
  const graphs = fixtures();
  const { signal } = new AbortController();
  const options = { root: FIXTURES, cache: folder, logger: silentLogger, signal, limit_ms: 300_000 };
  const find = typeSchemas(graphs, options);
  await Promise.all(graphs.map(({ graph_id }) => find(graph_id)));
}

function fixtures(): GraphSource[] {
  const { graphs } = parse(readFileSync(join(FIXTURES, 'agent.config.yaml'), 'utf8'));
  return Object.entries<string | { path: string }>(graphs).map(([graph_id, graph]) => {
    const [file = '', name = ''] = (typeof graph === 'string' ? graph : graph.path).split(':');
    return { graph_id, file: join(FIXTURES, file), export: name };
  });
}
