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
} from '../../services/chat/human-in-the-loop.ts';
import { printWarning } from './answer-printer.ts';
import { oneLine, sanitizeForTerminal } from './sanitize.ts';

/** Who sits at the terminal, or the lines of a pipe in their order. */
export class Prompter implements Disposable {
  #lines: Interface | undefined;
  readonly #lines_read: string[] = [];
  #waiting: ((line: string | undefined) => void) | undefined;
  #gone = false;

  /** Undefined when nobody is there any more: the input has ended. */
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

/** The answer to everything that the thread waits for; undefined when the person is gone. */
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

/** What a run is resumed with: an answer alone, but null by the id of what it answers, since null alone is no answer. */
export function resumeWith({ id }: Interrupt, answer: unknown): unknown {
  return answer === null && typeof id === 'string' ? { [id]: null } : answer;
}

/** A text as the answer to an interrupt: the JSON that it is, else the text; where a review is asked for, decisions. */
export function parseAnswer(value: unknown, text: string): unknown {
  const parsed: unknown = tryOrUndefined(() => JSON.parse(text));
  const review = reviewRequestOf(value);
  if (review === undefined) return isJsonAnswer(parsed) ? parsed : text;
  return isDecisions(parsed) ? parsed : resumeValueOf(value, text);
}

/** A text in quotes is a text with quotes, and a number that JavaScript would change is no number. */
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

/** Asks until the answer is a decision that is allowed, or all decisions as JSON. */
async function promptForDecision(
  person: Prompter,
  { name, description, allowed_decisions: allowed }: ActionRequest,
): Promise<unknown> {
  if (allowed.length === 0)
    throw new StartFailure(
      `${oneLine(name)} waits for a decision, but its graph allows none; it goes on waiting`,
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

/** What does harm by mistake takes a whole word; a beginning is enough to stop a call or to change it. */
function matchDecision(word: string, allowed: readonly string[]): string | undefined {
  const meant = { yes: 'approve', no: 'reject' }[word] ?? word;
  const whole = allowed.find((each) => each.toLowerCase() === meant);
  if (whole !== undefined || word === '') return whole;
  return allowed.find((each) => /^(?:edit|reject)$/i.test(each) && each.toLowerCase().startsWith(word));
}

/** Asks until it is an object; null for an empty line, which decides anew. */
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

/** The object, or why it is none. */
function objectIn(text: string): JsonObject | string {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : 'the arguments must be an object, such as {"name": "value"}';
  } catch (error) {
    return `no JSON: ${(error as Error).message}`;
  }
}
