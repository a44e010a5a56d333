import { createContext, use } from 'react';
import { report, stop, submit } from './channel.ts';
import type { StreamState } from './protocol.ts';

/** The subset of the official client's stream that makes sense in a frame. */
interface StreamContext extends StreamState {
  readonly meta: unknown;
  readonly interrupt: unknown;
  readonly submit: (values: unknown, options?: { readonly command?: unknown }) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** `undefined` until the chat has sent the state. It does so only for components that ask. */
export const Stream = createContext<StreamContext | undefined>(undefined);

let arrive: () => void;
const arriving = new Promise<void>((resolve) => {
  arrive = resolve;
});

export function useStreamContext(): StreamContext {
  const stream = use(Stream);
  if (stream) return stream;
  report({ type: 'wants stream' });
  use(arriving);
  throw new Error('The state of the thread could not be loaded.');
}

export function contextOf(stream: StreamState | undefined, meta: unknown): StreamContext | undefined {
  if (stream === undefined) return undefined;
  arrive();
  return {
    ...stream,
    meta,
    interrupt: stream.interrupts[0],
    submit: async (values, options) => submit(values, options?.command),
    stop: async () => stop(),
  };
}
