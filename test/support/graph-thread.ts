import { fromUtf8 } from '../../src/core/text.ts';
import type { Db } from '../../src/db/db.ts';
import type { GraphCall, GraphRuntime } from '../../src/graphs/graph.ts';
import type { ThreadState } from '../../src/schemas/thread-state.ts';
import { type Memory, memoryOf } from './memory.ts';

/** A run without anything in particular, apart from its thread. */
export function graphCall(): Omit<GraphCall, 'config' | 'memory'> {
  return {
    input: null,
    command: null,
    context: null,
    stream_mode: ['values'],
    subgraphs: false,
    interrupt_before: null,
    interrupt_after: null,
    durability: 'async',
    signal: new AbortController().signal,
  };
}

/** A thread on which the graph runs, as a worker and the API have it. */
export class GraphThread {
  readonly memory: Memory;
  readonly graph: GraphRuntime;

  constructor(memory: Memory, graph: GraphRuntime) {
    this.memory = memory;
    this.graph = graph;
  }

  static async of(db: Db, graph: GraphRuntime): Promise<GraphThread> {
    return new GraphThread(await memoryOf(db), graph);
  }

  /** All events of a run. */
  async run(input: object | null, call: Partial<GraphCall> = {}): Promise<object[]> {
    const memory = { checkpointer: await this.memory.run(), store: undefined };
    const events = this.graph.stream({
      ...graphCall(),
      input,
      config: this.memory.config,
      memory,
      ...call,
    });
    const told = await Array.fromAsync(events).finally(() => this.memory.end());
    return JSON.parse(JSON.stringify(told));
  }

  async state(configurable: object = {}) {
    return this.graph.state(this.#at(configurable), await this.#outside(), true);
  }

  async values() {
    return (await this.state())?.values;
  }

  async history(): Promise<ThreadState[]> {
    const query = { config: this.memory.config, limit: 50, memory: await this.#outside() };
    return JSON.parse(fromUtf8(await this.graph.historyJson(query)));
  }

  async update(values: object) {
    const memory = await this.#outside();
    return this.graph.update({ config: this.memory.config, values, as_node: undefined, memory });
  }

  #at(configurable: object) {
    return { configurable: { ...this.memory.config.configurable, ...configurable } };
  }

  async #outside() {
    return { checkpointer: await this.memory.outside(), store: undefined };
  }
}
