import { expect, test } from 'vitest';
import { problemsOf } from '../../support/config.ts';

const GRAPHS = 'graphs: { echo: "./echo.ts:graph" }\n';

test.each([
  ['with several parts', '/tools/studio', 'must be a path of one part, such as /console'],
  ['that the API has', '/threads', 'is already a path of the API: choose another one'],
])('a path of Studio %s is refused', async (_, path, problem) => {
  expect(await problemsOf(`${GRAPHS}studio: { path: ${path} }`)).toEqual([
    `agent.config.yaml: studio.path: ${problem}`,
  ]);
});
