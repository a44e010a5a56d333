import { BadRequest } from '../../core/errors.ts';
import { isObject, type JsonObject, toJson } from '../../core/json.ts';
import { trimEnd } from '../../core/text.ts';

/** A tool call that awaits human review. */
export interface ActionRequest {
  readonly name: string;
  readonly args: JsonObject;
  /** Question to the reviewer. */
  readonly description: string;
  /** `approve`, `edit`, `reject`, and any that later versions add. */
  readonly allowed_decisions: readonly string[];
}

export interface Decision {
  readonly type: 'approve' | 'reject';
  /** Reason for the rejection, passed to the model. */
  readonly message?: string | undefined;
}

const APPROVALS = new Set(['y', 'yes', 'ok', 'okay', 'approve', 'approved', 'accept', 'accepted']);
const REJECTIONS = new Set(['', 'n', 'no', 'reject', 'rejected', 'refuse', 'refused']);

/**
 * Tool calls under review, if the interrupt value is a request of `humanInTheLoopMiddleware` (package `langchain`):
 * `{actionRequests, reviewConfigs}`, in Python in snake_case. `undefined` for any other value.
 */
export function reviewRequestOf(value: unknown): ActionRequest[] | undefined {
  const requests = isObject(value) ? field(value, 'actionRequests', 'action_requests') : undefined;
  if (!isObject(value) || !Array.isArray(requests) || requests.length === 0) return undefined;
  const configs = field(value, 'reviewConfigs', 'review_configs');
  const actions = requests.map((request) => actionRequestOf(request, Array.isArray(configs) ? configs : []));
  return actions.every((action) => action !== undefined) ? actions : undefined;
}

/** Resume value in the middleware's format, one decision per call. */
export function resumeWithDecisions(decisions: readonly Decision[]): JsonObject {
  return {
    decisions: decisions.map(({ type, message }) =>
      type === 'approve' || message === undefined ? { type } : { type, message },
    ),
  };
}

/**
 * Resume value for a text answer: decisions if the interrupt requests a review, else the text. Throws `BadRequest` if
 * the review does not allow the decision.
 */
export function resumeValueOf(interrupt_value: unknown, text: string): unknown {
  const review = reviewRequestOf(interrupt_value);
  if (review === undefined) return text;
  const decision = decisionFrom(text);
  const disallowing = review.find(({ allowed_decisions: allowed }) => !allowed.includes(decision.type));
  if (disallowing) {
    const { name, allowed_decisions: allowed } = disallowing;
    throw new BadRequest(
      `"${decision.type}" is not allowed for ${name}. Resume the run with decisions of: ${allowed.join(', ')}.`,
    );
  }
  return resumeWithDecisions(review.map(() => decision));
}

/** Parses a free-text decision: approval, otherwise rejection with the text as its reason. */
function decisionFrom(text: string): Decision {
  const word = trimEnd(trimEnd(text.trim(), '.'), '!').trim().toLowerCase();
  if (APPROVALS.has(word)) return { type: 'approve' };
  return { type: 'reject', message: REJECTIONS.has(word) ? undefined : text };
}

function actionRequestOf(request: unknown, configs: readonly unknown[]): ActionRequest | undefined {
  if (!isObject(request) || typeof request['name'] !== 'string') return undefined;
  const { name, description } = request;
  const args = isObject(request['args']) ? request['args'] : {};
  const config = configs.filter(isObject).find((each) => field(each, 'actionName', 'action_name') === name);
  const allowed = config && field(config, 'allowedDecisions', 'allowed_decisions');
  return {
    name: String(name),
    args,
    description: descriptionOf(String(name), args, description),
    allowed_decisions: Array.isArray(allowed) ? allowed.map(String) : ['approve', 'reject'],
  };
}

/** Includes the arguments, which the agent's description may omit: reviewers must see what they approve. */
function descriptionOf(name: string, args: JsonObject, description: unknown): string {
  if (typeof description !== 'string' || description.trim() === '')
    return `May I call ${name} with ${toJson(args)}?`;
  const mentionsArgs = [toJson(args), JSON.stringify(args, null, 2)].some((text) =>
    description.includes(text),
  );
  return mentionsArgs ? description : `${description}\n\n${name} ${toJson(args)}`;
}

function field(of: JsonObject, name: string, python_name: string): unknown {
  return of[name] ?? of[python_name];
}

/** Question of an interrupt: its text, the field that usually holds it, else its value as JSON. */
export function interruptText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (!isObject(value)) return toJson(value);
  const review = reviewRequestOf(value);
  if (review) return review.map(({ description }) => description).join('\n\n');
  const text = [value['question'], value['message'], value['prompt']].find(
    (field) => typeof field === 'string',
  );
  return text === undefined ? toJson(value) : String(text);
}
