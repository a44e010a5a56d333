import { toJson } from '../../core/json.ts';
import type { Cipher } from '../../db/encryption/cipher.ts';
import { canonicalJson } from '../../db/json.ts';
import { type DialectSql, raw, type Sql, sql } from '../../db/sql.ts';

const VALUE_COLUMN = 'store_items.value';
/** Member of a stored value that holds the ciphertext; the other members are blind indexes for filters. */
export const ENCRYPTED_VALUE_MEMBER = 'agent-server:sealed';

/**
 * Stored form of an item's value: `canonicalJson`. With encryption an object of blind indexes, which support equality
 * and list containment in SQL, plus the ciphertext. Member names are data too, as in `{"ada@example.org": true}`, and
 * are blinded.
 */
export function encryptValue(cipher: Cipher, value: Record<string, unknown>): string {
  const text = canonicalJson(value);
  if (!cipher.enabled) return text;
  const members = Object.entries(JSON.parse(text)).map(([name, member]) => [
    memberBlindIndex(cipher, name),
    valueBlindIndex(cipher, name, member),
  ]);
  return canonicalJson({
    ...Object.fromEntries(members),
    [ENCRYPTED_VALUE_MEMBER]: cipher.encryptText(VALUE_COLUMN, text),
  });
}

/** Decrypts a stored value. Throws `DecryptionError`. */
export function decryptValue(cipher: Cipher, text: string): Record<string, unknown> {
  const stored = JSON.parse(text) as Record<string, unknown>;
  const encrypted = cipher.enabled ? stored[ENCRYPTED_VALUE_MEMBER] : undefined;
  if (typeof encrypted !== 'string') return stored;
  const decrypted = cipher.decryptText(VALUE_COLUMN, encrypted);
  // A plaintext item may happen to have that member.
  return decrypted === encrypted ? stored : JSON.parse(decrypted);
}

/** `false` for a value stored without encryption. */
export function isEncryptedValue(text: string): boolean {
  return ENCRYPTED_VALUE_MEMBER in JSON.parse(text);
}

/**
 * SQL condition on the member `name`: `condition` receives name and wanted value, plain or as blind indexes. With
 * encryption it also matches plaintext items from before.
 */
export function memberCondition(
  cipher: Cipher,
  name: string,
  wanted: unknown,
  condition: (name: string, wanted: unknown) => Sql | DialectSql,
): Sql | DialectSql {
  if (!cipher.enabled) return condition(name, wanted);
  const encrypted = condition(memberBlindIndex(cipher, name), valueBlindIndex(cipher, name, wanted));
  return sql`case when ${IS_ENCRYPTED} then ${encrypted} else ${condition(name, wanted)} end`;
}

const IS_ENCRYPTED = raw(`store_items.value -> '${ENCRYPTED_VALUE_MEMBER}' is not null`);

/** Bound to its member, so that equal values of different members are not linkable. `null` stays plain. */
function valueBlindIndex(cipher: Cipher, name: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => valueBlindIndex(cipher, name, each));
  return value === null ? null : cipher.blindIndex(VALUE_COLUMN, canonicalJson([name, value]));
}

function memberBlindIndex(cipher: Cipher, name: string): string {
  return cipher.blindIndex('store_items.value, names', canonicalJson(name));
}

/** The item's own index setting: `false`, or paths; `null` uses the default. */
export type IndexRule = false | readonly string[] | null;

const INDEX_RULE_COLUMN = 'store_items.index_rule';

export function encryptRule(cipher: Cipher, rule: IndexRule): string | null {
  return rule === null ? null : cipher.encryptJson(INDEX_RULE_COLUMN, toJson(rule));
}

export function decryptRule(cipher: Cipher, text: string | null): IndexRule {
  return text === null ? null : JSON.parse(cipher.decryptJson(INDEX_RULE_COLUMN, text));
}
