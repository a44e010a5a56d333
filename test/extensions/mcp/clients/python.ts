import { join } from 'node:path';
import { afterAll } from 'vitest';
import { pythonWith } from '../../../support/python.ts';
import { PythonServant } from '../../../support/python-servant.ts';
import { type Call, type McpClient, type Result, resultOf, type WireResult } from './told.ts';

/** Undefined where no Python has `mcp` 2. */
export const pythonOfMcp = pythonWith('mcp.client.caching');

interface Event {
  readonly asked?: string;
  readonly progress?: number;
}

/** One for the test file: Python takes seconds to load the client. */
let servant: PythonServant<Event> | undefined;
afterAll(() => servant?.end());

/** Python's `mcp` 2: `auto` speaks what is newest, `legacy` begins with `initialize`. */
export async function connectPython(url: string, mode: 'auto' | 'legacy'): Promise<McpClient> {
  servant ??= new PythonServant<Event>(pythonOfMcp ?? '', join(import.meta.dirname, 'python_mcp.py'));
  const { begin } = servant;
  const to = [url, mode];

  async function call({ answer, onProgress, signal, ...argument }: Call): Promise<Result> {
    const { id, lines } = begin(to, 'call', argument);
    const cancel = () => void begin(to, 'cancel', { call: id });
    signal?.addEventListener('abort', cancel, { once: true });
    let value: unknown;
    for await (const line of lines) {
      if (line.event?.progress !== undefined) onProgress?.(line.event.progress);
      if (line.event?.asked !== undefined) {
        begin(to, 'answer', { call: id, answer: await answer?.(line.event.asked) });
      }
      ({ value } = line);
    }
    return resultOf(value as WireResult);
  }

  return {
    can_be_asked: mode === 'auto',
    async tools() {
      const lines = await Array.fromAsync(begin(to, 'tools', null).lines);
      return lines.at(-1)?.value as string[];
    },
    call,
    close: async () => {},
  };
}
