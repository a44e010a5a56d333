import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from '../support/server.ts';
import { A2A_SUITES } from './a2a.ts';
import { MCP_SUITES } from './mcp.ts';
import type { Suite } from './suite.ts';

/**
 * `npm run conformance [-- suite …]`: judges the server by the suites of the protocols, each in a pinned version.
 * They come from the registries of npm and Python and from the A2A project's repository.
 */
const asked = process.argv.slice(2);
const known = [...MCP_SUITES, ...A2A_SUITES];
const suites = known.filter(({ name }) => asked.length === 0 || asked.includes(name));
const failed: string[] = asked.filter((name) => !known.some((suite) => suite.name === name));
for (const suite of suites) {
  console.log(`\n== ${suite.name}`);
  if (!(await passes(suite))) failed.push(suite.name);
}
console.log(`\n${suites.length - failed.length} of ${suites.length} suites passed`);
if (failed.length > 0) console.log(`failed: ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;

async function passes({ env = {}, passes }: Suite): Promise<boolean> {
  const output = await mkdtemp(join(tmpdir(), 'conformance-'));
  const config = join(import.meta.dirname, 'graphs/agent.config.yaml');
  try {
    // As by default.
    await using server = await startServer({ config, env: { AGENT_SERVER_HOSTS: 'auto', ...env } });
    return await passes(server.url, output);
  } catch (error) {
    console.log(error instanceof Error ? error.message : error);
    return false;
  } finally {
    await rm(output, { recursive: true, force: true });
  }
}
