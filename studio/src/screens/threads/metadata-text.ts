import { jsonOrText } from '../../ui/json-field.tsx';

/**
 * Parses typed metadata: `user=ana, plan=pro`, or JSON. Values are JSON if valid, or else text. Throws a readable error.
 */
export function metadataOf(text: string): Record<string, unknown> {
  if (text.trim().startsWith('{')) return objectOf(text);
  const pairs = text
    .split(',')
    .filter((pair) => pair.trim() !== '')
    .map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw new Error(`Enter name=value instead of “${pair.trim()}”.`);
      return [pair.slice(0, at).trim(), jsonOrText(pair.slice(at + 1).trim())] as const;
    });
  return Object.fromEntries(pairs);
}

function objectOf(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch (cause) {
    throw new Error(`“${text.trim()}” is not a JSON object. Enter name=value or a complete object.`, {
      cause,
    });
  }
}
