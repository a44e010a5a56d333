import { expect, test } from 'vitest';
import { type Actor, systemActor } from '../../src/auth/actor.ts';
import { Unavailable } from '../../src/core/errors.ts';
import { answerInside } from '../../src/http/inside.ts';
import { refuseWhileDraining } from '../../src/services/run-submit.ts';
import { bareServer } from '../support/bare-server.ts';

test('what the project’s code asks of its own server comes from within, and nothing else does', async () => {
  const actors: Actor[] = [];
  const count = async (actor: Actor) => actors.push(actor);
  await using http = await bareServer({ services: { threads: { count } } });
  const url = `${await http.listen()}/threads/count`;
  const asked = () => new Request(url, { method: 'POST', body: '{}' });
  expect((await answerInside(http.server, asked())).status).toBe(200);
  expect((await fetch(asked())).status).toBe(200);
  expect(actors.map(({ from_within }) => from_within)).toEqual([true, undefined]);
});

test('while the server stops, a run that still executes may ask for another', () => {
  const draining = AbortSignal.abort();
  const outside = systemActor('one');
  expect(() => refuseWhileDraining({ draining }, outside)).toThrow(Unavailable);
  refuseWhileDraining({ draining }, { ...outside, from_within: true });
  refuseWhileDraining({ draining: new AbortController().signal }, outside);
});
