import { type Thread, ThreadSearch } from '../../src/schemas/threads.ts';
import type { ThreadRepository } from '../../src/storage/threads/threads.ts';

/** The n-th id: sorts as numbers do. */
export function threadId(n: number): string {
  return `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;
}

export function at(second: number): string {
  return new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
}

/** A thread as a client has just created it, at second n. */
export function freshThread(n: number, fields: Partial<Thread> = {}): Thread {
  return {
    thread_id: threadId(n),
    created_at: at(n),
    updated_at: at(n),
    state_updated_at: at(n),
    metadata: {},
    status: 'idle',
    config: {},
    values: null,
    ...fields,
  };
}

/** What a state update from outside writes; the thread is at rest after it. */
export function newState(values: unknown) {
  return { values, status: 'idle', interrupts: {} } as const;
}

/** The numbers of the threads that a search finds, in order. */
export async function foundThreads(threads: ThreadRepository, query: object): Promise<number[]> {
  const rows = await threads.search(ThreadSearch.parse(query));
  return rows.map((row) => Number(row.thread_id.slice(-12)));
}
