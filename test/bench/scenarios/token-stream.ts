import { type BenchServer, benchServer } from '../bench-server.ts';
import { measureLoad } from '../load.ts';
import { type Measurement, percentiles, type Scenario } from '../measurements.ts';

const TOKENS = 200;
const WARM_UP = 20;
const STREAMS = 100;
const AIM_MS = 10;

/** A chat model's answer of 200 tokens, streamed as fast as the model can. */
export const tokenStream: Scenario = {
  title: `${TOKENS} tokens streamed`,
  async run() {
    await using server = await benchServer({ concurrency: 64 });
    for (let i = 0; i < WARM_UP; i++) await stream(server, i % 2 === 0);
    // Node takes one new connection in each turn of its event loop: not what is measured here.
    await Promise.all(Array.from({ length: 64 }, () => server.http.send('GET', '/ok')));
    return [
      ...(await streams(server, { concurrency: 1, count: STREAMS }, false)),
      ...(await streams(server, { concurrency: 1, count: STREAMS }, true)),
      ...(await streams(server, { concurrency: 16, count: 2 * STREAMS }, false)),
      ...(await streams(server, { concurrency: 16, count: 2 * STREAMS }, true)),
      ...(await streams(server, { concurrency: 64, count: 4 * STREAMS }, false)),
      ...(await streams(server, { concurrency: 64, count: 4 * STREAMS }, true)),
    ];
  },
};

interface Stream {
  readonly events: number;
  readonly first_ms: number;
  readonly close_ms: number;
  readonly whole_ms: number;
}

async function streams(
  server: BenchServer,
  load: { concurrency: number; count: number },
  resumable: boolean,
): Promise<Measurement[]> {
  const done: Stream[] = [];
  const cpu = server.cpu();
  const request = async () => done.push(await stream(server, resumable));
  const { wall_ms } = await measureLoad({ ...load, request });
  const cpu_seconds = server.cpu() - cpu;
  const events = done.reduce((sum, one) => sum + one.events, 0);
  const at = `${load.concurrency} at once${resumable ? ', resumable' : ''}:`;
  const all = (field: 'first_ms' | 'close_ms' | 'whole_ms') => done.map((one) => one[field]);
  const latencies =
    load.concurrency === 1
      ? [
          ...percentiles(`${at} request to first event`, all('first_ms'), AIM_MS),
          ...percentiles(`${at} last event to end of stream`, all('close_ms'), AIM_MS),
        ]
      : [];
  return [
    ...latencies,
    ...percentiles(`${at} whole stream`, all('whole_ms')),
    { what: `${at} events a second`, value: (events / wall_ms) * 1000, unit: 'events/s' },
    { what: `${at} events a second of server CPU`, value: events / cpu_seconds, unit: 'events/s' },
  ];
}

async function stream({ http }: BenchServer, resumable: boolean): Promise<Stream> {
  const body = {
    assistant_id: 'tokens',
    input: { count: TOKENS },
    stream_mode: ['messages-tuple'],
    stream_resumable: resumable,
  };
  const started = performance.now();
  const { events } = await http.stream('POST', '/runs/stream', { body });
  let count = 0;
  let first = 0;
  let last = 0;
  for await (const _ of events) {
    last = performance.now();
    if (count++ === 0) first = last;
  }
  const closed = performance.now();
  if (count < TOKENS) throw new Error(`a stream brought ${count} events for ${TOKENS} tokens`);
  return { events: count, first_ms: first - started, close_ms: closed - last, whole_ms: closed - started };
}
