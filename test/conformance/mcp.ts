import { join } from 'node:path';
import type { Suite } from './main.ts';

const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12';
const INSPECTOR = '@modelcontextprotocol/inspector@2.12.0';

/** The suite of the protocol at its newest revision and at the last one before, and the Inspector's check of schemas. */
export function mcpSuites(url: string, output: string): Suite[] {
  const known = join(import.meta.dirname, 'mcp-expected-failures.yaml');
  const server = ['npx', '--yes', SUITE, 'server', '--url', `${url}/mcp`, '-o', output];
  return [
    { name: 'mcp-2026-07-28', command: [...server, '--requirements', '2026-07-28'] },
    {
      name: 'mcp-2025-11-25',
      command: [...server, '--requirements', '2025-11-25', '--expected-failures', known],
    },
    {
      name: 'mcp-inspector',
      command: [
        ...['npx', '--yes', INSPECTOR, '--cli', `${url}/mcp`, '--transport', 'http'],
        ...['--method', 'tools/list', '--strict'],
      ],
    },
  ];
}
