import { hkdfSync } from 'node:crypto';

/** As it is configured: 16, 24 or 32 bytes, or text that holds them (`keyBytes`). */
export type GivenKey = string | Uint8Array;

/** A key that data keys are derived from; never encrypts anything itself. */
export interface MasterKey {
  /** Eight hexadecimal digits that are in every value sealed under it. They say nothing of the key. */
  readonly id: string;
  dataKey(salt: Uint8Array): Uint8Array;
}

export interface KeyRing {
  /** What is written now is sealed under this one. */
  readonly current: MasterKey;
  find(id: string): MasterKey | undefined;
}

const SIZES = [16, 24, 32];

/**
 * The bytes of a key: the text's own, as the official server has it, when they are 16, 24 or 32; else what it says in
 * hexadecimal or base64. Undefined for any other text.
 */
export function keyBytes(key: GivenKey): Uint8Array | undefined {
  if (typeof key !== 'string') return SIZES.includes(key.length) ? key : undefined;
  const text = key.trim();
  const candidates = [Buffer.from(text, 'utf8')];
  if (/^([0-9a-f]{2})+$/i.test(text)) candidates.push(Buffer.from(text, 'hex'));
  // Node takes any text for base64: 16, 24 and 32 bytes are 22, 32 and 43 characters of it.
  if (/^([\w+/-]{22}|[\w+/-]{32}|[\w+/-]{43})={0,2}$/.test(text))
    candidates.push(Buffer.from(text, 'base64'));
  return candidates.find(({ length }) => SIZES.includes(length));
}

/** Throws when a key is none; the message does not show it. A key that is there twice counts once. */
export function keyRing(current: GivenKey, fallback: readonly GivenKey[] = []): KeyRing {
  const keys = [current, ...fallback].map(masterKey);
  const byId = new Map(keys.map((key) => [key.id, key]));
  return { current: keys[0] as MasterKey, find: (id) => byId.get(id) };
}

export const KEY_RULE = 'must be 16, 24 or 32 bytes: as characters, or in hexadecimal or base64';

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
