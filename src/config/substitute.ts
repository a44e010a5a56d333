import { isObject, type JsonObject } from '../core/json.ts';
import type { Environment } from './env.ts';
import type { ConfigIssues } from './errors.ts';

const REFERENCE = /\$\$\{|\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

/** Called for each missing variable, with the path of the key that refers to it. */
export type OnMissing = (key: string, variable: string) => void;

/**
 * Replaces `${VAR}` and `${VAR:-default}` in every string; `$${` escapes `${`. An empty variable counts as missing.
 * Keys with null are dropped: in YAML, that is a key without a value.
 */
export function substitute(value: unknown, environment: Environment, missing: OnMissing, key = ''): unknown {
  if (typeof value === 'string') return substituteText(value, environment, (name) => missing(key, name));
  if (Array.isArray(value)) {
    return value.map((item, index) => substitute(item, environment, missing, keyPath(key, String(index))));
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== null)
      .map(([name, item]) => [name, substitute(item, environment, missing, keyPath(key, name))]),
  );
}

function substituteText(text: string, environment: Environment, missing: (name: string) => void): string {
  return text.replace(REFERENCE, (match, name?: string, fallback?: string) => {
    if (name === undefined) return '${';
    const value = environment[name] || fallback;
    if (value === undefined) missing(name);
    return value ?? match;
  });
}

function keyPath(key: string, name: string): string {
  return key === '' ? name : `${key}.${name}`;
}

const TEMPLATE = /\$\{\{\s*env\.(\w+)\s*\}\}/g;
const DEFAULT_PREFIX = 'LG_WEBHOOK_';

/**
 * Replaces `${{ env.NAME }}` in `webhooks.headers`. A variable that is missing, or lacks the prefix and may thus be any
 * secret of the machine, prevents the start (contract §6).
 */
export function substituteHeaders(
  document: JsonObject,
  environment: Environment,
  problems: ConfigIssues,
): void {
  const webhooks = document['webhooks'];
  if (!isObject(webhooks) || !isObject(webhooks['headers'])) return;
  const { headers, env_prefix } = webhooks;
  const prefix = typeof env_prefix === 'string' ? env_prefix : DEFAULT_PREFIX;
  const filled = Object.entries(headers as JsonObject).map(([name, value]) => {
    const fill = (_match: string, variable: string) => {
      const known = environment[variable];
      const key = `webhooks.headers.${name}`;
      if (!variable.startsWith(prefix))
        problems.add(key, `${variable} must begin with ${prefix} (webhooks.env_prefix)`);
      else if (!known) problems.add(key, `the variable ${variable} is not set`);
      return known ?? '';
    };
    return [name, typeof value === 'string' ? value.replace(TEMPLATE, fill) : value];
  });
  document['webhooks'] = { ...webhooks, headers: Object.fromEntries(filled) };
}
