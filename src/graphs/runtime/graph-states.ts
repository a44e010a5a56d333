import { isObject } from '../../core/json.ts';

/** The last state of a graph and its interrupts, and those of the graphs that its superstep has called. */
interface GraphState {
  values: unknown;
  readonly interrupts: unknown[];
  readonly inner: Map<string, GraphState>;
}

/** The last states of the graphs of a run, for mode `values`. */
export class GraphStates {
  readonly #root = newState();

  /**
   * LangGraph.js sends an interrupt as a separate state; clients expect it in the last state (contract §17). An
   * interrupted graph ends with this superstep, so that later states, from parallel tasks, are still interrupted.
   */
  withInterrupts(namespace: readonly string[], payload: unknown): unknown {
    const state = stateAt(this.#root, namespace);
    const interrupts = isObject(payload) ? payload.__interrupt__ : undefined;
    if (!Array.isArray(interrupts)) {
      state.values = payload;
      // The superstep has ended, and the graphs it called with it. A run may call thousands, each with a large state.
      if (state.interrupts.length === 0) state.inner.clear();
    }
    // `interrupt_before` and `interrupt_after` stop with an empty list, which carries no information.
    else if (interrupts.length === 0) return undefined;
    else state.interrupts.push(...interrupts);
    if (state.interrupts.length === 0) return payload;
    return { ...(isObject(state.values) && state.values), __interrupt__: [...state.interrupts] };
  }
}

function newState(): GraphState {
  return { values: {}, interrupts: [], inner: new Map() };
}

function stateAt(root: GraphState, namespace: readonly string[]): GraphState {
  return namespace.reduce((state, name) => {
    const inner = state.inner.get(name) ?? newState();
    state.inner.set(name, inner);
    return inner;
  }, root);
}
