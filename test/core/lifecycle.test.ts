import { expect, test } from 'vitest';
import { closeAll } from '../../src/core/lifecycle.ts';

/** Parts of these names; those in capitals cannot be closed. */
function parts(...names: string[]) {
  const closed: string[] = [];
  const all = names.map((name) => async () => {
    if (name === name.toUpperCase()) throw new Error(name);
    closed.push(name);
  });
  return { all, closed };
}

test('parts of a server are closed in order', async () => {
  const { all, closed } = parts('a', 'b', 'c');
  await closeAll(all);
  expect(closed).toEqual(['a', 'b', 'c']);
});

test('a part that fails to close does not keep others open, and its error is thrown', async () => {
  const { all, closed } = parts('a', 'B', 'c');
  await expect(closeAll(all)).rejects.toEqual(new Error('B'));
  expect(closed).toEqual(['a', 'c']);
});

test('several errors while closing are all reported', async () => {
  const { all, closed } = parts('A', 'b', 'C');
  await expect(closeAll(all)).rejects.toMatchObject({
    message: 'Error: A; Error: C',
    errors: [new Error('A'), new Error('C')],
  });
  expect(closed).toEqual(['b']);
});
