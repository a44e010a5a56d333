import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const COUNT = resolve(import.meta.dirname, '../.ci/count.mjs');

interface Step {
  /** Number of passed tests, and the failed files. `undefined` if Vitest wrote no results. */
  readonly results?: { readonly passed: number; readonly files?: readonly object[] };
  readonly hasFailed?: boolean;
}

/** What `.ci/run` prints last, and its exit code, after these steps. */
function counted(...steps: readonly Step[]): { line: string | undefined; code: number | null } {
  const folder = mkdtempSync(join(tmpdir(), 'agent-server-count-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [index, { results, hasFailed }] of steps.entries()) {
    const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
    write(`step-${index + 1}`, 'npm test');
    if (hasFailed) write(`failed-${index + 1}`, '');
    const { passed, files = [] } = results ?? { passed: 0 };
    const text = JSON.stringify({ numPassedTests: passed, testResults: files });
    if (results) write(`results-${index + 1}.json`, text);
  }
  const { stdout, status } = spawnSync(process.execPath, [COUNT, folder, String(steps.length)], {
    encoding: 'utf8',
  });
  return { line: stdout.trimEnd().split('\n').at(-1), code: status };
}

const FAILED_TEST = { status: 'failed', fullName: 'a test', failureMessages: ['expected 1 to be 2'] };
const FAILED_FILE = { name: 'a.test.ts', status: 'failed', message: '', assertionResults: [FAILED_TEST] };

test('the counted tests are those of all steps', () => {
  expect(counted({ results: { passed: 2 } }, { results: { passed: 3 } })).toEqual({
    line: 'tests: 5 passed, 0 failed',
    code: 0,
  });
});

test.for<{ why: string; step: Step }>([
  { why: 'wrote no results', step: {} },
  { why: 'passed no test', step: { results: { passed: 0 } } },
  { why: 'failed without a failed test', step: { results: { passed: 2 }, hasFailed: true } },
  { why: 'has a failed test', step: { results: { passed: 2, files: [FAILED_FILE] }, hasFailed: true } },
  {
    why: 'has a file that does not load',
    step: { results: { passed: 2, files: [{ ...FAILED_FILE, assertionResults: [] }] }, hasFailed: true },
  },
])('a step that $why counts as one failure', ({ step }) => {
  const passed = 1 + (step.results?.passed ?? 0);
  expect(counted({ results: { passed: 1 } }, step)).toEqual({
    line: `tests: ${passed} passed, 1 failed`,
    code: 1,
  });
});
