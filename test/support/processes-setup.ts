import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StartedServer } from './processes.ts';

/** After all tests with `TEST_PROCESSES=1`: says which of them were served by several processes, and why others were not. */
export default function setup(): (() => void) | undefined {
  if (process.env['TEST_PROCESSES'] !== '1') return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'agent-server-processes-'));
  const file = join(folder, 'notes');
  process.env['TEST_PROCESSES_NOTES'] = file;
  return () => {
    const servers = readLines(file);
    rmSync(folder, { recursive: true });
    const ones = servers.filter(({ why }) => why !== undefined);
    const files = new Set(servers.filter(({ why }) => why === undefined).map(({ test }) => test));
    const several = servers.length - ones.length;
    const summary = `${several} servers of several processes in ${files.size} test files, ${ones.length} of a single one`;
    const reasons = new Set(ones.map(({ test, why }) => `  ${test}: ${why}`));
    process.stdout.write(`\n${[summary, ...reasons].join('\n')}\n`);
  };
}

function readLines(file: string): StartedServer[] {
  try {
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line));
  } catch {
    return [];
  }
}
