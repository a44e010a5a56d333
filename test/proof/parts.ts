import { closeAll } from '../../src/core/lifecycle.ts';
import { compareWith } from '../bench/compare.ts';
import type { Result } from '../bench/measurements.ts';
import { runsThroughKills, WHOLE } from '../chaos/killed-runs.ts';
import { startChaosServer } from '../chaos/server.ts';
import { openEngines } from '../interleaving/engines.ts';
import { explore } from '../interleaving/explore.ts';
import { OFFICIAL_VERSION, officialServer } from './official-server.ts';

/** A line of the table. */
export interface Row {
  readonly what: string;
  readonly figure: string;
  /** The command that reproduces it. */
  readonly command: string;
  /** A promise that was not kept. */
  readonly failed?: true;
}

const COMMAND = 'npm run proof';

/** Kills the server under background runs, and counts those that executed each of their steps once. */
export async function killNine(count: number, killed_after: readonly number[]): Promise<Row> {
  // An unlucky run is there at every kill.
  await using server = await startChaosServer({ BG_JOB_MAX_RETRIES: `${killed_after.length + 2}` });
  const { values } = await runsThroughKills(server, count, killed_after);
  const whole = values.filter((value) => JSON.stringify(value) === JSON.stringify(WHOLE)).length;
  return {
    what: `Runs that resume and execute each step once, with \`kill -9\` ${times(killed_after.length)}`,
    figure: `${whole} of ${count}`,
    command: `${COMMAND} -- chaos`,
    ...(whole < count && { failed: true }),
  };
}

/** Plays random interleavings of all operations of the queue on SQLite, and checks its invariants after each step. */
export async function interleavings(runs: number, seed: number): Promise<Row> {
  const engines = await openEngines('sqlite', 1);
  try {
    const { played, steps, failure } = await explore({ engines, runs, seed, shrink_ms: 0 });
    const violations = failure === undefined ? 'no violation' : 'a violation';
    return {
      what: 'Random interleavings of concurrent operations of the queue',
      figure: `${violations} in ${numeral(played)} (${numeral(steps)} steps)`,
      command: `${COMMAND} -- interleavings`,
      ...(failure !== undefined && { failed: true }),
    };
  } finally {
    await closeAll(engines.map((engine) => () => engine[Symbol.asyncDispose]()));
  }
}

const ECHO_ALONE = 'echo, 1 at once';
const ECHO = 'echo, 64 at once';
const TOKENS = '200 tokens, 16 at once';
/** As `hosts.count: auto` begins. */
const OURS = 'this server, 1 graph host';

/** Sends the same load to this server and to the official one, in turns. Throws if that one cannot be had. */
export async function sideBySide(rounds: number): Promise<Row[]> {
  await using official = await officialServer();
  const result = await compareWith([{ url: official.url }], 1, { rounds, loads: [ECHO_ALONE, ECHO, TOKENS] });
  return comparedRows(result, official.url);
}

/** The rows of a comparison with the server at `url`. */
export function comparedRows({ measurements }: Pick<Result, 'measurements'>, url: string): Row[] {
  const value = (what: string, server: string) => {
    const found = measurements.find((each) => each.what === `${what} ${server}`);
    if (found === undefined) throw new Error(`The comparison has no "${what}" of ${server}.`);
    return found.value;
  };
  const row = (what: string, figure: (server: string) => string): Row => ({
    what: `${what}, against the official JavaScript server ${OFFICIAL_VERSION}`,
    figure: `${figure(OURS)}, against ${figure(url)}`,
    command: `${COMMAND} -- benchmark`,
  });
  const rate = (load: string, factor: number, unit: string) => (server: string) =>
    `${numeral(Math.round(value(`${load}, rate:`, server) * factor))} ${unit}`;
  return [
    row('Smallest graph, p50', (server) => `${value(`${ECHO_ALONE}, p50:`, server).toFixed(1)} ms`),
    row('Smallest graph, 64 clients', rate(ECHO, 1, 'runs a second')),
    row('Streams of 200 tokens, 16 clients', rate(TOKENS, 200, 'tokens a second')),
  ];
}

/** The rows as a table of Markdown. */
export function markdown(rows: readonly Row[]): string {
  const lines = rows.map(({ what, figure, command }) => `| ${what} | ${figure} | \`${command}\` |`);
  return ['| | figure | reproduce it |', '|---|---|---|', ...lines].join('\n');
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

function numeral(value: number): string {
  return value.toLocaleString('en-US');
}
