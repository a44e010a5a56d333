import Database from 'better-sqlite3';
import { type BenchServer, benchServer } from '../bench-server.ts';
import { type Measurement, percentile, type Scenario } from '../measurements.ts';

const TURNS = 100;
const WARM_UP = 20;
/** Single turns are noisy; the measurement is the median over this many threads. */
const THREADS = 5;
const MEGABYTE = 1024 ** 2;

/** A conversation that goes on: does a turn cost more the longer it is, and does storage grow with its square? */
export const longThread: Scenario = {
  title: `A thread of ${TURNS} turns`,
  async run() {
    await using server = await benchServer();
    await talk(server, WARM_UP);
    const before = storedBytes(server);
    const threads: Conversation[] = [];
    for (let i = 0; i < THREADS; i++) threads.push(await talk(server, TURNS));
    const after = storedBytes(server);

    const state = threads.reduce((sum, { state_bytes }) => sum + state_bytes, 0);
    const stored = after.lasting - before.lasting;
    const a_thread = (what: string, bytes: number): Measurement => ({
      what: `${what} of a thread`,
      value: bytes / THREADS / MEGABYTE,
      unit: 'MB',
    });
    return [
      ...[1, TURNS / 2, TURNS].map((turn) => latency(threads, turn)),
      a_thread('final state', state),
      a_thread('database', stored),
      { what: 'database ÷ final state', value: stored / state, unit: '×' },
      a_thread('event logs, dropped later,', after.logs - before.logs),
    ];
  },
};

interface Conversation {
  readonly latencies_ms: number[];
  /** JSON text of the values at the end. */
  readonly state_bytes: number;
}

function latency(threads: readonly Conversation[], turn: number): Measurement {
  const samples = threads.map(({ latencies_ms }) => latencies_ms[turn - 1] as number);
  return { what: `turn ${turn}`, value: percentile(samples, 0.5), unit: 'ms' };
}

async function talk({ http }: BenchServer, turns: number): Promise<Conversation> {
  const { thread_id } = await http.call<{ thread_id: string }>('POST', '/threads', {});
  const latencies_ms: number[] = [];
  for (let turn = 1; turn <= turns; turn++) {
    const input = { messages: [{ role: 'user', content: `Question ${turn}: what does the fox do?` }] };
    const started = performance.now();
    await http.call('POST', `/threads/${thread_id}/runs/wait`, { assistant_id: 'conversation', input });
    latencies_ms.push(performance.now() - started);
  }
  const { values } = await http.call<{ values: unknown }>('GET', `/threads/${thread_id}/state`);
  return { latencies_ms, state_bytes: Buffer.byteLength(JSON.stringify(values)) };
}

/** Pages of the database in use, with those of the indices. */
function storedBytes({ process }: BenchServer): { lasting: number; logs: number } {
  const database = new Database(process.database, { readonly: true });
  try {
    const used = (name: string) =>
      database
        .prepare(`select coalesce(sum(pgsize), 0) from dbstat where name ${name}`)
        .pluck()
        .get() as number;
    return { lasting: used("not like '%run_event%'"), logs: used("like '%run_event%'") };
  } finally {
    database.close();
  }
}
