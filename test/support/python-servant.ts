import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

/** What is told of a call: events first, then its value or its error. */
export interface ServantLine<Event> {
  readonly id: number;
  readonly event?: Event;
  readonly value?: unknown;
  readonly error?: string;
}

export interface ServantCall<Event> {
  readonly id: number;
  /** Up to the value. Throws the error. */
  readonly lines: AsyncIterable<ServantLine<Event>>;
}

/** A Python program that reads calls from its standard input and tells what comes of them, a line of JSON each. */
export class PythonServant<Event> {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #exited: Promise<unknown>;
  readonly #heard = new Map<number, (line: ServantLine<Event>) => void>();
  #count = 0;

  constructor(python: string, script: string) {
    this.#process = spawn(python, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
    createInterface({ input: this.#process.stdout }).on('line', (text) => {
      const line: ServantLine<Event> = JSON.parse(text);
      this.#heard.get(line.id)?.(line);
    });
    this.#exited = once(this.#process, 'exit').then(() => {
      for (const [id, hear] of this.#heard) hear({ id, error: 'the client ended' });
    });
  }

  readonly begin = (to: readonly string[], method: string, argument: unknown): ServantCall<Event> => {
    const id = ++this.#count;
    this.#process.stdin.write(`${JSON.stringify({ id, to, method, argument })}\n`);
    const lines = new ReadableStream<ServantLine<Event>>({
      start: (told) =>
        void this.#heard.set(id, (line) => {
          if (line.error !== undefined) told.error(new Error(line.error));
          else told.enqueue(line);
          if (line.event !== undefined) return;
          this.#heard.delete(id);
          if (line.error === undefined) told.close();
        }),
    });
    return { id, lines };
  };

  async end(): Promise<void> {
    this.#process.stdin.end();
    await this.#exited;
  }
}
