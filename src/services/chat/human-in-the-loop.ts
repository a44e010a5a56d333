import { BadRequest } from '../../core/errors.ts';
import { isObject, type JsonObject, toJson } from '../../core/json.ts';
import { trimEnd } from '../../core/text.ts';

/** A call that waits for a person. */
export interface ActionRequest {
  readonly name: string;
  readonly args: JsonObject;
  /** What the person is asked, in words. */
  readonly description: string;
  /** `approve`, `edit`, `reject`, and what later versions add. */
  readonly allowed_decisions: readonly string[];
}

export interface Decision {
  readonly type: 'approve' | 'reject';
  /** Why it was rejected; the model reads it. */
  readonly message?: string | undefined;
}

const APPROVALS = new Set(['y', 'yes', 'ok', 'okay', 'approve', 'approved', 'accept', 'accepted']);
const REJECTIONS = new Set(['', 'n', 'no', 'reject', 'rejected', 'refuse', 'refused']);

/**
 * The calls that an interrupt asks about, when its value is the request that `humanInTheLoopMiddleware` of the package
 * `langchain` makes: `{actionRequests, reviewConfigs}`, in Python with underscores. Undefined for any other value.
 */
export function reviewRequestOf(value: unknown): ActionRequest[] | undefined {
  const requests = isObject(value) ? field(value, 'actionRequests', 'action_requests') : undefined;
  if (!isObject(value) || !Array.isArray(requests) || requests.length === 0) return undefined;
  const configs = field(value, 'reviewConfigs', 'review_configs');
  const actions = requests.map((request) => actionRequestOf(request, Array.isArray(configs) ? configs : []));
  return actions.every((action) => action !== undefined) ? actions : undefined;
}

/** What the graph is resumed with: the same verdict for each call, as the middleware takes it. */
export function resumeWithDecisions(decisions: readonly Decision[]): JsonObject {
  return {
    decisions: decisions.map(({ type, message }) =>
      type === 'approve' || message === undefined ? { type } : { type, message },
    ),
  };
}

/**
 * A text that answers an interrupt: decisions where it asks for a review, else the text as it is. Throws `BadRequest`
 * where the review does not allow what the text says.
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

/** What a person says in words, where no buttons are: consent, or else a rejection with its reason. */
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

/** With the arguments, which a description of the agent's own may leave out: nobody approves what they do not see. */
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

/** What a person is asked by an interrupt: its text, or the field that usually holds it, else its value as JSON. */
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
