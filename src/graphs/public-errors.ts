import { failureText, isErrorLike, publicFailure } from '../core/failure.ts';
import { isObject } from '../core/json.ts';

/** The error of a task in a state, on one line as clients show it: `TypeError: x is not a function`. */
export function taskError(error: unknown): string | null {
  if (error === undefined || error === null) return null;
  if (typeof error === 'string') return failureText(error);
  const { error: name, message } = publicFailure(error);
  return `${name}: ${message}`;
}

/** What LangGraph tells of a task, a tool or another event, with its `error` as clients may know it. */
export function withPublicError(told: unknown): unknown {
  if (!isObject(told) || told['error'] === undefined || told['error'] === null) return told;
  return { ...told, error: publicError(told['error']) };
}

/** What it tells of a checkpoint, whose tasks may have failed in an earlier run. */
export function withPublicTasks(told: unknown): unknown {
  if (!isObject(told) || !Array.isArray(told['tasks'])) return told;
  return { ...told, tasks: told['tasks'].map(withPublicError) };
}

/** An event of LangChain; its tracers put text and stack of an error into one text. */
export function withPublicData(event: unknown): unknown {
  if (!isObject(event) || !isObject(event['data'])) return event;
  const { error } = event['data'];
  const told = { ...event['data'], error: typeof error === 'string' ? withoutStack(error) : error };
  return String(event['event']).endsWith('_error') ? { ...event, data: withPublicError(told) } : event;
}

/** An event of a tool in event streaming, which has the text of a failure only. */
export function withPublicMessage(told: unknown): unknown {
  if (!isObject(told) || told['event'] !== 'tool-error') return told;
  return { ...told, message: failureText(String(told['message'])) };
}

/** In the form in which it comes: an error, the name and the message that a checkpoint keeps, or a text. */
function publicError(error: unknown): unknown {
  if (typeof error === 'string') return failureText(error);
  const told = publicFailure(error);
  return isErrorLike(error) ? told : { message: told.message, name: told.error };
}

function withoutStack(text: string): string {
  const frames = text.indexOf('\n    at ');
  if (frames < 0) return text;
  const told = text.slice(0, frames);
  const stack = told.lastIndexOf('\n\n');
  return stack < 0 ? told : told.slice(0, stack);
}
