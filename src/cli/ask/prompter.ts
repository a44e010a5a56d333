import { createInterface, type Interface } from 'node:readline';
import { tryOrUndefined } from '../../core/failure.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { StartFailure } from '../../node.ts';
import type { Interrupt } from '../../schemas/threads.ts';
import {
  type ActionRequest,
  interruptText,
  resumeValueOf,
  reviewRequestOf,
} from '../../services/conversation/human-in-the-loop.ts';
import { printWarning } from './answer-printer.ts';
import { oneLine, sanitizeForTerminal } from './sanitize.ts';

/** Reads answers from a terminal, or line by line from a pipe. */
export class Prompter implements Disposable {
  #lines: Interface | undefined;
  readonly #lines_read: string[] = [];
  #waiting: ((line: string | undefined) => void) | undefined;
  #gone = false;

  /** Returns `undefined` at the end of input. */
  async ask(question: string): Promise<string | undefined> {
    process.stderr.write(sanitizeForTerminal(question));
    this.#lines ??= this.#listen();
    const line = this.#lines_read.shift();
    if (line !== undefined || this.#gone) return line;
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  [Symbol.dispose](): void {
    this.#lines?.close();
  }

  #listen(): Interface {
    const lines = createInterface({ input: process.stdin });
    lines.on('line', (line) => (this.#waiting ? this.#resolve(line) : this.#lines_read.push(line)));
    lines.on('close', () => {
      this.#gone = true;
      this.#resolve(undefined);
    });
    return lines;
  }

  #resolve(line: string | undefined): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.(line);
  }
}

/** Prompts for every pending interrupt; `undefined` at the end of input. */
export async function promptForAnswers(person: Prompter, interrupts: readonly Interrupt[]): Promise<unknown> {
  const answers: JsonObject = {};
  for (const interrupt of interrupts) {
    const { id, value } = interrupt;
    const review = reviewRequestOf(value);
    const answer = await (review ? promptForReview(person, review) : promptForReply(person, value));
    if (answer === undefined) return undefined;
    if (interrupts.length === 1) return resumeWith(interrupt, answer);
    answers[String(id)] = answer;
  }
  return answers;
}

/** Resume value: the plain answer; null is keyed by interrupt id, because a bare null does not resume. */
export function resumeWith({ id }: Interrupt, answer: unknown): unknown {
  return answer === null && typeof id === 'string' ? { [id]: null } : answer;
}

/** Parses an answer: JSON, else the text itself; for a review, decisions. */
export function parseAnswer(value: unknown, text: string): unknown {
  const parsed: unknown = tryOrUndefined(() => JSON.parse(text));
  const review = reviewRequestOf(value);
  if (review === undefined) return isJsonAnswer(parsed) ? parsed : text;
  return isDecisions(parsed) ? parsed : resumeValueOf(value, text);
}

/** Quoted text stays text, quotes included; an integer beyond the safe range would lose digits. */
function isJsonAnswer(parsed: unknown): boolean {
  if (typeof parsed === 'number') return !Number.isInteger(parsed) || Number.isSafeInteger(parsed);
  return parsed !== undefined && typeof parsed !== 'string';
}

function isDecisions(value: unknown): boolean {
  return isObject(value) && Array.isArray(value['decisions']);
}

async function promptForReply(person: Prompter, value: unknown): Promise<unknown> {
  const line = await person.ask(`\n${interruptText(value)}\n> `);
  return line === undefined ? undefined : parseAnswer(value, line);
}

async function promptForReview(person: Prompter, actions: readonly ActionRequest[]): Promise<unknown> {
  const decisions: unknown[] = [];
  for (const action of actions) {
    const decision = await promptForDecision(person, action);
    if (decision === undefined || isDecisions(decision)) return decision;
    decisions.push(decision);
  }
  return { decisions };
}

/** Prompts until the answer is an allowed decision, or all decisions as JSON. */
async function promptForDecision(
  person: Prompter,
  { name, description, allowed_decisions: allowed }: ActionRequest,
): Promise<unknown> {
  if (allowed.length === 0)
    throw new StartFailure(
      `${oneLine(name)} needs a decision, but its graph allows none, so the run stays interrupted`,
    );
  for (let question = `\n${description}\n`; ; question = '') {
    const line = await person.ask(`${question}${allowed.join(', ')}? `);
    if (line === undefined) return undefined;
    const all: unknown = tryOrUndefined(() => JSON.parse(line));
    if (isDecisions(all)) return all;
    const type = matchDecision(line.trim().toLowerCase(), allowed);
    if (type === undefined) continue;
    if (type.toLowerCase() === 'reject') {
      const message = await person.ask('why? (empty for none) ');
      return message === undefined ? undefined : { type, ...(message !== '' && { message }) };
    }
    if (type.toLowerCase() !== 'edit') return { type };
    const args = await promptForArguments(person);
    if (args === undefined) return undefined;
    const action = { name, args };
    if (args !== null) return { type, edited_action: action, editedAction: action };
  }
}

/** Approval requires a whole word, since it may do harm; a prefix suffices to reject or to edit. */
function matchDecision(word: string, allowed: readonly string[]): string | undefined {
  const meant = { yes: 'approve', no: 'reject' }[word] ?? word;
  const whole = allowed.find((each) => each.toLowerCase() === meant);
  if (whole !== undefined || word === '') return whole;
  return allowed.find((each) => /^(?:edit|reject)$/i.test(each) && each.toLowerCase().startsWith(word));
}

/** Prompts until the text is a JSON object; null for an empty line, which returns to the decision. */
async function promptForArguments(person: Prompter): Promise<JsonObject | null | undefined> {
  for (;;) {
    const text = await person.ask('arguments as JSON: ');
    if (text === undefined) return undefined;
    if (text.trim() === '') return null;
    const args = objectIn(text);
    if (typeof args !== 'string') return args;
    printWarning(args);
  }
}

/** The parsed object, or the reason why the text is not one. */
function objectIn(text: string): JsonObject | string {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : 'the arguments must be an object, such as {"name": "value"}';
  } catch (error) {
    return `not valid JSON: ${(error as Error).message}`;
  }
}
