import { hkdfSync } from 'node:crypto';

/** A configured key: 16, 24 or 32 bytes, or text that encodes them (`keyBytes`). */
export type GivenKey = string | Uint8Array;

/** Derives data keys; never encrypts anything itself. */
export interface MasterKey {
  /** Eight hexadecimal digits, stored in every value encrypted under the key. They reveal nothing about the key. */
  readonly id: string;
  dataKey(salt: Uint8Array): Uint8Array;
}

export interface KeyRing {
  /** Encrypts new values. */
  readonly current: MasterKey;
  find(id: string): MasterKey | undefined;
}

const SIZES = [16, 24, 32];

/**
 * The bytes of a key: the text's own, as on the official server, if there are 16, 24 or 32; otherwise those it encodes
 * in hexadecimal or base64. Returns `undefined` for any other text.
 */
export function keyBytes(key: GivenKey): Uint8Array | undefined {
  if (typeof key !== 'string') return SIZES.includes(key.length) ? key : undefined;
  const text = key.trim();
  const candidates = [Buffer.from(text, 'utf8')];
  if (/^([0-9a-f]{2})+$/i.test(text)) candidates.push(Buffer.from(text, 'hex'));
  // Node decodes any text as base64: 16, 24 and 32 bytes take 22, 32 and 43 characters.
  if (/^([\w+/-]{22}|[\w+/-]{32}|[\w+/-]{43})={0,2}$/.test(text))
    candidates.push(Buffer.from(text, 'base64'));
  return candidates.find(({ length }) => SIZES.includes(length));
}

/** Throws for an invalid key, without revealing it in the message. Duplicates count once. */
export function keyRing(current: GivenKey, fallback: readonly GivenKey[] = []): KeyRing {
  const keys = [current, ...fallback].map(masterKey);
  const byId = new Map(keys.map((key) => [key.id, key]));
  return { current: keys[0] as MasterKey, find: (id) => byId.get(id) };
}

export const KEY_RULE = 'must be 16, 24 or 32 bytes, given as characters, in hexadecimal or in base64';

function masterKey(given: GivenKey): MasterKey {
  const master = keyBytes(given);
  if (!master) throw new Error(`a key ${KEY_RULE}`);
  return {
    id: Buffer.from(derive(master, '', 'key id', 4)).toString('hex'),
    dataKey: (salt) => derive(master, salt, 'data', 32),
  };
}

function derive(master: Uint8Array, salt: Uint8Array | string, use: string, size: number): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', master, salt, `agent-server encryption: ${use}`, size));
}
