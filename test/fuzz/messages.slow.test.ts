import { expect, test } from 'vitest';
import { runCase } from './cases.ts';
import { serverOfFixtures } from './messages.ts';

const CASES = 24;

/** The same requests each time; `npm run fuzz` sends others. */
test('malformed messages break no thread and leave no request waiting', async () => {
  await using server = await serverOfFixtures();
  const statuses: number[] = [];
  for (let seed = 1; seed <= CASES; seed++) statuses.push(...(await runCase(server, seed)).statuses);
  expect(statuses.length).toBeGreaterThan(CASES);
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(CASES / 2);
});
