import type { Actor } from '../../auth/actor.ts';
import type { RunCreate } from '../../schemas/runs.ts';
import type { NewAnswer } from '../../storage/queue/accept-answer.ts';
import type { BudgetRules } from './budgets.ts';

/**
 * The answer that a request gives to pending interrupts; `undefined` for an input, or a command without
 * `resume`. A request that only continues the thread answers a budget's interrupt.
 */
export function answerOf(
  { user }: Actor,
  { budget }: { readonly budget?: Pick<BudgetRules, 'on_budget'> | undefined },
  { input, command, checkpoint, checkpoint_id, strict_resume }: RunCreate,
): NewAnswer | undefined {
  const { resume, update, goto } = command ?? {};
  const isAnswer = (resume ?? undefined) !== undefined;
  const goesOn = [input, update, goto].every((each) => (each ?? undefined) === undefined);
  if (!isAnswer && !(goesOn && budget?.on_budget === 'interrupt')) return undefined;
  const id = checkpoint?.checkpoint_id ?? checkpoint_id;
  return {
    resume: resume ?? undefined,
    checkpoint: { id: id ?? undefined, ns: checkpoint?.checkpoint_ns ?? undefined },
    is_strict: strict_resume === true,
    user_id: user?.identity ?? null,
  };
}
