import type { RandomBytes } from '../../core/random.ts';
import { aesEncryptor } from './aes.ts';
import { DecryptionError, type Encryptor } from './cipher.ts';
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
export async function createEncryptor(
  { key, fallback_keys }: ConfiguredKeys,
  handlers: EncryptionHandlers,
  random: RandomBytes,
): Promise<Encryptor | undefined> {
  const given = await handlers.keys?.();
  const keys = [...(given ? [given.current, ...(given.fallback ?? [])] : []), key, ...fallback_keys];
  const [current, ...fallback] = keys.filter((each) => each !== undefined);
  const ring = current === undefined ? undefined : keyRing(current, fallback);
  const encryptor = handlers.decrypt
    ? customEncryptor(handlers, handlers.decrypt, ring, random)
    : ring && aesEncryptor(ring, random);
  if (encryptor) selfTest(encryptor);
  return encryptor;
}

/** What an export of a project must be. Throws an `Error` that says what it is not. */
export function parseHandlers(exported: unknown): EncryptionHandlers {
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
const CUSTOM_KEY_ID = 'handlers';

/** What was sealed with keys before still opens, while there are keys. */
function customEncryptor(
  { encrypt }: EncryptionHandlers,
  decrypt: NonNullable<EncryptionHandlers['decrypt']>,
  ring: KeyRing | undefined,
  random: RandomBytes,
): Encryptor {
  const aes = ring && aesEncryptor(ring, random);
  if (!encrypt && !aes) throw new Error('decrypt without encrypt requires keys()');
  return {
    key_id: encrypt ? CUSTOM_KEY_ID : (aes as Encryptor).key_id,
    encrypt: (plain, column) =>
      encrypt
        ? assertBytes('encrypt', encrypt(plain, { column }))
        : (aes as Encryptor).encrypt(plain, column),
    decrypt(mark, sealed, column) {
      if (mark === CUSTOM_KEY_ID) return decryptCustom(decrypt, sealed, column);
      if (aes) return aes.decrypt(mark, sealed, column);
      throw new DecryptionError(`${column} is encrypted with a key that is not configured (${mark})`);
    },
  };
}

function decryptCustom(
  decrypt: NonNullable<EncryptionHandlers['decrypt']>,
  sealed: Uint8Array,
  column: string,
): Uint8Array {
  try {
    return assertBytes('decrypt', decrypt(sealed, { column }));
  } catch (cause) {
    throw new DecryptionError(`${column} cannot be decrypted by the handlers of encryption.path`, { cause });
  }
}

function assertBytes(name: string, given: unknown): Uint8Array {
  if (given instanceof Uint8Array) return given;
  throw new Error(`${name} must return a Uint8Array, not a promise`);
}

/** Throws when what is sealed does not open again. */
function selfTest(encryptor: Encryptor): void {
  const plain = new TextEncoder().encode('a try');
  const column = 'encryption.try';
  const again = encryptor.decrypt(encryptor.key_id, encryptor.encrypt(plain, column), column);
  if (Buffer.compare(again, plain) !== 0) throw new Error('decrypt does not return what encrypt was given');
}
