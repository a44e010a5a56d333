import { isObject } from '../core/json.ts';
import type { Frame } from '../events/frame.ts';

/**
 * Tells whether a frame comes from one of these graphs themselves, not from a graph below them. `''` is the root graph,
 * `a:<task id>|b:<task id>` one inside it, `a|b` the same whichever its tasks. What belongs to the whole run passes.
 */
export function frameNamespaces(namespaces: readonly string[]): (frame: Frame) => boolean {
  const wanted = new Set(namespaces);
  /** By message id: what is told of a message after its metadata has no place of its own. */
  const messages = new Map<string, string>();

  function placeOf({ event, data }: Frame): string {
    const [name = '', ...segments] = event.split('|');
    if (segments.length > 0 || !name.startsWith('messages')) return segments.join('|');
    if (name === 'messages/metadata') return announced(JSON.parse(data));
    const [message, metadata] = JSON.parse(data) as [{ id?: string }, unknown];
    return name === 'messages' ? holder(metadata) : (messages.get(message.id ?? '') ?? '');
  }

  function announced(told: Record<string, { metadata?: unknown }>): string {
    const [[id, entry] = ['', {}]] = Object.entries(told);
    const place = holder(entry.metadata);
    messages.set(id, place);
    return place;
  }

  return (frame) => {
    if (frame.event === 'metadata') return true;
    const place = placeOf(frame);
    return wanted.has(place) || wanted.has(nodesOf(place));
  };
}

/** The graph that holds the node which a message came from. */
function holder(metadata: unknown): string {
  const node = isObject(metadata) ? metadata['langgraph_checkpoint_ns'] : undefined;
  return typeof node === 'string' ? node.split('|').slice(0, -1).join('|') : '';
}

/** Without the ids of tasks. */
function nodesOf(place: string): string {
  return place
    .split('|')
    .map((segment) => segment.split(':')[0])
    .join('|');
}
