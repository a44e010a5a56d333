import { join } from 'node:path';
import { type Suite, succeeds } from './suite.ts';

const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12';
const INSPECTOR = '@modelcontextprotocol/inspector@2.12.0';
const KNOWN = join(import.meta.dirname, 'mcp-expected-failures.yaml');

/** The suite of the protocol at its newest revision and at the last one before, and the Inspector's check of schemas. */
export const MCP_SUITES: readonly Suite[] = [
  {
    name: 'mcp-2026-07-28',
    passes: (url, output) => judged(url, output, ['--requirements', '2026-07-28']),
  },
  {
    name: 'mcp-2025-11-25',
    passes: (url, output) =>
      judged(url, output, ['--requirements', '2025-11-25', '--expected-failures', KNOWN]),
  },
  {
    name: 'mcp-inspector',
    passes: (url, cwd) => {
      const asked = ['--transport', 'http', '--method', 'tools/list', '--strict'];
      return succeeds(['npx', '--yes', INSPECTOR, '--cli', `${url}/mcp`, ...asked], { cwd });
    },
  },
];

function judged(url: string, cwd: string, asked: readonly string[]): Promise<boolean> {
  return succeeds(['npx', '--yes', SUITE, 'server', '--url', `${url}/mcp`, '-o', cwd, ...asked], { cwd });
}
