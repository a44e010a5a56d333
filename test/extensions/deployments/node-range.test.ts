import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { satisfies } from '../../../src/extensions/deployments/build/project/node-range.ts';

const semver = createRequire(import.meta.url)('semver') as {
  satisfies(version: string, range: string): boolean;
};

const RANGES = [
  ...[
    '*',
    'x',
    '',
    '20',
    '20.x',
    '20.1',
    '20.1.x',
    'v20.1.2',
    '=20.1.2',
    '>=20',
    '> 20',
    '<=20',
    '<20',
    '>20.1',
  ],
  ...['^20', '^20.1', '^20.1.2', '~20', '~20.1', '~20.1.2', '^0', '^0.2', '^0.2.3', '^0.0.3', '~>20.1'],
  ...[
    '>=18 <21',
    '>=18.0.0 || ^16',
    '18 - 20',
    '18.1.0 - 20.1.1',
    '^18 || ^20 || >=22',
    '>=20.1.2 <20.2',
    '<=20.1',
  ],
];
const VERSIONS = [
  '0.0.3',
  '0.2.3',
  '0.2.9',
  '16.0.0',
  '18.0.0',
  '18.1.0',
  '20.0.0',
  '20.1.1',
  '20.1.2',
  '20.2.0',
  '21.0.0',
  '24.21.0',
];

test('engine ranges are interpreted as npm does', () => {
  const differences = RANGES.flatMap((range) =>
    VERSIONS.filter((version) => satisfies(`v${version}`, range) !== semver.satisfies(version, range)).map(
      (version) => `${version} in "${range}"`,
    ),
  );
  expect(differences).toEqual([]);
});

test.each(['latest', '20 and more', '>=20.1.2.3', '1 - 2 - 3'])('engine range "%s" is refused', (range) => {
  expect(satisfies('v20.0.0', range)).toBe(undefined);
});
