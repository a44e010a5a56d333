import { errorParts, tryOrUndefined } from '../../core/failure.ts';
import type { ResumeRefusal } from '../../schemas/threads.ts';

/**
 * An answer that the pending interrupts do not take. Its run ends with the error; the thread keeps its status, state
 * and questions (contract §3).
 */
export class ResumeRefused extends Error {
  override readonly name: string;
  readonly refusal: ResumeRefusal;

  /** `name`: `UnknownInterruptError` or `RuntimeError`, as on the official server, or that of the schema's error. */
  constructor(name: string, message: string, refusal: ResumeRefusal, options?: ErrorOptions) {
    super(message, options);
    this.name = name;
    this.refusal = refusal;
  }
}

/** LangGraph marks the error of an answer that does not match the `responseSchema` of its interrupt. */
const INVALID_RESUME = Symbol.for('langgraph.invalid_resume');
/** How deep LangGraph itself looks. */
const MAX_CAUSES = 10;

/** Converts the error of a graph whose `responseSchema` refuses an answer; returns any other error unchanged. */
export function asRefusedAnswer(thrown: unknown): unknown {
  if (!isInvalidResume(thrown)) return thrown;
  const { error, message } = errorParts(thrown);
  return new ResumeRefused(
    error,
    message,
    { reason: 'invalid', interrupt_ids: [], pending_ids: [] },
    { cause: thrown },
  );
}

/** Middleware may wrap the error. Of several failed tasks, all must have refused: another failure takes precedence. */
function isInvalidResume(thrown: unknown, depth = 0): boolean {
  if (typeof thrown !== 'object' || thrown === null || depth === MAX_CAUSES) return false;
  const { isMarked, errors, cause } =
    tryOrUndefined(() => {
      const of = thrown as { [INVALID_RESUME]?: unknown; errors?: unknown; cause?: unknown };
      return { isMarked: of[INVALID_RESUME] === true, errors: of.errors, cause: of.cause };
    }) ?? {};
  if (isMarked) return true;
  if (Array.isArray(errors) && errors.length > 0)
    return errors.every((each: unknown) => isInvalidResume(each, depth + 1));
  return isInvalidResume(cause, depth + 1);
}
