import { peakResidentBytes, residentBytes } from '../support/process-usage.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { type CaseStats, runCase } from './cases.ts';
import { FUZZED } from './graphs.ts';

const MIB = 1024 ** 2;
/** Of the heap, so that what is kept for ever ends the server, and of what a server holds that has answered. */
const HEAP_MIB = 1024;
const RESIDENT_MIB = 1024;
const MEMORY_BACK_MS = 60_000;
const CASES_BETWEEN = 100;
/** More of the same helps nobody. */
const MOST_FAILURES = 10;

/** A server with the graphs that are fuzzed, and little memory. */
export function serverOfFixtures(): Promise<TestServer> {
  const graphs = Object.fromEntries(Object.entries(FUZZED).map(([name, { path }]) => [name, path]));
  const env = {
    LANGGRAPH_HTTP: '{"openai":{"enabled":true}}',
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}`,
  };
  return startServer({ graphs, env });
}

/**
 * Sends odd messages for so many seconds, beginning with what the number `first` makes. False, after saying what each
 * failure was, when there were any.
 */
export async function fuzzMessages(seconds: number, first: number): Promise<boolean> {
  await using server = await serverOfFixtures();
  const stats: CaseStats[] = [];
  let failures = 0;
  const end = performance.now() + seconds * 1000;
  for (let seed = first; failures < MOST_FAILURES; seed++) {
    try {
      stats.push(await runCase(server, seed));
      const isOver = performance.now() > end;
      if (isOver || stats.length % CASES_BETWEEN === 0) await untilSmall(server);
      if (isOver) break;
    } catch (error) {
      failures += 1;
      console.error(`\n${(error as Error).message}`);
      const logged = server.log.findLast(({ level }) => level === 'error');
      if (logged) console.error(`the last error in the log: ${JSON.stringify(logged).slice(0, 2000)}`);
      if (!isAlive(server)) {
        console.error(`the server has ended: ${server.errors}`);
        break;
      }
    }
  }
  console.log(`\n${summary(stats)}, ${memory(server)}, ${failures} failures`);
  return failures === 0;
}

/** The process gives memory back some time after it is done. */
async function untilSmall({ pid }: TestServer): Promise<void> {
  const isSmall = () => residentBytes(pid) < RESIDENT_MIB * MIB;
  await until(`the server holds less than ${RESIDENT_MIB} MiB`, isSmall, MEMORY_BACK_MS);
}

function isAlive({ pid }: TestServer): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function summary(stats: readonly CaseStats[]): string {
  const statuses = Map.groupBy(
    stats.flatMap((each) => each.statuses),
    (status) => status,
  );
  const answers = [...statuses].sort(([a], [b]) => a - b).map(([status, all]) => `${status} × ${all.length}`);
  const held_ms = Math.max(0, ...stats.map((each) => each.held_ms));
  return `${stats.length} cases, by status: ${answers.join(', ')}; at most ${Math.round(held_ms)} ms held`;
}

function memory(server: TestServer): string {
  if (!isAlive(server)) return 'nothing left';
  const mib = [residentBytes(server.pid), peakResidentBytes(server.pid)].map((bytes) =>
    Math.round(bytes / MIB),
  );
  return `${mib[0]} MiB in memory, ${mib[1]} at most`;
}
