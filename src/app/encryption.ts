import { loadConfigured } from '../config/load-configured.ts';
import type { Config } from '../config/schema.ts';
import { bufferedRandomBytes } from '../core/random.ts';
import { withDeadline } from '../core/timers.ts';
import type { Encryptor } from '../db/encryption/cipher.ts';
import { createEncryptor, parseHandlers } from '../db/encryption/handlers.ts';
import { importFromProject } from '../graphs/project/load.ts';

/** Timeout for loading keys: a hanging vault must not block start-up. */
const KEY_TIMEOUT_MS = 60_000;

/** Encryption at rest; undefined if disabled. Throws a one-line error if custom encryption handlers are invalid. */
export async function openEncryptor(config: Config): Promise<Encryptor | undefined> {
  const { encryption, root } = config;
  if (encryption.path === undefined) return createEncryptor(encryption, {}, bufferedRandomBytes());
  const encryptor = importFromProject(encryption.path, root, (exported) =>
    withDeadline(KEY_TIMEOUT_MS, createEncryptor(encryption, parseHandlers(exported), bufferedRandomBytes())),
  );
  return loadConfigured(config, 'encryption.path', encryptor);
}
