import { isObject } from './json.ts';

const INTERRUPT_ID = /^[0-9a-f]{32}$/;

/** True for a resume value that holds answers by the id of their interrupt: LangGraph's ids are hashes. */
export function namesInterrupts(resume: unknown): resume is Record<string, unknown> {
  if (!isObject(resume)) return false;
  const keys = Object.keys(resume);
  return keys.length > 0 && keys.every((key) => INTERRUPT_ID.test(key));
}

/** True for a resume value that would hold answers by id, and holds none. */
export function isEmptyMap(resume: unknown): boolean {
  return isObject(resume) && Object.keys(resume).length === 0;
}

const SERVER_ID = /^[a-z-]+:[0-9a-f-]{36}$/;

/**
 * Id of the interrupt at which the server stopped a run to ask a person, on behalf of `asker`. It is in its thread only: the
 * graph never sees the answer, and no checkpoint has it.
 */
export function serverInterruptId(asker: string, run_id: string): string {
  return `${asker}:${run_id}`;
}

/** Whether the server asks there, and not the graph. */
export function isServerInterrupt(id: unknown): boolean {
  return typeof id === 'string' && SERVER_ID.test(id);
}
