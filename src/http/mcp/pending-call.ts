import { createRequestStateCodec, type RequestStateCodec } from '@modelcontextprotocol/server';
import type { Actor } from '../../auth/actor.ts';

/** What a client carries from a question to its answer, signed. */
export interface PendingCall {
  readonly thread_id: string;
  readonly run_id: string;
  readonly interrupt_ids: readonly string[];
  /** The thread was made for this call and goes with its result. */
  readonly is_own_thread: boolean;
}

/** A question may be answered for an hour, on any process, by whoever was asked. */
const ANSWER_WITHIN_S = 3600;

/** `key`: at least 32 bytes, the same on every process. */
export function pendingCalls(key: string, { user }: Actor): RequestStateCodec<PendingCall> {
  const owner = user?.identity ?? '';
  return createRequestStateCodec<PendingCall>({ key, ttlSeconds: ANSWER_WITHIN_S, bind: () => owner });
}
