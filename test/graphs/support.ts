import { cp, mkdir, mkdtemp, readdir, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { InMemoryStore, MemorySaver } from '@langchain/langgraph';
import { silentLogger } from '../../src/core/logger.ts';
import { fromUtf8 } from '../../src/core/text.ts';
import { PROTOCOL_NOTE } from '../../src/events/frame.ts';
import type {
  GraphCall,
  GraphEvent,
  GraphMemory,
  GraphRuntime,
  HistoryQuery,
} from '../../src/graphs/graph.ts';
import type { GraphSpec } from '../../src/graphs/project/configured-graphs.ts';
import { loadGraphs } from '../../src/graphs/runtime/load-graphs.ts';
import type { ThreadState } from '../../src/schemas/thread-state.ts';
import { graphCall } from '../support/graph-thread.ts';

export const FIXTURES = join(import.meta.dirname, '../fixtures/graphs');

/** Loads `{name: 'file:export'}` of the fixtures, or of another folder. */
export function load(graphs: Record<string, string>, root = FIXTURES, limit_ms?: number) {
  const specs = Object.entries(graphs).map(([graph_id, spec]): GraphSpec => {
    const [path = '', name = ''] = spec.split(':');
    return { graph_id, path, export: name };
  });
  return loadGraphs(specs, { root, logger: silentLogger, ...(limit_ms && { limit_ms }) });
}

const MODULES = resolve(import.meta.dirname, '../../node_modules');

/** A project elsewhere on the machine with copies of these packages of LangChain; of all else it uses ours. */
export async function projectWithCopies(copied: readonly string[]): Promise<string> {
  const project = await mkdtemp(join(tmpdir(), 'project-with-copies-'));
  const modules = join(project, 'node_modules');
  await mkdir(join(modules, '@langchain'), { recursive: true });
  for (const name of await readdir(MODULES)) {
    if (!name.startsWith('.') && name !== '@langchain')
      await symlink(join(MODULES, name), join(modules, name));
  }
  for (const name of await readdir(join(MODULES, '@langchain'))) {
    const [from, to] = [join(MODULES, '@langchain', name), join(modules, '@langchain', name)];
    if (!copied.includes(name)) await symlink(from, to);
    else await cp(from, to, { recursive: true, filter: (path) => !/\.(map|cjs|cts|d\.ts)$/.test(path) });
  }
  return project;
}

/** A conversation of a test with one graph: all calls are on one thread and share its memory. */
export class Conversation {
  readonly memory: GraphMemory = { checkpointer: new MemorySaver(), store: new InMemoryStore() };
  readonly configurable = { thread_id: crypto.randomUUID() };
  readonly graph: GraphRuntime;

  constructor(graph: GraphRuntime) {
    this.graph = graph;
  }

  static async with(name: string): Promise<Conversation> {
    const graphs = await load({ [name]: `./${name}.ts:graph` });
    return new Conversation(await graphs.get(name, { configurable: {} }, 'threads.create_run'));
  }

  get config() {
    return { configurable: this.configurable };
  }

  stream(call: Partial<GraphCall>): AsyncIterable<GraphEvent> {
    const events = this.graph.stream({
      ...graphCall(),
      config: this.config,
      memory: this.memory,
      ...call,
    });
    // Without `notices` there is nothing else.
    return events as AsyncIterable<GraphEvent>;
  }

  /** The events of its stream modes, through JSON as clients get them. */
  async run(call: Partial<GraphCall>): Promise<{ event: string; data: unknown }[]> {
    const events = [];
    for await (const { event, data } of this.stream(call)) {
      if (event.startsWith(PROTOCOL_NOTE)) continue;
      events.push({ event, data: JSON.parse(JSON.stringify(data)) });
    }
    return events;
  }

  /** The data of all events of one name. */
  async dataOf(event: string, call: Partial<GraphCall>): Promise<unknown[]> {
    return (await this.run(call)).filter((each) => each.event === event).map(({ data }) => data);
  }

  state(configurable: Record<string, unknown> = {}, subgraphs = false) {
    const config = { configurable: { ...this.configurable, ...configurable } };
    return this.graph.state(config, this.memory, subgraphs);
  }

  async history(query: Partial<HistoryQuery> = {}): Promise<ThreadState[]> {
    const whole = { config: this.config, limit: 10, memory: this.memory, ...query };
    return JSON.parse(fromUtf8(await this.graph.historyJson(whole)));
  }

  update(values: unknown, as_node?: string, configurable: Record<string, unknown> = {}) {
    const config = { configurable: { ...this.configurable, ...configurable } };
    return this.graph.update({ config, values, as_node, memory: this.memory });
  }
}
