import type { SessionDeps } from '../../src/http/event-streaming/websocket-session.ts';

/** An event streaming service that answers commands with nothing, and whose subscriptions last until their client leaves. */
export function endlessSubscription() {
  const ended = Promise.withResolvers<void>();
  const eventStreaming = {
    async connect(_actor: unknown, _thread_id: string, _sink: unknown, signal: AbortSignal) {
      signal.addEventListener('abort', () => ended.resolve());
      return { served: ended.promise, command: async () => ({}) };
    },
  } as unknown as SessionDeps['eventStreaming'];
  return { eventStreaming, ended: ended.promise };
}
