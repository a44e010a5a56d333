import type { FastifyInstance } from 'fastify';
import { Unavailable } from '../core/errors.ts';

/** Sent per response regardless of the budget: what a connection buffers anyway. */
const ALWAYS_SENT_BYTES = 64 * 1024;

/**
 * Answers 503 instead of a response that would take the responses in memory beyond `budget` bytes; one that is larger than
 * the budget is sent when no other waits. A response that has begun is never cut short for want of memory. What creates a
 * row or a run is always answered, because the client would repeat it. Streams do not count: each holds one event or a
 * megabyte.
 */
export function useSendBudget(server: FastifyInstance, budget: number): void {
  let held = 0;
  server.addHook('onSend', ({ routeOptions }, reply, payload, done) => {
    const bytes = bytesOf(payload);
    if (bytes <= ALWAYS_SENT_BYTES) return done();
    if (held > 0 && held + bytes > budget && !routeOptions.config.idempotent)
      return done(tooMuch(bytes, held));
    held += bytes;
    reply.raw.once('close', () => {
      held -= bytes;
    });
    done();
  });
}

function tooMuch(bytes: number, held: number): Unavailable {
  return new Unavailable(
    `The response has ${bytes} bytes, and ${held} bytes of others wait for their clients: try again, or ask for less at a time. The limit is set by server.send_budget.`,
  );
}

/** 0 for a stream, which has back-pressure. */
function bytesOf(payload: unknown): number {
  if (typeof payload === 'string') return Buffer.byteLength(payload);
  return payload instanceof Uint8Array ? payload.byteLength : 0;
}
