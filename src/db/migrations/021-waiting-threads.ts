/** Threads that wait for an answer, by when they began to (`storage/threads/interrupts.ts`). Few of all threads. */
export const waitingThreads = `
create index threads_waiting on threads (state_updated_at, thread_id) where status = 'interrupted';
`;
