import type { RandomBytes } from '../../core/random.ts';
import { aesEncryptor } from './aes.ts';
import { DecryptionError, type Encryptor } from './cipher.ts';
import { type GivenKey, type KeyRing, keyRing } from './key-ring.ts';

/** A project's own handlers for encryption at rest (`encryption.path`). */
export interface EncryptionHandlers {
  /** Key source, such as a vault. Called once, at startup. */
  readonly keys?: () => GivenKeys | Promise<GivenKeys>;
  /** Replaces AES. Called for each value, so it must be synchronous. */
  readonly encrypt?: (plain: Uint8Array, context: EncryptionContext) => Uint8Array;
  /** Decrypts all that `encrypt` ever returned, under any earlier key. Alone: reads values still encrypted so. */
  readonly decrypt?: (encrypted: Uint8Array, context: EncryptionContext) => Uint8Array;
}

export interface EncryptionContext {
  /** Column of the value, such as `runs.kwargs`. Authenticate it, so that a value cannot be moved to another column. */
  readonly column: string;
}

/** Each 16, 24 or 32 bytes. `fallback`: keys under which stored values may still be encrypted. */
export interface GivenKeys {
  readonly current: GivenKey;
  readonly fallback?: readonly GivenKey[];
}

export interface ConfiguredKeys {
  readonly key?: string | undefined;
  readonly fallback_keys: readonly string[];
}

/** Creates and self-tests the configured encryptor; `undefined` if none is. Throws an `Error` that names the fix. */
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

/** Validates the export of a project. Throws an `Error` that names what is wrong. */
export function parseHandlers(exported: unknown): EncryptionHandlers {
  const given = (exported ?? {}) as Record<string, unknown>;
  const names = ['keys', 'encrypt', 'decrypt'].filter((name) => given[name] !== undefined);
  const wrong = names.find((name) => typeof given[name] !== 'function');
  if (wrong) throw new Error(`${wrong} must be a function`);
  if (names.includes('encrypt') && !names.includes('decrypt')) throw new Error('encrypt requires decrypt');
  if (names.length === 0) throw new Error('must be an object with keys(), or with encrypt() and decrypt()');
  // The export may be a class instance: keep `this`.
  return Object.fromEntries(names.map((name) => [name, (given[name] as Handler).bind(exported)]));
}

type Handler = (...args: never[]) => unknown;

/** Cannot collide with the id of a key, which is hexadecimal. */
const CUSTOM_KEY_ID = 'handlers';

/** Values encrypted under keys earlier still decrypt while those keys are configured. */
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
    decrypt(mark, encrypted, column) {
      if (mark === CUSTOM_KEY_ID) return decryptCustom(decrypt, encrypted, column);
      if (aes) return aes.decrypt(mark, encrypted, column);
      throw new DecryptionError(`${column} is encrypted with a key that is not configured (${mark})`);
    },
  };
}

function decryptCustom(
  decrypt: NonNullable<EncryptionHandlers['decrypt']>,
  encrypted: Uint8Array,
  column: string,
): Uint8Array {
  try {
    return assertBytes('decrypt', decrypt(encrypted, { column }));
  } catch (cause) {
    throw new DecryptionError(`${column} cannot be decrypted by the handlers of encryption.path`, { cause });
  }
}

function assertBytes(name: string, given: unknown): Uint8Array {
  if (given instanceof Uint8Array) return given;
  throw new Error(`${name} must return a Uint8Array, not a promise`);
}

/** Round trip: throws if an encrypted value does not decrypt to itself. */
function selfTest(encryptor: Encryptor): void {
  const plain = new TextEncoder().encode('a try');
  const column = 'encryption.try';
  const again = encryptor.decrypt(encryptor.key_id, encryptor.encrypt(plain, column), column);
  if (Buffer.compare(again, plain) !== 0) throw new Error('decrypt does not return what encrypt was given');
}
