import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

const told = ({ log }: Awaited<ReturnType<typeof openApp>>) =>
  log.filter(({ message }) => message.includes('did you mean')).map(({ message }) => message);

test('a misspelt field is logged, and the request is served', async () => {
  await using server = await openApp({ graphs: ['echo'], gives_hints: true });
  const { status } = await server.post('/runs/wait', {
    assistant_id: 'echo',
    inputs: {},
    metadata: { inputs: 1 },
  });
  await server.post('/threads/search', { metdata: {}, x_of_ours: 1, metadata_of_a_very_different_name: 2 });
  await server.post('/threads', {});

  expect(status).toBe(200);
  expect(told(server)).toEqual([
    'POST /runs/wait: unknown field "inputs"; did you mean "input"?',
    'POST /threads/search: unknown field "metdata"; did you mean "metadata"?',
  ]);
});

test('of many unknown fields in a body only a few are logged', async () => {
  await using server = await openApp({ graphs: ['echo'], gives_hints: true });
  const fields = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`limi${index}`, 1]));
  await server.post('/threads/search', fields);

  expect(told(server).length).toBeLessThanOrEqual(20);
});

test('in production unknown fields are not logged', async () => {
  await using server = await openApp({ graphs: ['echo'] });
  await server.post('/runs/wait', { assistant_id: 'echo', inputs: {} });

  expect(told(server)).toEqual([]);
});
