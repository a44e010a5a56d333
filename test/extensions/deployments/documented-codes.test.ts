import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const SOURCES = join(ROOT, 'src/extensions/deployments/build');
const CHECKS = ['serving', 'work'].map((folder) => join(ROOT, 'src/extensions/deployments', folder));

test('docs/deployments.md lists exactly the failure codes of revisions', () => {
  const source = codeIn(SOURCES);
  const checks = CHECKS.map(codeIn).join('\n');
  const literals = [
    ...source.matchAll(
      /(?:code: |failure\(\s*|step === 'install' \? | : )'([a-z]+_[a-z_]+|killed|internal)'/g,
    ),
  ];
  const refusals = [...source.matchAll(/refused\('([a-z]+)'/g)].map((match) => `tarball_${match[1]}`);
  const limits = [
    'time_limit',
    'memory_limit',
    'disk_limit',
    'process_limit',
    'aborted',
    'killed',
    'internal',
  ];
  const checked = [...checks.matchAll(/\bcode: '(\w+)'|new RevisionError\(\s*[\w']+,\s*'(\w+)'/g)];
  const codes = new Set([
    ...literals.map((match) => match[1] as string),
    ...checked.map((match) => (match[1] ?? match[2]) as string),
    ...refusals,
    ...limits,
  ]);

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

function codeIn(folder: string): string {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const code = files.filter((file) => file.endsWith('.ts'));
  return code.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n');
}
