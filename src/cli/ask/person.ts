import { createInterface, type Interface } from 'node:readline';
import { safely } from '../../core/failure.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import type { Interrupt } from '../../schemas/threads.ts';
import { decisionsOf, type ReviewedAction, reviewOf } from '../../services/human-review.ts';
import { questionOf } from '../../services/interrupt-question.ts';
import { printable } from './printable.ts';

/** Who sits at the terminal, or the lines of a pipe in their order. */
export class Person implements Disposable {
  #lines: Interface | undefined;
  readonly #said: string[] = [];
  #waiting: ((line: string | undefined) => void) | undefined;
  #gone = false;

  /** Undefined when nobody is there any more: the input has ended. */
  async asked(question: string): Promise<string | undefined> {
    process.stderr.write(printable(question));
    this.#lines ??= this.#listen();
    const line = this.#said.shift();
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
    lines.on('line', (line) => (this.#waiting ? this.#tell(line) : this.#said.push(line)));
    lines.on('close', () => {
      this.#gone = true;
      this.#tell(undefined);
    });
    return lines;
  }

  #tell(line: string | undefined): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.(line);
  }
}

/** The answer to everything that the thread waits for; undefined when the person is gone. */
export async function answersOf(person: Person, interrupts: readonly Interrupt[]): Promise<unknown> {
  const answers: JsonObject = {};
  for (const { id, value } of interrupts) {
    const review = reviewOf(value);
    const answer = await (review ? reviewed(person, review) : replied(person, value));
    if (answer === undefined) return undefined;
    if (interrupts.length === 1) return answer;
    answers[String(id)] = answer;
  }
  return answers;
}

async function replied(person: Person, value: unknown): Promise<unknown> {
  const line = await person.asked(`\n${questionOf(value)}\n> `);
  if (line === undefined) return undefined;
  // Anything that is JSON is meant as such: an object, true, 5.
  const parsed = safely(() => JSON.parse(line) as unknown);
  return parsed === undefined ? line : parsed;
}

async function reviewed(person: Person, actions: readonly ReviewedAction[]): Promise<unknown> {
  const decisions: unknown[] = [];
  for (const action of actions) {
    const decision = await decided(person, action);
    if (decision === undefined) return undefined;
    decisions.push(decision);
  }
  return { decisions };
}

/** Asks until the answer is a decision that is allowed. */
async function decided(person: Person, { name, description, allowed }: ReviewedAction): Promise<unknown> {
  for (let question = `\n${description}\n`; ; question = '') {
    const word = (await person.asked(`${question}${allowed.join(', ')}? `))?.trim().toLowerCase();
    if (word === undefined) return undefined;
    const type = allowed.find((each) => word !== '' && each.startsWith(word));
    if (type === 'reject') {
      const message = await person.asked('why? (empty for none) ');
      return message === undefined ? undefined : decisionIn({ type, message: message || undefined });
    }
    if (type === 'edit') {
      const text = await person.asked('arguments as JSON: ');
      const args: unknown = text === undefined ? undefined : safely(() => JSON.parse(text));
      const action = { name, args };
      if (isObject(args)) return { type, edited_action: action, editedAction: action };
    } else if (type !== undefined) return { type };
  }
}

function decisionIn(verdict: Parameters<typeof decisionsOf>[0][number]): unknown {
  const { decisions } = decisionsOf([verdict]);
  return Array.isArray(decisions) ? decisions[0] : undefined;
}
