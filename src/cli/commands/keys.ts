import { existsSync } from 'node:fs';
import { OWNED_DATA } from '../../app/extensions.ts';
import { type Actor, systemActor } from '../../auth/actor.ts';
import { SCOPES, type Scope } from '../../auth/scopes.ts';
import { systemClock, timestamp } from '../../core/clock.ts';
import { NotFound } from '../../core/errors.ts';
import { isUuid, systemIds } from '../../core/ids.ts';
import { silentLogger } from '../../core/logger.ts';
import { sqlitePath } from '../../db/engines/sqlite-files.ts';
import { memoryBus } from '../../events/bus.ts';
import { type Key, MAX_KEY_DAYS } from '../../schemas/keys.ts';
import { keyService } from '../../services/keys.ts';
import { CONFIG_FLAG, type Command, type FlagValues, UsageError } from '../command.ts';
import { loadConfigFor } from '../config.ts';

/** Anyone who can run the command can already read the database. */
/** Write access to the database is proof enough: no key is asked for. */
const OPERATOR: Actor = { ...systemActor('agent-server keys'), key: 'command line' };

export const createKey: Command = {
  name: 'keys create',
  summary: 'Creates an API key and prints it once; running servers accept it immediately',
  flags: {
    ...CONFIG_FLAG,
    name: { value: 'NAME', text: 'what the key is for' },
    scope: {
      value: 'SCOPE',
      text: 'read, run or admin, where each includes the previous ones; or deployments:write (default: run)',
    },
    days: { value: 'N', text: 'days until the key expires (default: never)' },
  },
  async run(values) {
    const { name, scope = 'run', days } = values;
    if (name === undefined) throw new UsageError('keys create: --name is required, to distinguish the keys');
    if (!SCOPES.includes(scope as Scope))
      throw new UsageError('keys create: --scope must be read, run, admin or deployments:write');
    const expires_in_days = days === undefined ? null : daysOf(days);
    await using keys = await openKeys(values, { creates: true });
    const { key, ...created } = await keys.create(OPERATOR, { name, scope: scope as Scope, expires_in_days });
    if (keys.new_file !== undefined)
      process.stderr.write(
        `Created the database ${keys.new_file}: a server has this key only if it uses that file (DATABASE_URI, AGENT_SERVER_DATA_DIR).\n`,
      );
    // Only the key goes to stdout, for `KEY=$(agent-server keys create …)`.
    process.stderr.write(
      `Created key ${created.key_id} (${name}, scope ${scope}, ${statusOf(created)}).\nStore it now: it cannot be shown again.\n`,
    );
    process.stdout.write(`${key}\n`);
    return 0;
  },
};

export const listKeys: Command = {
  name: 'keys list',
  summary: 'Lists the API keys, without their secrets',
  flags: CONFIG_FLAG,
  async run(values) {
    await using keys = await openKeys(values);
    process.stdout.write(table(await keys.list(OPERATOR)));
    return 0;
  },
};

export const revokeKey: Command = {
  name: 'keys revoke',
  summary: 'Revokes an API key and all tokens created with it; running servers reject it within a second',
  flags: { ...CONFIG_FLAG, id: { value: 'ID', text: 'the id from keys list' } },
  async run(values) {
    const { id } = values;
    if (id === undefined || !isUuid(id))
      throw new UsageError('keys revoke: --id must be an id from keys list');
    await using keys = await openKeys(values);
    try {
      await keys.revoke(OPERATOR, id);
      return 0;
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
      process.stderr.write(`agent-server: ${error.message}\n`);
      return 1;
    }
  },
};

/** `new_file`: the SQLite file, if there was none. */
async function openKeys(values: FlagValues, { creates } = { creates: false }) {
  const { config } = await loadConfigFor(values);
  const { openApiKeys } = await import('../../storage/storage.ts');
  const file = sqlitePath(config.storage.url);
  const new_file = file === undefined || existsSync(file) ? undefined : file;
  const { apiKeys, ...storage } = await openApiKeys({ ...config.storage, owned: OWNED_DATA, creates });
  const service = keyService({
    apiKeys,
    ring: { forget: () => {} },
    bus: memoryBus(),
    clock: systemClock,
    ids: systemIds(systemClock),
    logger: silentLogger,
  });
  return { ...service, ...storage, new_file };
}

function daysOf(text: string): number {
  const days = Number(text);
  if (Number.isFinite(days) && days > 0 && days <= MAX_KEY_DAYS) return days;
  throw new UsageError(`keys create: --days must be a number of days, at most ${MAX_KEY_DAYS}`);
}

const HEADER = ['ID', 'SCOPE', 'NAME', 'CREATED', 'STATUS', 'LAST USED'];

function table(keys: readonly Key[]): string {
  const rows = [HEADER, ...keys.map(rowOf)];
  const widths = HEADER.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}

function rowOf(key: Key): string[] {
  return [key.key_id, key.scope, key.name, key.created_at, statusOf(key), key.last_used_at ?? 'never'];
}

function statusOf({ expires_at, revoked_at }: Key): string {
  if (revoked_at) return `revoked ${revoked_at}`;
  if (!expires_at) return 'never expires';
  return expires_at > timestamp(systemClock.now()) ? `expires ${expires_at}` : `expired ${expires_at}`;
}
