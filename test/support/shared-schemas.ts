import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const READER = join(ROOT, 'src/graphs/schemas');

/**
 * Before all tests: one folder for the schemas that their servers read from TypeScript types, for that takes seconds. It
 * stays: an entry is valid as long as the files that it was read from, and the folder is that of the code that reads.
 */
export default function setup(): void {
  const hash = createHash('sha256');
  for (const file of readdirSync(READER).sort()) hash.update(readFileSync(join(READER, file)));
  const folder = join(ROOT, 'node_modules/.cache/agent-server-schemas', hash.digest('hex').slice(0, 16));
  mkdirSync(folder, { recursive: true });
  process.env['TEST_SCHEMAS'] = folder;
}
