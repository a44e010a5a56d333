import { resolve } from 'node:path';
import { expect, test } from 'vitest';

// By its path: what it imports is of browsers, whose types are not those of the server.
const module = resolve(import.meta.dirname, '../../studio/src/screens/graph/editor.ts');
const { EDITORS } = (await import(module)) as {
  EDITORS: Record<string, { href(file: string, line: number): string }>;
};

test.each(Object.keys(EDITORS))('the link for %s opens a file in a folder of any name', (id) => {
  const file = '/home/ana/C# & co?/50%/agent.ts';
  const { pathname, search, hash } = new URL(EDITORS[id]?.href(file, 41) ?? '');
  expect(hash).toBe('');
  const query = new URLSearchParams(search);
  const opened = search === '' ? decodeURIComponent(pathname) : `${query.get('file')}:${query.get('line')}`;
  expect(opened).toBe(`${file}:41`);
});
