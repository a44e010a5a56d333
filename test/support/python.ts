import { execFile, spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const ROOT = resolve(import.meta.dirname, '../..');

/** A Python that has a module: TEST_PYTHON, else that of `.venv`, else the machine's. Undefined without one. */
export function pythonWith(module: string): string | undefined {
  return [process.env['TEST_PYTHON'], join(ROOT, '.venv/bin/python'), 'python3']
    .filter((path) => path !== undefined)
    .find((path) => spawnSync(path, ['-c', `import ${module}`]).status === 0);
}

/** A Python that has the official client. */
export const python = pythonWith('langgraph_sdk');

/** What a program of test/clients prints, which is JSON. */
export async function printedBy(program: string, ...args: string[]): Promise<unknown> {
  if (python === undefined) throw new Error('there is no Python for it: ask `python` before');
  const { stdout } = await promisify(execFile)(python, [join(ROOT, 'test/clients', program), ...args]);
  return JSON.parse(stdout);
}
