import { isEmptyMap, namesInterrupts } from '../../core/interrupt-ids.ts';
import type { Command } from '../../schemas/command.ts';
import { ResumeRefused } from './resume-refused.ts';

/** Classes of the user's `@langchain/langgraph`: its graph requires commands of its own library. */
export interface CommandLibrary {
  Command: new (fields: object) => unknown;
  Send: new (node: string, input: unknown) => unknown;
}

/** True for an empty command: the run resumes from the last checkpoint. */
export function isEmptyCommand({ resume, update, goto }: Command): boolean {
  return (resume ?? null) === null && (update ?? null) === null && (goto ?? null) === null;
}

/** The command without answers to these interrupts. A plain value could only answer the one that was pending: it is dropped. */
export function withoutAnswers({ resume, ...others }: Command, interrupt_ids: readonly string[]): Command {
  if (!namesInterrupts(resume)) return others;
  const left = Object.entries(resume).filter(([id]) => !interrupt_ids.includes(id));
  return left.length === 0 ? others : { ...others, resume: Object.fromEntries(left) };
}

/**
 * Throws `ResumeRefused` if the command does not resume what is pending, as LangGraph itself does since 1.7: it names an
 * interrupt that is not, is an empty map, or a plain value while several interrupts wait.
 */
export async function requirePending({ resume }: Command, pending: () => Promise<string[]>): Promise<void> {
  if ((resume ?? null) === null) return;
  const pending_ids = (await pending()).toSorted();
  const what = pending_ids.length > 0 ? `Pending: ${pending_ids.join(', ')}.` : 'No interrupt is pending.';
  if (namesInterrupts(resume)) {
    const interrupt_ids = Object.keys(resume)
      .filter((id) => !pending_ids.includes(id))
      .toSorted();
    if (interrupt_ids.length === 0) return;
    const message = `No interrupt with id ${interrupt_ids.join(', ')} is pending. ${what}`;
    throw unknownInterrupt(message, { reason: 'not_pending', interrupt_ids, pending_ids });
  }
  const reason = isEmptyMap(resume) ? 'empty_map' : 'ambiguous';
  if (reason === 'ambiguous' && pending_ids.length < 2) return;
  const message =
    reason === 'empty_map' ? `The resume map names no interrupt. ${what}` : severalPending(pending_ids);
  throw unknownInterrupt(message, { reason, interrupt_ids: [], pending_ids });
}

/** `strict_resume` refuses the answer. */
function unknownInterrupt(message: string, refusal: ResumeRefused['refusal']): ResumeRefused {
  return new ResumeRefused('UnknownInterruptError', message, refusal);
}

function severalPending(ids: readonly string[]): string {
  return `When there are multiple pending interrupts, you must specify the interrupt id when resuming: "resume": {"<id>": …}. Pending: ${ids.join(', ')}.`;
}

/**
 * Converts a client's command to LangGraph's. `waiting` returns the ids of the pending interrupts; called only if a
 * resume value does not name its interrupt.
 */
export async function toLangGraphCommand(
  { Command, Send }: CommandLibrary,
  command: Command,
  waiting: () => Promise<string[]>,
): Promise<unknown> {
  const { update, goto } = command;
  const resume = await resumeValue(command.resume ?? null, waiting);
  return new Command({
    ...(resume !== null && { resume }),
    ...(update && { update }),
    ...(goto && {
      goto: [goto].flat().map((to) => (typeof to === 'string' ? to : new Send(to.node, to.input ?? null))),
    }),
  });
}

async function resumeValue(resume: unknown, pending: () => Promise<string[]>): Promise<unknown> {
  if (resume === null || namesInterrupts(resume)) return resume;
  const ids = await pending();
  if (ids.length > 1) {
    const pending_ids = ids.toSorted();
    const message = severalPending(ids);
    throw new ResumeRefused('RuntimeError', message, { reason: 'ambiguous', interrupt_ids: [], pending_ids });
  }
  // Without the id, LangGraph.js ignores false, 0 and '', and gives any other value once more to a later question of the
  // node if one between them is answered by its id.
  return ids[0] === undefined ? resume : { [ids[0]]: resume };
}
