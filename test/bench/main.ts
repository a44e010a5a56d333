import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { compareWith } from './compare.ts';
import type { Result, Scenario } from './measurements.ts';
import { table } from './report.ts';
import { autoConcurrency } from './scenarios/auto-concurrency.ts';
import { deployments } from './scenarios/deployments.ts';
import { encryption } from './scenarios/encryption.ts';
import { eventLoop } from './scenarios/event-loop.ts';
import { graphHosts } from './scenarios/graph-hosts.ts';
import { inProcess } from './scenarios/in-process.ts';
import { largeBodies } from './scenarios/large-bodies.ts';
import { lists } from './scenarios/lists.ts';
import { longThread } from './scenarios/long-thread.ts';
import { masking } from './scenarios/masking.ts';
import { mcpCalls } from './scenarios/mcp-calls.ts';
import { metrics } from './scenarios/metrics.ts';
import { processes } from './scenarios/processes.ts';
import { queueDepth } from './scenarios/queue-depth.ts';
import { history, state } from './scenarios/reads.ts';
import { search } from './scenarios/search.ts';
import { silentReaders } from './scenarios/silent-readers.ts';
import { sleepingRuns } from './scenarios/sleeping-runs.ts';
import { startUp } from './scenarios/start-up.ts';
import { steps } from './scenarios/steps.ts';
import { store } from './scenarios/store.ts';
import { talkativeRun } from './scenarios/talkative-run.ts';
import { tokenStream } from './scenarios/token-stream.ts';
import { traces } from './scenarios/traces.ts';
import { echo, tenSteps } from './scenarios/wait.ts';
import { waitingReaders } from './scenarios/waiting-readers.ts';
import { webhooks } from './scenarios/webhooks.ts';
import { workers } from './scenarios/workers.ts';

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  echo,
  'ten-steps': tenSteps,
  'in-process': inProcess,
  'graph-hosts': graphHosts,
  state,
  history,
  'long-thread': longThread,
  'token-stream': tokenStream,
  'mcp-calls': mcpCalls,
  'silent-readers': silentReaders,
  'talkative-run': talkativeRun,
  'waiting-readers': waitingReaders,
  'sleeping-runs': sleepingRuns,
  'auto-concurrency': autoConcurrency,
  'queue-depth': queueDepth,
  metrics,
  'large-bodies': largeBodies,
  'event-loop': eventLoop,
  masking,
  store,
  steps,
  traces,
  encryption,
  webhooks,
  'start-up': startUp,
  deployments,
  search,
  lists,
  processes,
  workers,
};

/** What `--engine` stands for: the scenarios that need several processes on one PostgreSQL. */
const ENGINES: Readonly<Record<string, readonly string[]>> = { postgres: ['processes', 'workers'] };

/**
 * `npm run bench [-- scenario …] [--engine postgres] [--json FILE]`, or `--compare URL [--pid PID] [--hosts N]` instead of scenarios:
 * docs/performance.md says what the measurements mean.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'string' },
    engine: { type: 'string' },
    compare: { type: 'string', multiple: true },
    pid: { type: 'string', multiple: true },
    hosts: { type: 'string', default: '0' },
  },
});
const engine = values.engine === undefined ? [] : ENGINES[values.engine];
const unknown = positionals.filter((name) => !(name in SCENARIOS));
if (unknown.length > 0 || engine === undefined) {
  const wrong = engine === undefined ? `engine ${values.engine}` : `scenario ${unknown.join(', ')}`;
  const known = engine === undefined ? ENGINES : SCENARIOS;
  console.error(`unknown ${wrong}; there are ${Object.keys(known).join(', ')}`);
  process.exit(2);
}
const wanted = [...positionals, ...engine];

const results: Result[] = [];
if (values.compare === undefined) {
  for (const [name, { title, run }] of Object.entries(SCENARIOS)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const result = { scenario: name, title, measurements: await run() };
    results.push(result);
    console.log(table(result));
  }
} else {
  const pids = values.pid?.map(Number) ?? [];
  const others = values.compare.map((url, index) => ({ url, pid: pids[index] }));
  const result = await compareWith(others, Number(values.hosts));
  results.push(result);
  console.log(table(result));
}
if (values.json) await writeFile(values.json, `${JSON.stringify(results, null, 2)}\n`);
