import { createHash } from 'node:crypto';
import { principalOf } from '../../src/auth/actor.ts';
import type { openApp } from './app.ts';

export const [FIRST, SECOND] = ['the-first-key', 'the-second-key'];
const digest = createHash('sha256').update(FIRST).digest('hex').slice(0, 16);
const KEY_ID = `config:${digest}`;

/** Headers of callers of every kind: of both keys, which the server has, and of tokens. */
export async function callersOf(
  server: Awaited<ReturnType<typeof openApp>>,
): Promise<Record<string, string>[]> {
  const tokenFor = async (grant: object) => {
    const { body } = await server.post('/auth/tokens', grant, { 'x-api-key': FIRST });
    return { authorization: `Bearer ${body.token}` };
  };
  const [assistant] = (await server.post('/assistants/search', {}, { 'x-api-key': FIRST })).body;
  const limit = { assistant_id: assistant.assistant_id };
  // Users whose names imitate other callers.
  const names = [
    KEY_ID,
    principalOf('key', KEY_ID),
    principalOf('token', KEY_ID, limit.assistant_id),
    'token',
  ];
  return [
    { 'x-api-key': FIRST },
    { 'x-api-key': SECOND },
    await tokenFor(limit),
    ...(await Promise.all(names.map((user) => tokenFor({ user })))),
  ];
}
