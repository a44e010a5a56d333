import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { afterAll } from 'vitest';
import { pythonWith } from '../../support/python.ts';
import { type A2aClient, stateName, type ToldEvent, type ToldTask } from './told.ts';

/** Undefined where no Python has `a2a-sdk`. */
export const pythonOfA2a = pythonWith('a2a.client');

interface Line {
  readonly id: number;
  readonly event?: ToldEvent;
  readonly value?: unknown;
  readonly error?: string;
}

/** One for the test file: Python takes seconds to load the client. */
let servant: Servant | undefined;
afterAll(() => servant?.end());

/** Python's `a2a-sdk` 1.x over a binding of 1.0, or as a client of 0.3. */
export async function connectPython(
  agent: string,
  binding: 'JSONRPC' | 'HTTP+JSON',
  version: '1.0' | '0.3',
): Promise<A2aClient> {
  servant ??= new Servant(pythonOfA2a ?? '');
  const { call } = servant;
  const to = [agent, binding, version];
  const task = async (method: string, argument: unknown) =>
    namedTask((await last(call(to, method, argument)))?.value as ToldTask);
  await last(call(to, 'connect', null));
  return {
    send: (saying) => task('send', saying),
    stream: (saying) => events(call(to, 'stream', saying)),
    get: (id) => task('get', id),
    cancel: (id) => task('cancel', id),
    subscribe: (id) => events(call(to, 'subscribe', id)),
    async list(context_id) {
      if (version === '0.3') return undefined;
      return (await last(call(to, 'list', context_id)))?.value as string[];
    },
  };
}

class Servant {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #exited: Promise<unknown>;
  readonly #heard = new Map<number, (line: Line) => void>();
  #count = 0;

  constructor(python: string) {
    const script = join(import.meta.dirname, 'python_a2a.py');
    this.#process = spawn(python, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
    createInterface({ input: this.#process.stdout }).on('line', (text) => {
      const line: Line = JSON.parse(text);
      this.#heard.get(line.id)?.(line);
    });
    this.#exited = once(this.#process, 'exit').then(() => {
      for (const [id, hear] of this.#heard) hear({ id, error: 'the client ended' });
    });
  }

  /** What it tells of a call, up to the value. Throws its error. */
  readonly call = (to: readonly string[], method: string, argument: unknown): AsyncIterable<Line> => {
    const id = ++this.#count;
    this.#process.stdin.write(`${JSON.stringify({ id, to, method, argument })}\n`);
    return new ReadableStream<Line>({
      start: (told) =>
        void this.#heard.set(id, (line) => {
          if (line.error !== undefined) told.error(new Error(line.error));
          else told.enqueue(line);
          if (line.event) return;
          this.#heard.delete(id);
          if (line.error === undefined) told.close();
        }),
    });
  };

  async end(): Promise<void> {
    this.#process.stdin.end();
    await this.#exited;
  }
}

async function last(lines: AsyncIterable<Line>): Promise<Line | undefined> {
  return (await Array.fromAsync(lines)).at(-1);
}

async function* events(lines: AsyncIterable<Line>): AsyncGenerator<ToldEvent> {
  for await (const { event } of lines) if (event) yield named(event);
}

function namedTask(task: ToldTask): ToldTask {
  return { ...task, state: stateName(task.state) };
}

function named(event: ToldEvent): ToldEvent {
  if (event.kind === 'task') return { kind: 'task', task: namedTask(event.task) };
  return event.kind === 'status' ? { ...event, state: stateName(event.state) } : event;
}
