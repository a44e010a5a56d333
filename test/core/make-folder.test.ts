import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeFolder } from '../../src/core/make-folder.ts';

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'folders-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('a folder is created with its parents, and an existing one is kept', () => {
  const folder = join(scratch(), 'one', 'two');
  makeFolder(folder, 0o700);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, '..')).mode & 0o777).toBe(0o700);

  chmodSync(folder, 0o755);
  makeFolder(folder, 0o700);
  expect(statSync(folder).mode & 0o777).toBe(0o755);
});

test('creating a folder at the path of a file is an error', () => {
  const file = join(scratch(), 'file');
  writeFileSync(file, '');
  expect(() => makeFolder(file)).toThrow('EEXIST');
  expect(() => makeFolder(join(file, 'below'))).toThrow('EEXIST');
});

// A test that fails here does not end: Node's own way does not return.
test.runIf(existsSync('/proc/self'))('a folder that the system refuses to create is an error', () => {
  expect(() => makeFolder('/proc/agent-server/data')).toThrow(
    expect.objectContaining({ code: 'ENOENT', path: '/proc/agent-server' }),
  );
});
