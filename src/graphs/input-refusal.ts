import { InvalidInput } from '../core/errors.ts';
import { isErrorLike, safely } from '../core/failure.ts';
import { isObject } from '../core/json.ts';

/** More would not help who reads it. */
const MAX_ISSUES = 5;
/** What LangGraph says of a field of a `StateSchema`, with the issues as JSON. */
const FIELD = /^Validation failed for field "([^"]*)": (\[[\s\S]*\])$/;

/**
 * The error of a graph whose schema refuses its input, as one that names the fields: LangGraph throws the issues as
 * indented JSON. Every other error stays as it is. By the stack, for a node may throw errors of the same class.
 */
export function inputRefusal(thrown: unknown): unknown {
  if (!isErrorLike(thrown)) return thrown;
  const stack = safely(() => String(thrown.stack)) ?? '';
  const isOfInput = stack
    .split('\n')
    .some((line) => /^ +at /.test(line) && line.includes('._validateInput ('));
  if (!isOfInput) return thrown;
  const issues = safely(() => issuesOf(thrown));
  if (issues === undefined || issues.length === 0) return thrown;
  const told = issues.slice(0, MAX_ISSUES).map(sentence);
  return new InvalidInput(told.join('; '), { cause: thrown });
}

interface Issue {
  readonly path: readonly unknown[];
  readonly message: string;
}

function issuesOf(error: Error): Issue[] | undefined {
  const { issues } = error as { issues?: unknown };
  if (Array.isArray(issues)) return issues.filter(isIssue);
  const [, field, text] = FIELD.exec(error.message) ?? [];
  if (text === undefined) return undefined;
  return (JSON.parse(text) as unknown[])
    .filter(isIssue)
    .map(({ path, message }) => ({ path: [field, ...path], message }));
}

function isIssue(value: unknown): value is Issue {
  return isObject(value) && typeof value['message'] === 'string' && Array.isArray(value['path']);
}

function sentence({ path, message }: Issue): string {
  const reason = message.replace(/^Invalid input: /, '');
  return `${path.length === 0 ? 'input' : path.map(String).join('.')}: ${reason}`;
}
