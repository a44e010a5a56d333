import {
  type ClientCapabilities,
  type ElicitRequestFormParams,
  type InputRequest,
  type InputResponseView,
  inputRequired,
  inputResponse,
} from '@modelcontextprotocol/server';
import { isObject, type JsonObject } from '../../../core/json.ts';
import type { Interrupt } from '../../../schemas/threads.ts';
import {
  type ActionRequest,
  type Decision,
  interruptText,
  resumeWithDecisions,
  reviewRequestOf,
} from '../../../services/conversation/human-in-the-loop.ts';

/** One input request to the client, and the interrupt that its response resumes. */
export interface Question {
  /** Key of the client's response. */
  readonly key: string;
  readonly interrupt_id: string;
  /** Set if one interrupt value holds several requests, one per field. */
  readonly field?: string;
  readonly request: InputRequest;
  /** The graph specified this request itself, so there is no fallback to another form. */
  readonly is_own?: boolean;
  /** The form has the single field `response`, whose value resumes the graph. */
  readonly is_plain?: boolean;
  /** The form requests a decision on each of these tool calls. */
  readonly review?: readonly ActionRequest[];
}

type Form = ElicitRequestFormParams['requestedSchema'];
type Elicited = Extract<InputResponseView, { kind: 'elicit' }>;

const DECISIONS = ['approve', 'reject'];

const PLAIN_FORM: Form = {
  type: 'object',
  properties: { response: { type: 'string', title: 'Your answer' } },
  required: ['response'],
};

export function questionsOf(interrupts: readonly Interrupt[]): Question[] {
  return interrupts.flatMap(questionsIn);
}

/**
 * Whether to send the questions. Requests that the graph specified are always sent: a client that cannot answer gets an
 * error naming the capability it lacks.
 */
export function canAnswer(questions: readonly Question[], capabilities: ClientCapabilities): boolean {
  return questions.every(({ request, is_own }) => is_own || canFillIn(request, capabilities));
}

function questionsIn(interrupt: Interrupt): Question[] {
  const interrupt_id = String(interrupt.id);
  const { value } = interrupt;
  const custom = customRequest(value);
  if (custom) return [{ key: keyOf(value) ?? interrupt_id, interrupt_id, request: custom, is_own: true }];
  const fields = isObject(value) ? Object.entries(value) : [];
  const requests = fields.flatMap(([field, asked]) => {
    const request = customRequest(asked);
    return request ? [{ key: field, interrupt_id, field, request, is_own: true }] : [];
  });
  // If every field of an object is a request, all of them go out in one round.
  if (fields.length > 0 && requests.length === fields.length) return requests;
  return [{ key: interrupt_id, interrupt_id, ...elicitation(interrupt) }];
}

/** `{mcp: {method, params, key?}}`: the graph specifies the request itself. */
function customRequest(value: unknown): InputRequest | undefined {
  const mcp = isObject(value) ? value['mcp'] : undefined;
  if (!isObject(mcp) || typeof mcp['method'] !== 'string') return undefined;
  return { method: mcp['method'], params: mcp['params'] ?? {} } as InputRequest;
}

function keyOf(value: unknown): string | undefined {
  const key = isObject(value) && isObject(value['mcp']) ? value['mcp']['key'] : undefined;
  return typeof key === 'string' ? key : undefined;
}

function elicitation({
  value,
  response_schema,
}: Interrupt): Pick<Question, 'request' | 'is_plain' | 'review'> {
  const message = interruptText(value);
  const review = reviewRequestOf(value);
  // If neither decision is allowed, only an editing client can answer, on the thread.
  if (
    review?.every(({ allowed_decisions: allowed }) => DECISIONS.some((verdict) => allowed.includes(verdict)))
  )
    return { request: inputRequired.elicit({ message, requestedSchema: reviewForm(review) }), review };
  if (isObject(value) && value['type'] === 'auth_required' && typeof value['url'] === 'string') {
    return { request: inputRequired.elicitUrl({ message, url: value['url'] }) };
  }
  const form = [response_schema, isObject(value) ? value['schema'] : undefined, value].find(isFlatForm);
  const requestedSchema = (form ?? PLAIN_FORM) as Form;
  return { request: inputRequired.elicit({ message, requestedSchema }), is_plain: form === undefined };
}

/** A decision for each call, with the reason for a rejection. Edited arguments do not fit into a flat form. */
function reviewForm(review: readonly ActionRequest[]): Form {
  const properties: Form['properties'] = {};
  for (const [index, { name, allowed_decisions: allowed }] of review.entries()) {
    const verdicts = DECISIONS.filter((verdict) => allowed.includes(verdict));
    properties[`decision${index}`] = { type: 'string', title: `Decision on ${name}`, enum: verdicts };
    properties[`reason${index}`] = { type: 'string', title: `Reason to reject ${name}` };
  }
  return { type: 'object', properties, required: review.map((_, index) => `decision${index}`) };
}

/** A declined form or a missing decision counts as a rejection. */
function decisionsIn(review: readonly ActionRequest[], response: Elicited): unknown {
  const content = response.action === 'accept' ? (response.content ?? {}) : {};
  const verdicts = review.map(({ allowed_decisions: allowed }, index): Decision | undefined => {
    const type = content[`decision${index}`] === 'approve' ? 'approve' : 'reject';
    if (!allowed.includes(type)) return undefined;
    const reason = content[`reason${index}`];
    return { type, message: typeof reason === 'string' && reason !== '' ? reason : undefined };
  });
  const decided = verdicts.filter((verdict) => verdict !== undefined);
  return decided.length === review.length ? resumeWithDecisions(decided) : { action: response.action };
}

/** Elicitation forms are flat: primitive fields only. */
function isFlatForm(schema: unknown): boolean {
  if (!isObject(schema) || schema['type'] !== 'object' || !isObject(schema['properties'])) return false;
  const types = ['string', 'number', 'integer', 'boolean'];
  return Object.values(schema['properties']).every(
    (field) => isObject(field) && types.includes(String(field['type'])),
  );
}

/** The server's own questions are forms and URLs. A client that names no mode supports forms. */
function canFillIn({ params }: InputRequest, { elicitation }: ClientCapabilities): boolean {
  if (elicitation === undefined) return false;
  const isUrl = isObject(params) && 'mode' in params && params.mode === 'url';
  return isUrl ? elicitation.url !== undefined : elicitation.form !== undefined || !elicitation.url;
}

/** Answers by interrupt id; `undefined` while one is missing. Unsolicited responses are ignored. */
export function answersTo(
  questions: readonly Question[],
  responses: Record<string, unknown> | undefined,
): JsonObject | undefined {
  const answers: JsonObject = {};
  for (const question of questions) {
    const { key, interrupt_id, field } = question;
    const answer = answerOf(question, inputResponse(responses, key));
    if (answer === undefined) return undefined;
    const others = isObject(answers[interrupt_id]) ? answers[interrupt_id] : {};
    answers[interrupt_id] = field === undefined ? answer : { ...others, [field]: answer };
  }
  return answers;
}

/** Value that resumes the graph: the form's content, the client's response, or the action that declined it. */
function answerOf({ is_plain, review }: Question, response: InputResponseView): unknown {
  switch (response.kind) {
    case 'missing':
      return undefined;
    case 'sampling':
      return response.result;
    case 'roots':
      return { roots: response.roots };
    case 'elicit':
      if (review) return decisionsIn(review, response);
      if (response.action !== 'accept') return { action: response.action };
      return is_plain ? response.content?.['response'] : (response.content ?? {});
  }
}
