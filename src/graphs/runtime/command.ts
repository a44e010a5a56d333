import type { Command } from '../../schemas/command.ts';

/** What is needed of the user's `@langchain/langgraph`: its graph must get commands of its own library. */
export interface CommandLibrary {
  Command: new (fields: object) => unknown;
  Send: new (node: string, input: unknown) => unknown;
}

/** A client's mistake about what a thread waits for; the name is what the official server calls it (CONTRACT §3). */
class RuntimeError extends Error {
  override readonly name = 'RuntimeError';
}

/** `strict_resume`: the answer names what does not wait. The run ends, and its thread is as it was (CONTRACT §3). */
export class UnknownInterruptError extends Error {
  override readonly name = 'UnknownInterruptError';
}

const INTERRUPT_ID = /^[0-9a-f]{32}$/;

/** True when the command says nothing: then the run goes on from the last checkpoint. */
export function isEmptyCommand({ resume, update, goto }: Command): boolean {
  return (resume ?? null) === null && (update ?? null) === null && (goto ?? null) === null;
}

/** Throws `UnknownInterruptError` when the command answers, by its id, an interrupt that does not wait. */
export async function requirePending({ resume }: Command, pending: () => Promise<string[]>): Promise<void> {
  if (!namesInterrupts(resume)) return;
  const ids = await pending();
  const unknown = Object.keys(resume).filter((id) => !ids.includes(id));
  if (unknown.length === 0) return;
  const what = ids.length > 0 ? `Waiting: ${ids.join(', ')}.` : 'Nothing waits for an answer.';
  throw new UnknownInterruptError(`No interrupt with id ${unknown.join(', ')} is waiting. ${what}`);
}

/**
 * LangGraph's command for a client's one. `waiting` are the ids of the interrupts that wait, asked only when an answer
 * does not name the interrupt it is for.
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
      `When there are multiple pending interrupts, you must specify the interrupt id when resuming: "resume": {"<id>": …}. Waiting: ${ids.join(', ')}.`,
    );
  }
  // LangGraph.js takes false, 0 and '' for no answer at all, unless they are given by interrupt id.
  return !resume && ids[0] !== undefined ? { [ids[0]]: resume } : resume;
}

function namesInterrupts(resume: unknown): resume is Record<string, unknown> {
  if (typeof resume !== 'object' || resume === null || Array.isArray(resume)) return false;
  const keys = Object.keys(resume);
  return keys.length > 0 && keys.every((key) => INTERRUPT_ID.test(key));
}
