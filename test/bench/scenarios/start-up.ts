import { setTimeout as sleep } from 'node:timers/promises';
import { developing } from '../../support/developing.ts';
import { project } from '../../support/project.ts';
import { until } from '../../support/until.ts';
import { type BenchServer, benchServer, ECHO } from '../bench-server.ts';
import { measureLoad } from '../load.ts';
import { type Measurement, percentile, type Scenario } from '../measurements.ts';

const STARTS = 5;
const RUNS = [1000, 10_000];
/** An idle server collects its garbage after 30 s; V8 gives the pages back eight seconds later. */
const IDLE_MS = 45_000;

/** From the start of the process to its first answer, and the memory that it holds. */
export const startUp: Scenario = {
  title: 'Start-up and memory',
  async run() {
    const ofDev = await devReloads();
    await using server = await benchServer();
    const starts_ms: number[] = [];
    for (let i = 0; i < STARTS; i++) starts_ms.push(await restart(server));
    const measurements: Measurement[] = [
      { what: 'start to /ok, median', value: percentile(starts_ms, 0.5) / 1000, unit: 's', aim: 0.6 },
      { what: 'start to /ok, longest', value: Math.max(...starts_ms) / 1000, unit: 's' },
      ...ofDev,
      { what: 'CPU of a start', value: server.cpu(), unit: 's' },
      memory(server, 'just started'),
    ];
    await sleep(IDLE_MS);
    measurements.push(memory(server, 'at rest', 150));
    const request = () => server.http.call('POST', '/runs/wait', ECHO);
    let done = 0;
    for (const runs of RUNS) {
      await measureLoad({ concurrency: 8, count: runs - done, request });
      done = runs;
      measurements.push(memory(server, `after ${runs} runs`));
      await sleep(IDLE_MS);
      measurements.push(memory(server, `after ${runs} runs, idle for ${IDLE_MS / 1000} s`, 200));
    }
    return measurements;
  },
};

function memory(server: BenchServer, when: string, aim?: number): Measurement {
  const value = server.residentMegabytes();
  return { what: `resident memory ${when}`, value, unit: 'MB', ...(aim !== undefined && { aim }) };
}

const GRAPH = `
import { Annotation, START, StateGraph } from '@langchain/langgraph';
import { word } from './word.js';
const State = Annotation.Root({ said: Annotation<string>() });
export const graph = new StateGraph(State).addNode('say', () => ({ said: word })).addEdge(START, 'say').compile();
`;

/** `agent-server dev`, from a change of a file that a graph imports to graph hosts that have loaded it. */
async function devReloads(): Promise<Measurement[]> {
  await using folder = await project({
    'agent.config.yaml': 'graphs: { talker: "./src/talker.ts:graph" }\nserver: { port: 0 }\n',
    'src/talker.ts': GRAPH,
    'src/word.ts': "export const word = '0';",
  });
  await using server = await developing(folder);
  const loaded = () => server.lines.filter((line) => line.includes('change loaded')).length;
  const reloads_ms: number[] = [];
  for (let n = 1; n <= STARTS; n++) {
    const changed = performance.now();
    await folder.write({ 'src/word.ts': `export const word = '${n}';` });
    await until('the change is loaded', () => loaded() === n);
    reloads_ms.push(performance.now() - changed);
  }
  const value = percentile(reloads_ms, 0.5) / 1000;
  return [{ what: 'dev: from a changed file to loaded, median', value, unit: 's', aim: 1 }];
}

async function restart({ process, http }: BenchServer): Promise<number> {
  await process.kill('SIGTERM');
  const started = performance.now();
  await process.restart();
  await http.call('GET', '/ok');
  return performance.now() - started;
}
