import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, dataOf } from '../../api/client.ts';
import { startRun } from '../../api/start-run.ts';
import { runsOfThreadQuery } from '../chat/chat-queries.ts';

interface Answers {
  readonly thread_id: string;
  readonly assistant_id: string;
  /** By id of the interrupt. */
  readonly answers: Readonly<Record<string, unknown>>;
  /** The checkpoint that asks, unless it is the newest. */
  readonly checkpoint_id?: string | undefined;
}

/** Answers interrupts of threads, each thread with one run. */
export function useAnswers() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (threads: readonly Answers[]) => Promise.all(threads.map(answer)),
    // Pending until the new state is shown: nothing is answered twice.
    async onSettled(runs = []) {
      for (const run of runs) {
        client.setQueryData(
          runsOfThreadQuery(run.thread_id).queryKey,
          (before) => before && [run, ...before],
        );
      }
      await Promise.all([
        client.invalidateQueries({ queryKey: ['thread', 'list'] }),
        ...runs.map(({ thread_id }) => client.invalidateQueries({ queryKey: ['thread', thread_id] })),
      ]);
    },
  });
}

type Given = Pick<ReturnType<typeof useAnswers>, 'variables' | 'error'>;

/** Whether the last answers that were sent are also to this question. */
export function isAnswered({ variables = [] }: Given, thread_id: string, interrupt_id: string): boolean {
  return variables.some((each) => each.thread_id === thread_id && interrupt_id in each.answers);
}

/** Why the last answer to this question was refused. A refusal for one question says nothing about the others. */
export function refusalOf(given: Given, thread_id: string, interrupt_id: string): Error | null {
  return isAnswered(given, thread_id, interrupt_id) ? given.error : null;
}

async function answer({ thread_id, assistant_id, answers, checkpoint_id }: Answers) {
  if (checkpoint_id === undefined) await requirePending(thread_id, Object.keys(answers));
  return startRun(thread_id, {
    assistant_id,
    command: { resume: answers },
    // Between the check and this.
    strict_resume: true,
    ...(checkpoint_id !== undefined && { checkpoint_id }),
  });
}

/** Somebody else may have answered in the meantime: that is told here, not by a run that fails. */
async function requirePending(thread_id: string, ids: readonly string[]): Promise<void> {
  const pending = await pendingInterruptIds(thread_id);
  if (ids.every((id) => pending.includes(id))) return;
  throw new Error('Somebody else has answered this meanwhile. Your answer was not sent.');
}

/** The interrupts of a thread that wait for an answer; none of one that was deleted. */
export async function pendingInterruptIds(thread_id: string): Promise<readonly unknown[]> {
  const body = { ids: [thread_id], select: ['interrupts' as const] };
  const [thread] = await dataOf(api.POST('/threads/search', { body }));
  return Object.values(thread?.interrupts ?? {}).flatMap((each) => each.map(({ id }) => id));
}
