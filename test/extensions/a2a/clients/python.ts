import { join } from 'node:path';
import { afterAll } from 'vitest';
import { pythonWith } from '../../../support/python.ts';
import { PythonServant, type ServantLine } from '../../../support/python-servant.ts';
import { type A2aClient, stateName, type ToldEvent, type ToldTask } from './told.ts';

/** Undefined where no Python has `a2a-sdk`. */
export const pythonOfA2a = pythonWith('a2a.client');

type Line = ServantLine<ToldEvent>;

/** One for the test file: Python takes seconds to load the client. */
let servant: PythonServant<ToldEvent> | undefined;
afterAll(() => servant?.end());

/** Python's `a2a-sdk` 1.x over a binding of 1.0, or as a client of 0.3. */
export async function connectPython(
  agent: string,
  binding: 'JSONRPC' | 'HTTP+JSON',
  version: '1.0' | '0.3',
): Promise<A2aClient> {
  servant ??= new PythonServant<ToldEvent>(pythonOfA2a ?? '', join(import.meta.dirname, 'python_a2a.py'));
  const { begin } = servant;
  const call = (...asked: Parameters<typeof begin>) => begin(...asked).lines;
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
