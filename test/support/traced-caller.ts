import { resolve } from 'node:path';
import { openApp } from './app.ts';
import { receiver, TO_RECEIVER } from './receiver.ts';

export const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
/** The `traceparent` of a caller whose trace that is. */
export const CALLER = `00-${TRACE}-00f067aa0ba902b7-01`;

/** A server with graphs whose runs are recorded, and a receiver that it may call. */
export async function recordedApp(graphs: readonly string[]) {
  const folder = resolve(import.meta.dirname, '../fixtures/recorded-graphs');
  const http = await openApp({ graphs: [...graphs], folder, environment: TO_RECEIVER });
  const hook = await receiver();
  return {
    http,
    hook,
    async [Symbol.asyncDispose]() {
      await http[Symbol.asyncDispose]();
      await hook[Symbol.asyncDispose]();
    },
  };
}
