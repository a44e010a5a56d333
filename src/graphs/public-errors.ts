import { InvalidInput } from '../core/errors.ts';
import { failureText, isErrorLike, publicFailure, tryOrUndefined } from '../core/failure.ts';
import { isObject } from '../core/json.ts';

/** The error of a task in a state, on one line as clients show it: `TypeError: x is not a function`. */
export function taskError(error: unknown): string | null {
  if (error === undefined || error === null) return null;
  if (typeof error === 'string') return failureText(error);
  const { error: name, message } = publicFailure(error);
  return `${name}: ${message}`;
}

/** What LangGraph tells of a task, a tool or another event, with its `error` as clients may know it. */
export function withPublicError(payload: unknown): unknown {
  if (!isObject(payload) || payload['error'] === undefined || payload['error'] === null) return payload;
  return { ...payload, error: publicError(payload['error']) };
}

/** What it tells of a checkpoint, whose tasks may have failed in an earlier run. */
export function withPublicTasks(payload: unknown): unknown {
  if (!isObject(payload) || !Array.isArray(payload['tasks'])) return payload;
  return { ...payload, tasks: payload['tasks'].map(withPublicError) };
}

/** An event of LangChain; its tracers put text and stack of an error into one text. */
export function withPublicData(event: unknown): unknown {
  if (!isObject(event) || !isObject(event['data'])) return event;
  const { error } = event['data'];
  const data = { ...event['data'], error: typeof error === 'string' ? withoutStack(error) : error };
  return String(event['event']).endsWith('_error') ? { ...event, data: withPublicError(data) } : event;
}

/** An event of a tool in event streaming, which has the text of a failure only. */
export function withPublicMessage(payload: unknown): unknown {
  if (!isObject(payload) || payload['event'] !== 'tool-error') return payload;
  return { ...payload, message: failureText(String(payload['message'])) };
}

/** In the form in which it comes: an error, the name and the message that a checkpoint keeps, or a text. */
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

/** More would not help who reads it. */
const MAX_ISSUES = 5;
/** What LangGraph says of a field of a `StateSchema`, with the issues as JSON. */
const FIELD_ISSUES = /^Validation failed for field "([^"]*)": (\[[\s\S]*\])$/;

/**
 * The error of a graph whose schema refuses its input, as one that names the fields: LangGraph throws the issues as
 * indented JSON. Every other error stays as it is. By the stack, for a node may throw errors of the same class.
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
