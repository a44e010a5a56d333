import { EXTENSIONS } from '../extensions/index.ts';
import type { Command } from './command.ts';
import { ask } from './commands/ask.ts';
import { check } from './commands/check.ts';
import { dev } from './commands/dev.ts';
import { rotateEncryption } from './commands/encryption.ts';
import { explain } from './commands/explain.ts';
import { init } from './commands/init.ts';
import { createKey, listKeys, revokeKey } from './commands/keys.ts';
import { logs } from './commands/logs.ts';
import { migrate } from './commands/migrate.ts';
import { openapi } from './commands/openapi.ts';
import { start } from './commands/start.ts';
import { version } from './commands/version.ts';

const ofExtensions = await Promise.all(EXTENSIONS.map((extension) => extension.loadCommands?.() ?? []));

/** In the order of the help. */
export const COMMANDS: readonly Command[] = [
  init,
  dev,
  start,
  ask,
  logs,
  explain,
  check,
  migrate,
  createKey,
  listKeys,
  revokeKey,
  rotateEncryption,
  ...ofExtensions.flat(),
  openapi,
  version,
];
