// Prints the tests that failed in the steps of `run`, then the line that counts all tests. Exits with 1 if one failed.
// The folder has, for each step: `step-<n>`, its command; `results-<n>.json`, what Vitest wrote; `failed-<n>`, if the
// command failed. A step without a test that passed counts as failed, and so does one that failed without a failed test.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder, steps] = process.argv.slice(2);
let passed = 0;
let failed = 0;

for (let step = 1; step <= Number(steps); step++) {
  const { numPassedTests, testResults } = resultsOf(step);
  const before = failed;
  passed += numPassedTests;
  for (const file of testResults) failed += failuresOf(file);
  const hasFailed = existsSync(join(folder, `failed-${step}`)) || numPassedTests === 0;
  if (!hasFailed || failed > before) continue;
  failed++;
  print(`failed: ${readFileSync(join(folder, `step-${step}`), 'utf8').trim()}`);
}
print(`tests: ${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

function print(line) {
  process.stdout.write(`${line}\n`);
}

function resultsOf(step) {
  const file = join(folder, `results-${step}.json`);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { numPassedTests: 0, testResults: [] };
}

function failuresOf({ name, status, message, assertionResults }) {
  const broken = assertionResults.filter((test) => test.status === 'failed');
  for (const { fullName, failureMessages } of broken)
    print(`failed: ${name} > ${fullName}\n${failureMessages.join('\n').slice(0, 1_500)}`);
  if (status !== 'failed' || broken.length > 0) return broken.length;
  // It did not load, or a hook failed.
  print(`failed: ${name}\n${message}`);
  return 1;
}
