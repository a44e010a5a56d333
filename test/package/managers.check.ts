import { expect, test } from 'vitest';
import { LIKE_NPM, ROWS, testInstallations, UNLIKE_NPM } from './managers.ts';

test('the table of docs/install.md has a row for each tested package manager, and no other', () => {
  const tested = [...UNLIKE_NPM, ...LIKE_NPM].map(({ row }) => row);
  expect(ROWS.map(({ manager }) => manager).sort()).toEqual([...new Set(tested)].sort());
});

testInstallations(UNLIKE_NPM);
