import type { Actor } from '../../auth/actor.ts';
import { isServerInterrupt } from '../../core/interrupt-ids.ts';
import type { RunCreate } from '../../schemas/runs.ts';
import type { Interrupt, Thread } from '../../schemas/threads.ts';
import type { NewAnswer } from '../../storage/queue/accept-answer.ts';

/**
 * The answer that a request gives to pending interrupts; `undefined` for an input, or a command without
 * `resume`. A request that only continues the thread answers an interrupt of the server.
 */
export function answerOf(
  { user }: Actor,
  { input, command, checkpoint, checkpoint_id, strict_resume }: RunCreate,
): NewAnswer | undefined {
  const { resume, update, goto } = command ?? {};
  const goesOn = [input, update, goto].every((each) => (each ?? undefined) === undefined);
  if ((resume ?? undefined) === undefined && !goesOn) return undefined;
  const id = checkpoint?.checkpoint_id ?? checkpoint_id;
  return {
    resume: resume ?? undefined,
    checkpoint: { id: id ?? undefined, ns: checkpoint?.checkpoint_ns ?? undefined },
    is_strict: strict_resume === true,
    user_id: user?.identity ?? null,
  };
}

/** Drops a `resume` that only answers the server: any answer continues the run, and the graph must not see it. */
export function withoutServerAnswer(
  input: RunCreate,
  { interrupts = {} }: Pick<Thread, 'interrupts'>,
): RunCreate {
  const pending = Object.values(interrupts).flat();
  if (pending.length === 0 || !pending.every(({ id }) => isServerInterrupt(id))) return input;
  const { resume: _, ...more } = input.command ?? {};
  const isOnlyAnswer = Object.values(more).every((value) => value === undefined || value === null);
  return { ...input, command: isOnlyAnswer ? null : more };
}

/** What the server asks where it stopped the run, if nothing has run since. */
export function serverQuestion(
  run_id: string,
  { interrupts = {} }: Pick<Thread, 'interrupts'> = {},
): string | undefined {
  const isOfRun = ({ id }: Interrupt) => isServerInterrupt(id) && String(id).endsWith(`:${run_id}`);
  const asked = Object.values(interrupts).flat().find(isOfRun);
  return asked && String((asked.value as { message?: unknown }).message);
}
