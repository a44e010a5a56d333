import { namesInterrupts } from '../../core/interrupt-ids.ts';
import type { Command } from '../../schemas/command.ts';

/** Classes of the user's `@langchain/langgraph`: its graph requires commands of its own library. */
export interface CommandLibrary {
  Command: new (fields: object) => unknown;
  Send: new (node: string, input: unknown) => unknown;
}

/** A client's error about the pending interrupts; the official server uses this name (CONTRACT §3). */
class RuntimeError extends Error {
  override readonly name = 'RuntimeError';
}

/** `strict_resume`: the named interrupt is not pending. The run ends, and its thread is unchanged (CONTRACT §3). */
export class UnknownInterruptError extends Error {
  override readonly name = 'UnknownInterruptError';
}

/** True for an empty command: the run resumes from the last checkpoint. */
export function isEmptyCommand({ resume, update, goto }: Command): boolean {
  return (resume ?? null) === null && (update ?? null) === null && (goto ?? null) === null;
}

/** Throws `UnknownInterruptError` if the command resumes, by its id, an interrupt that is not pending. */
export async function requirePending({ resume }: Command, pending: () => Promise<string[]>): Promise<void> {
  if (!namesInterrupts(resume)) return;
  const ids = await pending();
  const unknown = Object.keys(resume).filter((id) => !ids.includes(id));
  if (unknown.length === 0) return;
  const what = ids.length > 0 ? `Pending: ${ids.join(', ')}.` : 'No interrupt is pending.';
  throw new UnknownInterruptError(`No interrupt with id ${unknown.join(', ')} is pending. ${what}`);
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
    throw new RuntimeError(
      `When there are multiple pending interrupts, you must specify the interrupt id when resuming: "resume": {"<id>": …}. Pending: ${ids.join(', ')}.`,
    );
  }
  // Without the id, LangGraph.js ignores false, 0 and '', and gives any other value once more to a later question of the
  // node if one between them is answered by its id.
  return ids[0] === undefined ? resume : { [ids[0]]: resume };
}
