import { isEnd } from '../../events/frame.ts';
import type { Namespace } from '../../schemas/event-streaming.ts';
import type { Ending, Frame } from '../../storage/runs/events.ts';
import { endedAs } from './events.ts';

export interface AgentTree {
  readonly namespace: Namespace;
  status: string;
  readonly graph_name: string;
  children?: AgentTree[];
}

/** The graphs of a run with their subgraphs, as the lifecycle events in its log tell of them. */
export function agentTree(graph_name: string, frames: readonly Frame[]): AgentTree {
  const root: AgentTree = { namespace: [], status: 'running', graph_name };
  const known = new Map<string, AgentTree>([['', root]]);
  for (const frame of frames) {
    if (isEnd(frame)) root.status = String(endedAs(JSON.parse(frame.data) as Ending)['event']);
    else note(known, root, frame);
  }
  return root;
}

function note(known: Map<string, AgentTree>, root: AgentTree, frame: Frame): void {
  const { namespace, data } = JSON.parse(frame.data) as { namespace: string[]; data: Lifecycle };
  const key = namespace.join('|');
  const before = known.get(key);
  if (before) {
    before.status = data.event;
    return;
  }
  const node: AgentTree = {
    namespace,
    status: data.event,
    graph_name: data.graph_name ?? (namespace.at(-1) as string),
  };
  known.set(key, node);
  const above = known.get(namespace.slice(0, -1).join('|')) ?? root;
  above.children ??= [];
  above.children.push(node);
}

interface Lifecycle {
  readonly event: string;
  readonly graph_name?: string;
}
