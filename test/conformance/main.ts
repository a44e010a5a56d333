import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from '../support/server.ts';
import { mcpSuites } from './mcp.ts';

/** A suite of others, as the command that runs it. */
export interface Suite {
  readonly name: string;
  readonly command: readonly string[];
}

/** `npm run conformance [-- suite …]`: judges the server by the suites of the protocols, each in a pinned version. */
const asked = process.argv.slice(2);
const output = await mkdtemp(join(tmpdir(), 'conformance-'));
await using server = await startServer({ config: join(import.meta.dirname, 'graphs/agent.config.yaml') });
const suites = mcpSuites(server.url, output).filter(({ name }) => asked.length === 0 || asked.includes(name));
const failed: string[] = [];
for (const { name, command } of suites) {
  console.log(`\n== ${name}`);
  const [file = '', ...args] = command;
  const child = spawn(file, args, { stdio: 'inherit', cwd: output });
  const [code] = await once(child, 'close');
  if (code !== 0) failed.push(name);
}
await rm(output, { recursive: true, force: true });
console.log(`\n${suites.length - failed.length} of ${suites.length} suites passed`);
if (failed.length > 0) console.log(`failed: ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;
