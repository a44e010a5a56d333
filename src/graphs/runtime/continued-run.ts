import { systemClock } from '../../core/clock.ts';
import { isObject } from '../../core/json.ts';
import { checkpointOf } from '../checkpoint-config.ts';
import type { GraphCall } from '../graph.ts';
import { isLocalPregel, type RunnableGraph, type Snapshot } from '../runnable.ts';
import type { LangGraphEvent } from './protocol-stream.ts';
import { type SavedCheckpoint, savedCheckpoint } from './saved-checkpoint.ts';

/** Where a later attempt of a run continues. */
export interface Continuation {
  /**
   * The input is saved, and not yet applied. LangGraph then streams the state from before it, which no client of an attempt
   * without an interruption sees: a chat would lose the new message.
   */
  readonly isBeforeInput: boolean;
  /**
   * The state in which the graph has to stop: an earlier attempt ended between this checkpoint and the breakpoint there.
   * LangGraph would resume across it.
   */
  readonly breakpoint?: Snapshot | undefined;
}

const NEW_RUN: Continuation = { isBeforeInput: false };

/** `graph` has the memory of the run. */
export async function continuationOf(graph: RunnableGraph, call: GraphCall): Promise<Continuation> {
  if (!call.continues || !isLocalPregel(graph)) return NEW_RUN;
  const saved = await savedCheckpoint(call.memory.checkpointer, call.config.configurable);
  if (!saved) return NEW_RUN;
  const { checkpoint, metadata } = saved;
  // A command is applied by its checkpoint already.
  const isBeforeInput = metadata?.source === 'input' && '__start__' in checkpoint.channel_values;
  return { isBeforeInput, breakpoint: await breakpointAt(graph, call, saved) };
}

type Names = GraphCall['interrupt_before'];

/**
 * As LangGraph decides it, after a superstep and before the next one; for nodes of the graph itself, not those of its subgraphs
 * or tasks of the functional API.
 */
async function breakpointAt(
  graph: RunnableGraph,
  { interrupt_before, interrupt_after, config }: GraphCall,
  { checkpoint }: SavedCheckpoint,
): Promise<Snapshot | undefined> {
  const own = graph as { readonly interruptBefore?: Names; readonly interruptAfter?: Names };
  const before = interrupt_before ?? own.interruptBefore ?? [];
  const after = interrupt_after ?? own.interruptAfter ?? [];
  if (before.length + after.length === 0 || !hasChanged(checkpoint)) return undefined;
  const state = await graph.getState({ configurable: config.configurable });
  if (isOneOf(state.next, before)) return state;
  if (after.length === 0 || state.next.length === 0 || !state.parentConfig) return undefined;
  const parent = await graph.getState(state.parentConfig);
  // With durability `exit`, the checkpoint before is not of the superstep before.
  const isBefore = Number(parent.metadata?.['step']) + 1 === state.metadata?.['step'];
  return isBefore && isOneOf(parent.next, after) ? state : undefined;
}

/** Whether a channel has changed since the run last stopped. */
function hasChanged({ channel_versions, versions_seen }: SavedCheckpoint['checkpoint']): boolean {
  const seen = versions_seen['__interrupt__'] ?? {};
  return Object.entries(channel_versions).some(([channel, version]) => {
    const known = seen[channel];
    return known === undefined || version > known;
  });
}

function isOneOf(nodes: readonly string[], names: NonNullable<Names>): boolean {
  return nodes.some((node) => !node.startsWith('__') && (names === '*' || names.includes(node)));
}

/** Makes a copy of a graph, which a single run has, tell where it is, execute nothing, and end as at a breakpoint. */
export function stopAt(graph: RunnableGraph, { values, config }: Snapshot): void {
  const { outputChannels } = graph as { readonly outputChannels?: unknown };
  const isOutput = (channel: string) => !Array.isArray(outputChannels) || outputChannels.includes(channel);
  const state = isObject(values)
    ? Object.fromEntries(Object.entries(values).filter(([channel]) => isOutput(channel)))
    : values;
  const id = checkpointOf(config)?.checkpoint_id;
  async function* stream() {
    yield [[], 'checkpoints', { id }];
    yield [[], 'values', state];
    yield [[], 'updates', { __interrupt__: [] }];
  }
  // Version v2 has the chunks of the outermost run among its events.
  async function* chunkEvents() {
    for await (const chunk of stream()) yield { event: 'on_chain_stream', run_id: id, data: { chunk } };
  }
  const streamEvents = (_input: unknown, { version }: { readonly version: string }) =>
    version === 'v3' ? stateEvents(id, state) : chunkEvents();
  Object.assign(graph, { stream, streamEvents });
}

async function* stateEvents(id: unknown, state: unknown): AsyncGenerator<LangGraphEvent> {
  const at = { namespace: [], timestamp: systemClock.now() };
  yield { method: 'checkpoints', params: { ...at, data: { id } } };
  yield { method: 'values', params: { ...at, data: state } };
}
