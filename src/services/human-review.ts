import { BadRequest } from '../core/errors.ts';
import { isObject, type JsonObject, toJson } from '../core/json.ts';
import { trimEnd } from '../core/trim-end.ts';

/** A call that waits for a person. */
export interface ReviewedAction {
  readonly name: string;
  readonly args: JsonObject;
  /** What the person is asked, in words. */
  readonly description: string;
  /** `approve`, `edit`, `reject`, and what later versions add. */
  readonly allowed: readonly string[];
}

export interface Verdict {
  readonly type: 'approve' | 'reject';
  /** Why it was rejected; the model reads it. */
  readonly message?: string | undefined;
}

const CONSENT = new Set(['y', 'yes', 'ok', 'okay', 'approve', 'approved', 'accept', 'accepted']);
const REFUSAL = new Set(['', 'n', 'no', 'reject', 'rejected', 'refuse', 'refused']);

/**
 * The calls that an interrupt asks about, when its value is the request that `humanInTheLoopMiddleware` of the package
 * `langchain` makes: `{actionRequests, reviewConfigs}`, in Python with underscores. Undefined for any other value.
 */
export function reviewOf(value: unknown): ReviewedAction[] | undefined {
  const requests = isObject(value) ? field(value, 'actionRequests', 'action_requests') : undefined;
  if (!isObject(value) || !Array.isArray(requests) || requests.length === 0) return undefined;
  const configs = field(value, 'reviewConfigs', 'review_configs');
  const actions = requests.map((request) => actionOf(request, Array.isArray(configs) ? configs : []));
  return actions.every((action) => action !== undefined) ? actions : undefined;
}

/** What the graph is resumed with: the same verdict for each call, as the middleware takes it. */
export function decisionsOf(verdicts: readonly Verdict[]): JsonObject {
  return {
    decisions: verdicts.map(({ type, message }) =>
      type === 'approve' || message === undefined ? { type } : { type, message },
    ),
  };
}

/**
 * A text that answers an interrupt: decisions where it asks for a review, else the text as it is. Throws `BadRequest`
 * where the review does not allow what the text says.
 */
export function textAnswer(interrupt_value: unknown, text: string): unknown {
  const review = reviewOf(interrupt_value);
  if (review === undefined) return text;
  const verdict = verdictIn(text);
  const refusing = review.find(({ allowed }) => !allowed.includes(verdict.type));
  if (refusing) {
    const { name, allowed } = refusing;
    throw new BadRequest(
      `"${verdict.type}" is not allowed for ${name}. Resume the run with decisions of: ${allowed.join(', ')}.`,
    );
  }
  return decisionsOf(review.map(() => verdict));
}

/** What a person says in words, where no buttons are: consent, or else a rejection with its reason. */
function verdictIn(text: string): Verdict {
  const word = trimEnd(trimEnd(text.trim(), '.'), '!').trim().toLowerCase();
  if (CONSENT.has(word)) return { type: 'approve' };
  return { type: 'reject', message: REFUSAL.has(word) ? undefined : text };
}

function actionOf(request: unknown, configs: readonly unknown[]): ReviewedAction | undefined {
  if (!isObject(request) || typeof request['name'] !== 'string') return undefined;
  const { name, description } = request;
  const args = isObject(request['args']) ? request['args'] : {};
  const config = configs.filter(isObject).find((each) => field(each, 'actionName', 'action_name') === name);
  const allowed = config && field(config, 'allowedDecisions', 'allowed_decisions');
  return {
    name: String(name),
    args,
    description: descriptionOf(String(name), args, description),
    allowed: Array.isArray(allowed) ? allowed.map(String) : ['approve', 'reject'],
  };
}

/** With the arguments, which a description of the agent's own may leave out: nobody approves what they do not see. */
function descriptionOf(name: string, args: JsonObject, description: unknown): string {
  if (typeof description !== 'string' || description.trim() === '')
    return `May I call ${name} with ${toJson(args)}?`;
  const shown = [toJson(args), JSON.stringify(args, null, 2)].some((text) => description.includes(text));
  return shown ? description : `${description}\n\n${name} ${toJson(args)}`;
}

function field(of: JsonObject, name: string, python_name: string): unknown {
  return of[name] ?? of[python_name];
}
