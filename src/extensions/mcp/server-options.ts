/** Name, title and version that every MCP server of this program has. */
export function serverInfo(version: string) {
  return { name: 'agent-server', title: 'Agent Server', version };
}

/** Options that every MCP server of this program has. */
export const SERVER_OPTIONS = {
  capabilities: { logging: {} },
  // Clients of older revisions have no channel for input requests.
  inputRequired: { legacyShim: false },
} as const;
