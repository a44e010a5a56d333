import { parseArgs } from 'node:util';
import type { Measurement } from '../bench/measurements.ts';
import { table } from '../bench/report.ts';
import { clients } from './clients.ts';
import { followers } from './followers.ts';
import { runs } from './runs.ts';

interface Soak {
  readonly title: string;
  /** What the requirement names; `--count` may ask for less. */
  readonly count: number;
  readonly run: (count: number) => Promise<Measurement[]>;
}

const SOAKS: Readonly<Record<string, Soak>> = {
  followers: { title: 'one run, followed on two processes', count: 1000, run: followers },
  clients: { title: 'event streams cut in random states', count: 10_000, run: clients },
  runs: { title: 'short runs, and what they leave of the queue', count: 1_000_000, run: runs },
};

/** `npm run soak -- followers|clients|runs [--count N]`: docs/performance.md says what the measurements mean. */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { count: { type: 'string' } },
});
const [name = '', ...more] = positionals;
const soak = SOAKS[name];
const count = Number(values.count ?? soak?.count);
if (!soak || more.length > 0 || !Number.isInteger(count) || count < 100) {
  console.error(`usage: npm run soak -- ${Object.keys(SOAKS).join('|')} [--count N], with N of at least 100`);
  process.exit(2);
}
const title = `${soak.title}, ${count}`;
console.log(table({ scenario: name, title, measurements: await soak.run(count) }));
