import { InvalidInput } from '../core/errors.ts';
import { failureText, isErrorLike, publicFailure, tryOrUndefined } from '../core/failure.ts';
import { isObject } from '../core/json.ts';

/** Error of a task in a state, on one line: `TypeError: x is not a function`. */
export function taskError(error: unknown): string | null {
  if (error === undefined || error === null) return null;
  if (typeof error === 'string') return failureText(error);
  const { error: name, message } = publicFailure(error);
  return `${name}: ${message}`;
}

/** LangGraph's event about a task, a tool or other, with its `error` redacted. */
export function withPublicError(payload: unknown): unknown {
  if (!isObject(payload) || payload['error'] === undefined || payload['error'] === null) return payload;
  return { ...payload, error: publicError(payload['error']) };
}

/** Event about a checkpoint, whose tasks may have failed in an earlier run. */
export function withPublicTasks(payload: unknown): unknown {
  if (!isObject(payload) || !Array.isArray(payload['tasks'])) return payload;
  return { ...payload, tasks: payload['tasks'].map(withPublicError) };
}

/** LangChain event; its tracers put the message and stack of an error into one text. */
export function withPublicData(event: unknown): unknown {
  if (!isObject(event) || !isObject(event['data'])) return event;
  const { error } = event['data'];
  const data = { ...event['data'], error: typeof error === 'string' ? withoutStack(error) : error };
  return String(event['event']).endsWith('_error') ? { ...event, data: withPublicError(data) } : event;
}

/** Tool event of event streaming, which only has the text of a failure. */
export function withPublicMessage(payload: unknown): unknown {
  if (!isObject(payload) || payload['event'] !== 'tool-error') return payload;
  return { ...payload, message: failureText(String(payload['message'])) };
}

/** Preserves the form of the error: an error, the name and message as in a checkpoint, or a text. */
function publicError(error: unknown): unknown {
  if (typeof error === 'string') return failureText(error);
  const failure = publicFailure(error);
  return isErrorLike(error) ? failure : { message: failure.message, name: failure.error };
}

function withoutStack(text: string): string {
  const frames = text.indexOf('\n    at ');
  if (frames < 0) return text;
  const message = text.slice(0, frames);
  const stack = message.lastIndexOf('\n\n');
  return stack < 0 ? message : message.slice(0, stack);
}

/** Limit of the reported issues. */
const MAX_ISSUES = 5;
/** LangGraph's message about a field of a `StateSchema`, with the issues as JSON. */
const FIELD_ISSUES = /^Validation failed for field "([^"]*)": (\[[\s\S]*\])$/;

/**
 * Converts the error of a graph whose schema rejects its input to one that names the fields: LangGraph throws the
 * issues as indented JSON. Returns any other error unchanged. Identified by the stack: a node may throw the same class.
 */
export function asInputError(thrown: unknown): unknown {
  if (!isErrorLike(thrown)) return thrown;
  const stack = tryOrUndefined(() => String(thrown.stack)) ?? '';
  const isOfInput = stack
    .split('\n')
    .some((line) => /^ +at /.test(line) && line.includes('._validateInput ('));
  if (!isOfInput) return thrown;
  const issues = tryOrUndefined(() => issuesOf(thrown));
  if (issues === undefined || issues.length === 0) return thrown;
  const messages = issues.slice(0, MAX_ISSUES).map(issueText);
  return new InvalidInput(messages.join('; '), { cause: thrown });
}

interface Issue {
  readonly path: readonly unknown[];
  readonly message: string;
}

function issuesOf(error: Error): Issue[] | undefined {
  const { issues } = error as { issues?: unknown };
  if (Array.isArray(issues)) return issues.filter(isIssue);
  const [, field, text] = FIELD_ISSUES.exec(error.message) ?? [];
  if (text === undefined) return undefined;
  return (JSON.parse(text) as unknown[])
    .filter(isIssue)
    .map(({ path, message }) => ({ path: [field, ...path], message }));
}

function isIssue(value: unknown): value is Issue {
  return isObject(value) && typeof value['message'] === 'string' && Array.isArray(value['path']);
}

function issueText({ path, message }: Issue): string {
  const reason = message.replace(/^Invalid input: /, '');
  return `${path.length === 0 ? 'input' : path.map(String).join('.')}: ${reason}`;
}
