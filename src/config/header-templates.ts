import { isObject, type JsonObject } from '../core/json.ts';
import type { Environment } from './env.ts';
import type { Problems } from './problems.ts';

const TEMPLATE = /\$\{\{\s*env\.(\w+)\s*\}\}/g;
const DEFAULT_PREFIX = 'LG_WEBHOOK_';

/**
 * Replaces `${{ env.NAME }}` in `webhooks.headers`. A variable that is missing, or that has not the prefix and may be
 * any secret of the machine, keeps the server from starting (CONTRACT §6).
 */
export function fillHeaderTemplates(
  document: JsonObject,
  environment: Environment,
  problems: Problems,
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
