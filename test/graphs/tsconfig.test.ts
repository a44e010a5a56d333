import { expect, test } from 'vitest';
import { readTsconfig } from '../../src/graphs/project/tsconfig.ts';
import { project } from '../support/project.ts';

const paths = (target: string) => JSON.stringify({ compilerOptions: { paths: { '@/*': [target] } } });

/** Paths and missing configurations as seen from `src`. */
async function read(files: Record<string, string>) {
  await using folder = await project(files);
  const found = readTsconfig(folder.path('src'));
  const within = (text: string) => text.replace(`${folder.root}/`, '');
  return {
    paths: Object.values(found?.paths ?? {})
      .flat()
      .map(within),
    missing: found?.missing,
  };
}

test.each([
  ['of its own', { 'tsconfig.json': paths('./own/*') }, 'own/*'],
  [
    'relative to baseUrl',
    { 'tsconfig.json': '{"compilerOptions": {"baseUrl": "./lib", "paths": {"@/*": ["own/*"]}}}' },
    'lib/own/*',
  ],
  [
    'with comments, trailing commas and a byte order mark',
    {
      'tsconfig.json':
        '\uFEFF{ // "paths"\n/* { */ "compilerOptions": { "paths": { "@/*": ["./a,]//*", ], }, }, }\n// end',
    },
    'a,]/*',
  ],
  [
    'of a path that it extends',
    { 'tsconfig.json': '{"extends": "./base"}', 'base.json': paths('./base/*') },
    'base/*',
  ],
  [
    'of the last configuration that it extends',
    {
      'tsconfig.json': '{"extends": ["./a.json", "./b.json", "./c.json"]}',
      ...{ 'a.json': paths('./a/*'), 'b.json': paths('./b/*'), 'c.json': '{}' },
    },
    'b/*',
  ],
  [
    'of a package in a folder above',
    {
      'src/tsconfig.json': '{"extends": "semver-like/base"}',
      'src/node_modules/semver-like/base.json': paths('./x/*'),
    },
    'src/node_modules/semver-like/x/*',
  ],
  [
    'of a package by its exports',
    {
      'src/tsconfig.json': '{"extends": "own-config/base"}',
      'src/node_modules/own-config/package.json': '{"exports": {"./base": "./files/base.json"}}',
      'src/node_modules/own-config/files/base.json': paths('./x/*'),
    },
    'src/node_modules/own-config/files/x/*',
  ],
  [
    'of configurations that extend each other',
    { 'tsconfig.json': '{"extends": "./other.json"}', 'other.json': '{"extends": "./tsconfig.json"}' },
    undefined,
  ],
  ['of a file that is not JSON', { 'tsconfig.json': '{"compilerOptions": ' }, undefined],
])('the paths are those %s', async (_, files, path) => {
  expect(await read(files)).toEqual({ paths: path === undefined ? [] : [path], missing: [] });
});

test('what does not exist is named, and the rest is read', async () => {
  const files = {
    'tsconfig.json': '{"extends": ["@tsconfig/absent", "./base.json"]}',
    'base.json': '{"extends": "./gone", "compilerOptions": {"paths": {"@/*": ["./base/*"]}}}',
  };

  expect(await read(files)).toEqual({ paths: ['base/*'], missing: ['@tsconfig/absent', './gone'] });
});

test('a folder below none has no paths', () => {
  expect(readTsconfig('/')).toBeUndefined();
});
