import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { VENDORED } from '../../build.ts';

const ROOT = resolve(import.meta.dirname, '../..');

interface Entry {
  readonly version: string;
  readonly dev?: true;
  /** Of the repository, and an optional peer of a package that users install. */
  readonly devOptional?: true;
  readonly gypfile?: boolean;
  readonly hasInstallScript?: true;
}

const read = (path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
const lock = read('package-lock.json').packages as Readonly<Record<string, Entry>>;
const manifest = read('package.json');
const nameOf = (path: string) => path.split('node_modules/').at(-1) as string;

/** npm runs `node-gyp rebuild` for such a package, unless it has a script of its own. */
const withGypFile = Object.keys(lock).filter(
  (path) => path.includes('node_modules/') && existsSync(join(ROOT, path, 'binding.gyp')),
);

test('`npm ci` compiles no package with a binding.gyp', () => {
  const compiled = withGypFile.filter(
    (path) => lock[path]?.gypfile !== false && lock[path]?.hasInstallScript !== true,
  );

  expect(withGypFile).toContain('node_modules/better-sqlite3');
  expect(compiled, '`npm run dependencies` adds "gypfile": false to package-lock.json again').toEqual([]);
});

test('no package that users install has an install script or a binding.gyp', () => {
  const scripts = Object.keys(lock).filter((path) => lock[path]?.hasInstallScript);

  expect([...scripts, ...withGypFile].filter((path) => !lock[path]?.dev && !lock[path]?.devOptional)).toEqual(
    [],
  );
  expect(Object.keys(manifest.scripts).filter((name) => /^(pre|post)?(install|prepare)$/.test(name))).toEqual(
    [],
  );
});

test('package.json decides for each install script of the repository whether npm runs it', () => {
  const scripts = Object.entries(lock).flatMap(([path, { hasInstallScript, gypfile }]) =>
    hasInstallScript || gypfile === false ? [nameOf(path)] : [],
  );

  expect(Object.keys(manifest.allowScripts).sort()).toEqual(scripts.sort());
});

test('the esbuild binaries that users install have the version of the library in the package', () => {
  const programs = Object.entries(manifest.optionalDependencies).filter(([name]) =>
    name.startsWith('@esbuild/'),
  );

  expect(programs).toHaveLength(6);
  expect(new Set(programs.map(([, version]) => version))).toEqual(
    new Set([manifest.devDependencies.esbuild]),
  );
});

test('bundled packages are not dependencies of the package', () => {
  expect(Object.keys(VENDORED).filter((name) => name in manifest.dependencies)).toEqual([]);
});
