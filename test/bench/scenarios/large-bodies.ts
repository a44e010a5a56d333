import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { peakResidentBytes, residentBytes } from '../../support/process-usage.ts';
import { benchServer } from '../bench-server.ts';
import { watchHealth } from '../health.ts';
import { type Measurement, percentiles, type Scenario } from '../measurements.ts';

const MB = 1024 ** 2;
const COUNT = 50;
const BYTES = 16 * MB;
/** After which memory that is not needed has gone back. */
const REST_MS = 30_000;

/** Many of the largest requests at once, by clients that come again when they are sent away. */
export const largeBodies: Scenario = {
  title: `${COUNT} requests of ${BYTES / MB} MB at once, half searches and half runs`,
  async run() {
    return [
      ...(await siege('by default', {})),
      ...(await siege('body_limit 17mb', { HTTP_MAX_REQUEST_BODY_BYTES: '17mb' })),
    ];
  },
};

async function siege(how: string, env: Readonly<Record<string, string>>): Promise<Measurement[]> {
  await using server = await benchServer({ env });
  const text = 'x'.repeat(BYTES - 1000);
  const run = { assistant_id: 'echo', input: { messages: [{ role: 'user', content: text }] } };
  const bodies = [{ metadata: { text } }, run].map((body) => Buffer.from(JSON.stringify(body)));
  const paths = ['/threads/search', '/runs/wait'];
  const health = watchHealth(server);
  const begun = performance.now();
  const statuses = await Promise.all(
    Array.from({ length: COUNT }, (_, i) =>
      insist(server.process.url + paths[i % 2], bodies[i % 2] as Buffer),
    ),
  );
  const wall_ms = performance.now() - begun;
  const latencies = await health.stop();
  const peak = peakResidentBytes(server.process.pid) / MB;
  await sleep(REST_MS);
  const count = (wanted: number) => statuses.flat().filter((status) => status === wanted).length;
  return [
    { what: `${how}: answered 200, 413, 422`, value: count(200) + count(413) + count(422), unit: '' },
    { what: `${how}: sent away with 503`, value: count(503), unit: '' },
    { what: `${how}: until all are answered`, value: wall_ms / 1000, unit: 's' },
    { what: `${how}: most memory`, value: peak, unit: 'MB', aim: 1024 },
    {
      what: `${how}: memory after 30 s of rest`,
      value: residentBytes(server.process.pid) / MB,
      unit: 'MB',
    },
    ...percentiles(`${how}: /ok meanwhile`, latencies, 200),
  ];
}

/** The status of each try, until one is an answer. */
async function insist(url: string, body: Buffer): Promise<number[]> {
  const seen: number[] = [];
  while (seen.length === 0 || seen.at(-1) === 503) {
    if (seen.length > 0) await sleep(500 + Math.random() * 1000);
    seen.push(await post(url, body));
  }
  return seen;
}

const agent = new Agent({ keepAlive: true });

async function post(url: string, body: Buffer): Promise<number> {
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  const sent = request(url, { method: 'POST', agent, headers });
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  answer.resume();
  await once(answer, 'close');
  return answer.statusCode ?? 0;
}
