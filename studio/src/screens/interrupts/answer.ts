import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, dataOf } from '../../api/client.ts';
import { startRun } from '../../api/start-run.ts';
import { runsOfThreadQuery } from '../chat/chat-queries.ts';

interface Answers {
  readonly thread_id: string;
  readonly assistant_id: string;
  /** Keyed by interrupt id. */
  readonly answers: Readonly<Record<string, unknown>>;
  /** The interrupted checkpoint, unless it is the newest. */
  readonly checkpoint_id?: string | undefined;
}

/** Some answers were refused. Other threads may have got theirs. */
class Refused extends Error {
  readonly thread_ids: readonly string[];

  constructor(message: string, threads: readonly Answers[]) {
    super(message);
    this.thread_ids = threads.map(({ thread_id }) => thread_id);
  }
}

/** Answers interrupts, with one run per thread. Fails with `Refused`. */
export function useAnswers() {
  const client = useQueryClient();
  return useMutation({
    async mutationFn(threads: readonly Answers[]) {
      const results = await Promise.allSettled(threads.map(answer));
      const runs = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
      for (const run of runs) {
        client.setQueryData(
          runsOfThreadQuery(run.thread_id).queryKey,
          (before) => before && [run, ...before],
        );
      }
      // Pending until the new state is shown, so that nothing is answered twice.
      await Promise.all([
        client.invalidateQueries({ queryKey: ['thread', 'list'] }),
        ...runs.map(({ thread_id }) => client.invalidateQueries({ queryKey: ['thread', thread_id] })),
      ]);
      const refusal = results.find((result) => result.status === 'rejected');
      if (!refusal) return;
      const { message } = refusal.reason as Error;
      const sent = `${runs.length} of ${threads.length} threads were answered.`;
      const refused = threads.filter((_, i) => results[i]?.status === 'rejected');
      throw new Refused(threads.length > 1 ? `${sent} ${message}` : message, refused);
    },
  });
}

type Given = Pick<ReturnType<typeof useAnswers>, 'variables' | 'error'>;

/** Whether the last answers sent include this question. */
export function isAnswered({ variables = [] }: Given, thread_id: string, interrupt_id: string): boolean {
  return variables.some((each) => each.thread_id === thread_id && interrupt_id in each.answers);
}

/** Why the last answer to this question was rejected. Errors of other questions are not shown here. */
export function refusalOf(given: Given, thread_id: string, interrupt_id: string): Error | null {
  const { error } = given;
  const isRefused = error instanceof Refused && error.thread_ids.includes(thread_id);
  return isRefused && isAnswered(given, thread_id, interrupt_id) ? error : null;
}

async function answer({ thread_id, assistant_id, answers, checkpoint_id }: Answers) {
  if (checkpoint_id === undefined) await requirePending(thread_id, Object.keys(answers));
  return startRun(thread_id, {
    assistant_id,
    command: { resume: answers },
    // The question was answered between the check and the run.
    strict_resume: true,
    ...(checkpoint_id !== undefined && { checkpoint_id }),
  });
}

/** Someone else may have answered in the meantime. Report it here instead of by a failing run. */
async function requirePending(thread_id: string, ids: readonly string[]): Promise<void> {
  const pending = await pendingInterruptIds(thread_id);
  if (ids.every((id) => pending.includes(id))) return;
  throw new Error('Someone else answered this in the meantime. Your answer was not sent.');
}

/** The open interrupts of a thread. None if it was deleted. */
export async function pendingInterruptIds(thread_id: string): Promise<readonly unknown[]> {
  const body = { ids: [thread_id], select: ['interrupts' as const] };
  const [thread] = await dataOf(api.POST('/threads/search', { body }));
  return Object.values(thread?.interrupts ?? {}).flatMap((each) => each.map(({ id }) => id));
}
