import { expect, test } from 'vitest';
import { headerFilter } from '../../src/http/header-patterns.ts';
import { openApp } from '../support/app.ts';

const HEADERS = { 'x-team': 'red', 'x-trace': 'abc', 'x-api-key': 'sesame', cookie: 'a=1', accept: '*/*' };

test.each([
  [{ includes: [], excludes: [] }, {}],
  [
    { includes: ['x-*'], excludes: [] },
    { 'x-team': 'red', 'x-trace': 'abc' },
  ],
  [{ includes: ['X-Team'], excludes: [] }, { 'x-team': 'red' }],
  [
    { includes: ['*'], excludes: ['x-tr*'] },
    { 'x-team': 'red', accept: '*/*' },
  ],
  [{ includes: ['x-*', 'cookie'], excludes: ['x-t*'] }, { cookie: 'a=1' }],
  [{ includes: ['x.team'], excludes: [] }, {}],
])('header patterns %j select headers, and secrets only by their exact name', (patterns, picked) => {
  expect(headerFilter(patterns)(HEADERS)).toEqual(picked);
});

test('configured headers become part of the configuration of runs, and clients cannot set them otherwise', async () => {
  await using server = await openApp({
    graphs: ['echo'],
    http: { configurable_headers: { includes: ['x-*'], excludes: ['x-secret'] } },
  });
  const thread = await server.thread();
  const headers = { 'x-team': 'red', 'x-secret': 'no', 'langsmith-trace': 'trace-1' };
  const run = {
    assistant_id: 'echo',
    input: { x: 1 },
    config: { configurable: { 'x-team': 'mine', run_id: 'r' } },
  };
  const { body } = await server.post(`/threads/${thread}/runs`, run, headers);
  const { configurable } = body.kwargs.config;
  expect(configurable).toMatchObject({ 'x-team': 'red', 'langsmith-trace': 'trace-1', run_id: body.run_id });
  expect(configurable).not.toHaveProperty('x-secret');
});

test('only configured headers are logged', async () => {
  await using server = await openApp({
    graphs: ['echo'],
    http: { logging_headers: { includes: ['x-*'], excludes: [] } },
  });
  await server.get('/info', { 'x-team': 'red', 'x-api-key': 'sesame', authorization: 'Bearer sesame' });
  const line = server.log.find(({ message }) => message.startsWith('GET /info'));
  expect(line?.fields['headers']).toEqual({ 'x-team': 'red' });
  expect(JSON.stringify(server.log)).not.toContain('sesame');
});
