import { expect, test } from 'vitest';
import { bareServer } from '../support/bare-server.ts';

test('a list of large rows arrives as its rows are', async () => {
  const rows = ['ü', '"', '\\'].map((text, n) => ({
    run_id: `${n}`,
    metadata: { text: text.repeat(100_000) },
  }));
  await using http = await bareServer({ services: { runs: { list: async () => rows } } });
  const answer = await http.inject('/threads/00000000-0000-4000-8000-000000000001/runs');
  expect([answer.headers['content-type'], answer.json()]).toEqual(['application/json; charset=utf-8', rows]);
});

test('a response without a schema that has lists arrives as it is', async () => {
  await using http = await bareServer();
  const document = (await http.inject('/openapi.json')).json();
  expect(document).toMatchObject({ openapi: expect.any(String), paths: { '/threads': expect.any(Object) } });
});
