import { either, isObject, type JsonObject } from '../../api/values.ts';
import { textOf } from './choices.ts';

/** An open interrupt, as in a thread's state and in the list of interrupts. */
export interface Asked {
  readonly id: string;
  readonly value: unknown;
  readonly response_schema?: JsonObject | null;
}

export interface AnswerProps {
  /** Whether the page's shortcuts act on this form. */
  readonly hasKeys: boolean;
  readonly isDisabled: boolean;
  readonly onAnswer: (value: unknown) => void;
  readonly onJson: () => void;
}

export type Verdict = 'approve' | 'edit' | 'reject' | 'respond';

/** An action under review. */
export interface Action {
  readonly name: string;
  readonly args: JsonObject;
  readonly description: string;
  readonly allowed: ReadonlySet<Verdict>;
}

export interface Decision {
  readonly verdict: Verdict;
  /** Fields that `edit` can change. */
  readonly args?: JsonObject;
  /** Text for `reject` and `respond`. */
  readonly message?: string;
}

/** A review request, in one of the two shapes that agents use. */
export interface Review {
  readonly actions: readonly Action[];
  /** Whether a rejection may include a reason. */
  readonly takes_reason: boolean;
  /** The resume value for these decisions, one per action. */
  answer(decisions: readonly Decision[]): unknown;
}

/** The review requested by an interrupt, or `undefined` if it is not a review. */
export function reviewOf(value: unknown): Review | undefined {
  return middlewareReview(value) ?? inboxReview(value);
}

/** `humanInTheLoopMiddleware` of LangChain: https://docs.langchain.com/oss/javascript/langchain/human-in-the-loop */
function middlewareReview(value: unknown): Review | undefined {
  if (!isObject(value)) return undefined;
  const requests = either(value, 'action_requests', 'actionRequests');
  const configs = either(value, 'review_configs', 'reviewConfigs');
  if (!Array.isArray(requests) || requests.length === 0 || !requests.every(isObject)) return undefined;
  const actions = requests.map((request): Action => {
    const name = String(request['name'] ?? 'Action');
    const args = either(request, 'args', 'arguments');
    return {
      name,
      args: isObject(args) ? args : {},
      description: String(request['description'] ?? ''),
      allowed: new Set(allowedFor(name, configs)),
    };
  });
  return {
    actions,
    takes_reason: true,
    answer: (decisions) => ({
      decisions: decisions.map((decision, i) => middlewareDecision(actions[i]?.name ?? '', decision)),
    }),
  };
}

const VERDICTS: readonly Verdict[] = ['approve', 'edit', 'reject'];

function allowedFor(name: string, configs: unknown): readonly Verdict[] {
  const config = Array.isArray(configs)
    ? configs.find((each) => isObject(each) && either(each, 'action_name', 'actionName') === name)
    : undefined;
  const allowed: unknown = isObject(config)
    ? either(config, 'allowed_decisions', 'allowedDecisions')
    : undefined;
  return Array.isArray(allowed) ? (allowed as Verdict[]) : VERDICTS;
}

function middlewareDecision(name: string, { verdict, args, message }: Decision): object {
  if (verdict === 'edit') {
    // Python graphs read the first name, JavaScript graphs the second.
    const action = { name, args };
    return { type: 'edit', edited_action: action, editedAction: action };
  }
  return message ? { type: verdict, message } : { type: verdict };
}

/** `HumanInterrupt` of LangGraph's prebuilt agents and Agent Inbox: one, or a list whose first entry is used. */
function inboxReview(value: unknown): Review | undefined {
  const requests = Array.isArray(value) ? value : [value];
  const actions = requests.map(inboxAction).filter((action) => action !== undefined);
  if (actions.length === 0 || actions.length < requests.length) return undefined;
  return {
    actions,
    takes_reason: false,
    answer: (decisions) => decisions.map((each, i) => inboxResponse(actions[i], each)),
  };
}

function inboxAction(value: unknown): Action | undefined {
  const request = isObject(value) ? either(value, 'action_request', 'actionRequest') : undefined;
  if (!isObject(value) || !isObject(request)) return undefined;
  const config = isObject(value['config']) ? value['config'] : {};
  const allowed: Verdict[] = [];
  if (either(config, 'allow_accept', 'allowAccept')) allowed.push('approve');
  if (either(config, 'allow_edit', 'allowEdit')) allowed.push('edit');
  if (either(config, 'allow_ignore', 'allowIgnore')) allowed.push('reject');
  if (either(config, 'allow_respond', 'allowRespond')) allowed.push('respond');
  return {
    name: String(request['action'] ?? 'Action'),
    args: isObject(request['args']) ? request['args'] : {},
    description: String(value['description'] ?? ''),
    allowed: new Set(allowed),
  };
}

function inboxResponse(action: Action | undefined, { verdict, args, message }: Decision): object {
  switch (verdict) {
    case 'approve':
      return { type: 'accept', args: null };
    case 'edit':
      return { type: 'edit', args: { action: action?.name, args } };
    case 'respond':
      return { type: 'response', args: message ?? '' };
    case 'reject':
      return { type: 'ignore', args: null };
  }
}

/** The question of an interrupt on one line, for lists. */
export function questionOf(value: unknown): string {
  const review = reviewOf(value);
  if (review) return review.actions.map(inLine).join('; ');
  if (isObject(value)) {
    const question = textOf(value);
    if (question !== undefined) return question;
  }
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'Question');
}

/** A call with the text arguments that distinguish it from other calls of the tool. */
function inLine({ name, args }: Action): string {
  const texts = Object.values(args).filter((value) => typeof value === 'string' && value !== '');
  return texts.length === 0 ? name : `${name}: ${texts.slice(0, 2).join(', ')}`;
}
