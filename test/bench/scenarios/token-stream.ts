import { type BenchServer, benchServer } from '../bench-server.ts';
import { percentiles, type Scenario } from '../figures.ts';

const TOKENS = 200;
const WARM_UP = 20;
const STREAMS = 100;
const RUN = { assistant_id: 'tokens', input: { count: TOKENS }, stream_mode: ['messages-tuple'] };

/** A chat model's answer of 200 tokens, streamed as fast as the model can. */
export const tokenStream: Scenario = {
  title: `${TOKENS} tokens streamed`,
  async run() {
    await using server = await benchServer();
    for (let i = 0; i < WARM_UP; i++) await stream(server);
    const streams: Stream[] = [];
    const cpu = server.cpu();
    for (let i = 0; i < STREAMS; i++) streams.push(await stream(server));
    const cpu_seconds = server.cpu() - cpu;
    const events = streams.reduce((sum, { events }) => sum + events, 0);
    return [
      ...percentiles(
        'request to first event',
        streams.map(({ first_ms }) => first_ms),
        10,
      ),
      ...percentiles(
        'last event to end of stream',
        streams.map(({ close_ms }) => close_ms),
        10,
      ),
      ...percentiles(
        'whole stream',
        streams.map(({ whole_ms }) => whole_ms),
      ),
      { what: 'events a second of server CPU', value: events / cpu_seconds, unit: 'events/s' },
    ];
  },
};

interface Stream {
  readonly events: number;
  readonly first_ms: number;
  readonly close_ms: number;
  readonly whole_ms: number;
}

async function stream({ http }: BenchServer): Promise<Stream> {
  const started = performance.now();
  const { events } = await http.stream('POST', '/runs/stream', { body: RUN });
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
