import { isObject } from '../../core/json.ts';
import type { Assistant } from '../../schemas/assistants.ts';

const MAX_LENGTH = 64;

/**
 * The tool name of each assistant, as the official server makes them (white space becomes `_`, everything but letters,
 * digits, `_`, `.` and `-` goes), and unique: of several with one name the oldest keeps it. Those that want to be no tool
 * have none.
 */
export function toolNames(assistants: readonly Assistant[]): Map<string, Assistant> {
  const exposed = assistants.filter(({ metadata }) => mcpMetadata(metadata)['expose'] !== false);
  const byAge = exposed.sort((a, b) => (a.created_at < b.created_at ? -1 : 1));
  const names = new Map<string, Assistant>();
  for (const assistant of byAge) {
    const id = assistant.assistant_id.slice(0, 8);
    const name = sanitized(wantedName(assistant)) || `assistant-${id}`;
    names.set(names.has(name) ? `${name.slice(0, MAX_LENGTH - 9)}-${id}` : name, assistant);
  }
  return names;
}

function sanitized(name: string): string {
  return name
    .trim()
    .replace(/\s+/g, '_')
    .replace(/[^A-Za-z0-9_.-]/g, '')
    .slice(0, MAX_LENGTH);
}

function wantedName({ name, metadata }: Assistant): string {
  const own = mcpMetadata(metadata)['name'];
  return typeof own === 'string' ? own : name;
}

/** What an assistant says about itself as a tool: `metadata.mcp {expose, name, description, annotations}`. */
export function mcpMetadata(metadata: Assistant['metadata']): Record<string, unknown> {
  return isObject(metadata['mcp']) ? metadata['mcp'] : {};
}
