import type { Random } from '../../core/random.ts';
import { aesSealer } from './aes.ts';
import { type Sealer, Unreadable } from './cipher.ts';
import { type GivenKey, type KeyRing, keyRing } from './key-ring.ts';

/** What a project may have of its own for encryption at rest (`encryption.path`). */
export interface EncryptionHandlers {
  /** Where keys come from, such as a vault. Asked once, at the start. */
  readonly keys?: () => GivenKeys | Promise<GivenKeys>;
  /** Instead of AES; called for each value, so it may not wait for anything. */
  readonly encrypt?: (plain: Uint8Array, context: EncryptionContext) => Uint8Array;
  /** Of all that `encrypt` ever gave, whatever key it had then. Alone: of what is still encrypted so. */
  readonly decrypt?: (encrypted: Uint8Array, context: EncryptionContext) => Uint8Array;
}

export interface EncryptionContext {
  /** Whose value it is, as `runs.kwargs`: to be authenticated with it, so that a value cannot be put elsewhere. */
  readonly column: string;
}

/** Each 16, 24 or 32 bytes. `fallback`: what is stored may be encrypted with them too. */
export interface GivenKeys {
  readonly current: GivenKey;
  readonly fallback?: readonly GivenKey[];
}

export interface ConfiguredKeys {
  readonly key?: string | undefined;
  readonly fallback_keys: readonly string[];
}

/** Seals as configured, and has tried it; undefined when nothing is. Throws an `Error` that says in one line what to change. */
export async function sealerOf(
  { key, fallback_keys }: ConfiguredKeys,
  handlers: EncryptionHandlers,
  random: Random,
): Promise<Sealer | undefined> {
  const given = await handlers.keys?.();
  const keys = [...(given ? [given.current, ...(given.fallback ?? [])] : []), key, ...fallback_keys];
  const [current, ...fallback] = keys.filter((each) => each !== undefined);
  const ring = current === undefined ? undefined : keyRing(current, fallback);
  const sealer = handlers.decrypt
    ? ownSealer(handlers, handlers.decrypt, ring, random)
    : ring && aesSealer(ring, random);
  if (sealer) tryOut(sealer);
  return sealer;
}

/** What an export of a project must be. Throws an `Error` that says what it is not. */
export function handlersIn(exported: unknown): EncryptionHandlers {
  const given = (exported ?? {}) as Record<string, unknown>;
  const names = ['keys', 'encrypt', 'decrypt'].filter((name) => given[name] !== undefined);
  const wrong = names.find((name) => typeof given[name] !== 'function');
  if (wrong) throw new Error(`${wrong} must be a function`);
  if (names.includes('encrypt') && !names.includes('decrypt')) throw new Error('encrypt requires decrypt');
  if (names.length === 0) throw new Error('must be an object with keys(), or with encrypt() and decrypt()');
  // It may be an object of a class.
  return Object.fromEntries(names.map((name) => [name, (given[name] as Handler).bind(exported)]));
}

type Handler = (...args: never[]) => unknown;

/** As no id of a key can be. */
const OWN = 'handlers';

/** What was sealed with keys before still opens, while there are keys. */
function ownSealer(
  { encrypt }: EncryptionHandlers,
  decrypt: NonNullable<EncryptionHandlers['decrypt']>,
  ring: KeyRing | undefined,
  random: Random,
): Sealer {
  const aes = ring && aesSealer(ring, random);
  if (!encrypt && !aes) throw new Error('decrypt without encrypt requires keys()');
  return {
    mark: encrypt ? OWN : (aes as Sealer).mark,
    seal: (plain, column) =>
      encrypt ? bytes('encrypt', encrypt(plain, { column })) : (aes as Sealer).seal(plain, column),
    open(mark, sealed, column) {
      if (mark === OWN) return opened(decrypt, sealed, column);
      if (aes) return aes.open(mark, sealed, column);
      throw new Unreadable(`${column} is encrypted with a key that is not configured (${mark})`);
    },
  };
}

function opened(
  decrypt: NonNullable<EncryptionHandlers['decrypt']>,
  sealed: Uint8Array,
  column: string,
): Uint8Array {
  try {
    return bytes('decrypt', decrypt(sealed, { column }));
  } catch (cause) {
    throw new Unreadable(`${column} cannot be decrypted by the handlers of encryption.path`, { cause });
  }
}

function bytes(name: string, given: unknown): Uint8Array {
  if (given instanceof Uint8Array) return given;
  throw new Error(`${name} must return a Uint8Array, not a promise`);
}

/** Throws when what is sealed does not open again. */
function tryOut(sealer: Sealer): void {
  const plain = new TextEncoder().encode('a try');
  const column = 'encryption.try';
  const again = sealer.open(sealer.mark, sealer.seal(plain, column), column);
  if (Buffer.compare(again, plain) !== 0) throw new Error('decrypt does not return what encrypt was given');
}
