import { newKey } from '../../auth/api-keys.ts';
import { SCOPES, type Scope } from '../../auth/scopes.ts';
import { systemClock, timestamp } from '../../core/clock.ts';
import { isUuid, systemIds } from '../../core/ids.ts';
import type { ApiKey } from '../../storage/api-keys.ts';
import { CONFIG_FLAG, type Command, type FlagValues, UsageError } from '../command.ts';
import { loadFor } from '../configured.ts';

const DAY_MS = 24 * 60 * 60_000;

export const createKey: Command = {
  name: 'keys create',
  summary: 'Makes an API key and prints it, this once; a server that runs takes it at once',
  flags: {
    ...CONFIG_FLAG,
    name: { value: 'NAME', text: 'what it is for' },
    scope: { value: 'SCOPE', text: 'read, run or admin; each includes the ones before it (default: run)' },
    days: { value: 'N', text: 'how long it is good; for ever without it' },
  },
  async run(values) {
    const { name, scope = 'run', days } = values;
    if (name === undefined) throw new UsageError('keys create: --name is needed, so that you know it again');
    if (!SCOPES.includes(scope as Scope))
      throw new UsageError('keys create: --scope must be read, run or admin');
    const now = systemClock.now();
    const { key, kept } = newKey(systemIds(systemClock), {
      name,
      scope: scope as Scope,
      created_at: timestamp(now),
      expires_at: days === undefined ? null : timestamp(now + daysOf(days) * DAY_MS),
    });
    await using storage = await openKeys(values);
    await storage.apiKeys.insert(kept);
    // The key alone on the standard output, for `KEY=$(agent-server keys create …)`.
    process.stderr.write(`${lineOf(kept)}\nKeep it: it cannot be shown again.\n`);
    process.stdout.write(`${key}\n`);
    return 0;
  },
};

export const listKeys: Command = {
  name: 'keys list',
  summary: 'Lists the API keys that were made, without the keys themselves',
  flags: CONFIG_FLAG,
  async run(values) {
    await using storage = await openKeys(values);
    for (const key of await storage.apiKeys.list()) process.stdout.write(`${lineOf(key)}\n`);
    return 0;
  },
};

export const revokeKey: Command = {
  name: 'keys revoke',
  summary:
    'Takes an API key back, with all tokens made with it; a server that runs refuses it within a second',
  flags: { ...CONFIG_FLAG, id: { value: 'ID', text: 'the id that keys list shows' } },
  async run(values) {
    const { id } = values;
    if (id === undefined || !isUuid(id))
      throw new UsageError('keys revoke: --id must be one that keys list shows');
    await using storage = await openKeys(values);
    if (await storage.apiKeys.revoke(id, timestamp(systemClock.now()))) return 0;
    process.stderr.write(`agent-server: there is no key ${id}, or it was revoked before\n`);
    return 1;
  },
};

async function openKeys(values: FlagValues) {
  const { config } = await loadFor(values);
  const { openApiKeys } = await import('../../storage/storage.ts');
  return openApiKeys(config.storage);
}

function daysOf(text: string): number {
  const days = Number(text);
  if (Number.isFinite(days) && days > 0 && days <= 36_500) return days;
  throw new UsageError('keys create: --days must be a number of days, at most 36500');
}

function lineOf({ key_id, name, scope, created_at, expires_at, revoked_at, last_used_at }: ApiKey): string {
  const facts = [
    `made ${created_at}`,
    revoked_at ? `revoked ${revoked_at}` : expires_at ? `expires ${expires_at}` : 'expires never',
    last_used_at ? `used ${last_used_at}` : 'never used',
  ];
  return `${key_id}  ${scope.padEnd(5)}  ${name}  (${facts.join(', ')})`;
}
