import { expect, test } from 'vitest';
import { addressVariables, localUrl } from '../../src/config/address.ts';

const server = { host: '127.0.0.1', port: 8123, role: 'all' } as const;

test.each([
  ['127.0.0.1', undefined, 'http://127.0.0.1:8123'],
  ['0.0.0.0', undefined, 'http://127.0.0.1:8123'],
  ['::', undefined, 'http://127.0.0.1:8123'],
  ['::1', '/agents', 'http://[::1]:8123/agents'],
  ['agents.internal', '/agents', 'http://agents.internal:8123/agents'],
])('a server at %s with the mount prefix %s is reached at %s', (host, mount_prefix, url) => {
  expect(localUrl({ server: { ...server, host }, http: { mount_prefix } })).toBe(url);
});

test.each([
  ['is set if it is unset', undefined, 'http://127.0.0.1:8123'],
  ['is set if it is empty', '', 'http://127.0.0.1:8123'],
  ['replaces another port of this machine', 'http://localhost:2024', 'http://127.0.0.1:8123'],
  ['replaces an address that is no address', 'http://0.0.0.0:2024', 'http://127.0.0.1:8123'],
  ['of another machine is kept', 'https://agents.example.com', undefined],
])('LANGGRAPH_API_URL %s', (_, given, url) => {
  const variables = addressVariables({ server, http: {} }, { PORT: '1', LANGGRAPH_API_URL: given });

  expect(variables['PORT']).toBe('8123');
  expect(variables['LANGGRAPH_API_URL']).toBe(url);
});

test('a worker, which does not serve the API, sets no LANGGRAPH_API_URL', () => {
  expect(addressVariables({ server: { ...server, role: 'worker' }, http: {} }, {})).toEqual({ PORT: '8123' });
});

test('a port that is not known yet sets nothing', () => {
  expect(addressVariables({ server: { ...server, port: 0 }, http: {} }, {})).toEqual({});
});
