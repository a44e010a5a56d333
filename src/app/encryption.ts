import type { Config } from '../config/schema.ts';
import { entropy } from '../core/random.ts';
import type { Sealer } from '../db/encryption/cipher.ts';
import { handlersIn, sealerOf } from '../db/encryption/handlers.ts';
import { within } from '../graphs/deadline.ts';
import { loadProjectValue } from '../graphs/project-value.ts';
import { fromConfig } from './from-config.ts';

/** How long keys may take to come: a vault that hangs must not hold up the server for ever. */
const LIMIT_MS = 60_000;

/** What seals at rest; undefined when nothing is sealed. Throws in one line what is wrong with the project's own. */
export async function openSealer(config: Config): Promise<Sealer | undefined> {
  const { encryption, root } = config;
  if (encryption.path === undefined) return sealerOf(encryption, {}, entropy());
  const sealer = loadProjectValue(encryption.path, root, (exported) =>
    within(LIMIT_MS, sealerOf(encryption, handlersIn(exported), entropy())),
  );
  return fromConfig(config, 'encryption.path', sealer);
}
