import { createContext, use } from 'react';
import { report, stop, submit } from './channel.ts';
import type { StreamState } from './protocol.ts';

/** As the official client gives it; what it has besides has no meaning in a frame. */
interface StreamContext extends StreamState {
  readonly meta: unknown;
  readonly interrupt: unknown;
  readonly submit: (values: unknown, options?: { readonly command?: unknown }) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** `undefined` until the chat has sent the state, which it does only to components that ask. */
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
  throw new Error('The state of the thread did not arrive.');
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
