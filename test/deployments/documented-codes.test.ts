import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const SOURCES = join(ROOT, 'src/deployments');

test('every code of a failure is in the guide, and no other', () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const source = files.map((file) => readFileSync(join(SOURCES, file), 'utf8')).join('\n');
  const literals = [
    ...source.matchAll(
      /(?:code: |failure\(\s*|step === 'install' \? | : )'([a-z]+_[a-z_]+|killed|internal)'/g,
    ),
  ];
  const refusals = [...source.matchAll(/refused\('([a-z]+)'/g)].map((match) => `tarball_${match[1]}`);
  const limits = ['time_limit', 'memory_limit', 'disk_limit', 'aborted', 'killed', 'internal'];
  const codes = new Set([...literals.map((match) => match[1] as string), ...refusals, ...limits]);

  const guide = readFileSync(join(ROOT, 'docs/internals/builds.md'), 'utf8').split('## Failures')[1] ?? '';
  const rows = guide
    .split('## Afterwards')[0]!
    .split('\n')
    .filter((line) => line.startsWith('| `') || line.startsWith('| any'));
  const documented = rows.flatMap((row) =>
    [...row.split('|')[2]!.matchAll(/`([a-z_]+)`/g)].map((match) => match[1] as string),
  );
  expect([...new Set(documented)].sort()).toEqual([...codes].sort());
});
