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
