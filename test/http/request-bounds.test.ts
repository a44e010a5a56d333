import { expect, test } from 'vitest';
import { z } from 'zod';
import { METHOD_PARAMS } from '../../src/schemas/event-streaming.ts';
import { openApp } from '../support/app.ts';
import { naming } from '../support/naming.ts';
import { unboundedPlaces } from '../support/unbounded-schemas.ts';

test('every text, list and map of an event streaming command has a maximum', () => {
  const places = Object.entries(METHOD_PARAMS).flatMap(([method, schema]) => unboundedPlaces(schema, method));
  expect(places).toEqual([]);
});

test.each([
  ['updates', { updates: Array.from({ length: 201 }, () => ({ values: { x: 1 }, as_node: 'a' })) }],
  [
    'copies',
    { updates: [{ values: Array.from({ length: 201 }, () => [{ x: 1 }, 'a']), as_node: '__copy__' }] },
  ],
])('a superstep with too many %s is refused before the thread is created', async (_, superstep) => {
  await using http = await openApp({ graphs: ['echo'] });
  const thread = { metadata: { graph_id: 'echo' }, supersteps: [superstep] };
  expect(await http.post('/threads', thread)).toMatchObject({
    status: 422,
    body: { detail: naming('updates', 200) },
  });
  expect((await http.post('/threads/count', {})).body).toBe(0);
});

test.each([
  ['a text', z.object({ name: z.string().min(1) }), ['body.name: text']],
  ['a text in a list', z.array(z.string()).max(3).optional(), ['body[]: text']],
  ['a list', z.looseObject({ ids: z.array(z.guid()).nullish() }), ['body.ids: list']],
  ['a list behind a transformation', z.preprocess((one) => one, z.array(z.enum(['a']))), ['body: list']],
  ['a text before a transformation', z.string().transform(Number).pipe(z.int()), ['body: text']],
  ['a map', z.record(z.string(), z.int()).default({}), ['body: map', 'body{key}: text']],
  ['a branch of a union', z.union([z.literal('*'), z.string()]), ['body: text']],
])('the check for maxima finds %s without one', (_, schema, places) => {
  expect(unboundedPlaces(schema, 'body')).toEqual(places);
});

test('the check for maxima does not report bounded and free fields', () => {
  const schema = z.looseObject({
    id: z.guid(),
    name: z.string().max(9).optional(),
    names: z.array(z.string().max(9)).max(9),
    any: z.unknown(),
    metadata: z.record(z.string(), z.unknown()),
    mode: z.enum(['a', 'b']).default('a'),
  });
  expect(unboundedPlaces(schema, 'body')).toEqual([]);
});
