import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');

/** A Python that has the client: TEST_PYTHON, else that of `.venv`, else the machine's. Undefined without one. */
export const python = [process.env['TEST_PYTHON'], join(ROOT, '.venv/bin/python'), 'python3']
  .filter((path) => path !== undefined)
  .find((path) => spawnSync(path, ['-c', 'import langgraph_sdk']).status === 0);
