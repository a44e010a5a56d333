import { expect, test } from 'vitest';
import { resolveClientHost } from '../../src/app/host-lookups.ts';
import { hostLookups } from '../../src/services/webhooks/host-lookups.ts';

const LONG_MS = 60_000;
const PUBLIC = ['93.184.216.34'];

/** Name servers that answer for some names, with addresses or a code, and never for any other. */
function nameServers(answers: Readonly<Record<string, readonly string[] | string>>, domains: string[] = []) {
  const asked: string[] = [];
  const stopped: string[] = [];
  const resolve = hostLookups({
    local: async (hostname) => (hostname === 'own.test' ? ['10.0.0.1'] : undefined),
    searchDomains: async () => domains,
    query(hostname, signal) {
      asked.push(hostname);
      signal.addEventListener('abort', () => stopped.push(hostname));
      const answer = answers[hostname];
      if (typeof answer === 'string')
        return Promise.reject(Object.assign(new Error(answer), { code: answer }));
      return answer ? Promise.resolve(answer) : new Promise(() => {});
    },
  });
  return { resolve, asked, stopped };
}

test('a host name is resolved at once while many others never answer', async () => {
  const { resolve, stopped } = nameServers({ 'good.test': PUBLIC });
  const slow = Array.from({ length: 20 }, (_, n) => resolve(`${n}.evil.example`, 50));
  const ends = Promise.allSettled(slow);
  expect(await resolve('good.test', LONG_MS)).toEqual(PUBLIC);
  expect(stopped).toEqual(['good.test']);
  for (const end of await ends) expect(end).toMatchObject({ reason: { code: 'ETIMEOUT' } });
  expect(stopped).toHaveLength(21);
});

test('names of the machine itself are resolved without DNS', async () => {
  const { resolve, asked } = nameServers({});
  expect(await resolve('own.test', LONG_MS)).toEqual(['10.0.0.1']);
  expect(asked).toEqual([]);
  expect(await resolveClientHost('localhost', LONG_MS)).toContain('127.0.0.1');
});

test('an unknown host name is looked up in the search domains, unless it is fully qualified', async () => {
  const answers = { 'svc.ns': 'ENOTFOUND', 'svc.ns.a.test': 'ENODATA', 'svc.ns.b.test': PUBLIC };
  const { resolve, asked } = nameServers({ ...answers, 'svc.ns.': 'ENOTFOUND' }, ['a.test', 'b.test']);
  expect(await resolve('svc.ns', LONG_MS)).toEqual(PUBLIC);
  await expect(resolve('svc.ns.', LONG_MS)).rejects.toMatchObject({ code: 'ENOTFOUND' });
  expect(asked).toEqual(['svc.ns', 'svc.ns.a.test', 'svc.ns.b.test', 'svc.ns.']);
});

test('a failure of the name servers is an error without a lookup in other domains', async () => {
  const { resolve, asked } = nameServers({ 'away.test': 'ESERVFAIL' }, ['a.test']);
  await expect(resolve('away.test', LONG_MS)).rejects.toMatchObject({ code: 'ESERVFAIL' });
  expect(asked).toEqual(['away.test']);
});
