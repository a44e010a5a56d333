import { basename, resolve } from 'node:path';
import { ConfigError } from '../config/problems.ts';
import type { Config } from '../config/schema.ts';
import { entropy } from '../core/random.ts';
import { within } from '../graphs/deadline.ts';
import { loadValue } from '../graphs/load.ts';
import { publicText } from '../graphs/load-error.ts';
import { type EncryptionHandlers, handlersIn, sealerOf, tryOut } from '../storage/encryption/handlers.ts';
import type { Sealer } from '../storage/encryption/sealer.ts';

/** How long a file may take to load, and keys to come; a vault that hangs must not hold up the server for ever. */
const LIMIT_MS = 60_000;

/** What seals at rest, as the configuration wants it; undefined when nothing is sealed. Throws a `ConfigError`. */
export async function openSealer(config: Config): Promise<Sealer | undefined> {
  const { encryption, root, file } = config;
  try {
    const handlers = await within(LIMIT_MS, ownHandlers(config));
    const sealer = await within(LIMIT_MS, sealerOf(encryption, handlers, entropy()));
    if (sealer) tryOut(sealer);
    return sealer;
  } catch (cause) {
    const source = file === undefined ? 'configuration' : basename(file);
    throw new ConfigError([`${source}: encryption.path: ${publicText(cause, root)}`]);
  }
}

async function ownHandlers({ encryption: { path }, root }: Config): Promise<EncryptionHandlers> {
  if (path === undefined) return {};
  const colon = path.lastIndexOf(':');
  return handlersIn(await loadValue(resolve(root, path.slice(0, colon)), path.slice(colon + 1)));
}
