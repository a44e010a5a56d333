import { toJson } from '../../core/json.ts';
import type { Cipher } from '../../db/encryption/cipher.ts';
import { canonicalJson } from '../../db/json.ts';
import { type DialectSql, raw, type Sql, sql } from '../../db/sql.ts';

const VALUE_COLUMN = 'store_items.value';
/** The member of a stored value that has the value itself, sealed; the others are tokens for what filters ask. */
export const ENCRYPTED_VALUE_MEMBER = 'agent-server:sealed';

/**
 * What is stored of an item's value: the value itself, as `canonicalJson`. With encryption an object of tokens, by which
 * the database can tell whether a member equals something and a list has something, and the value sealed beside them.
 * Names of members are data too: `{"ada@example.org": true}`.
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

/** The value of an item, from what is stored of it. Throws `DecryptionError`. */
export function decryptValue(cipher: Cipher, text: string): Record<string, unknown> {
  const stored = JSON.parse(text) as Record<string, unknown>;
  const sealed = cipher.enabled ? stored[ENCRYPTED_VALUE_MEMBER] : undefined;
  if (typeof sealed !== 'string') return stored;
  const opened = cipher.decryptText(VALUE_COLUMN, sealed);
  // An item from before may happen to have that member.
  return opened === sealed ? stored : JSON.parse(opened);
}

/** False for what was stored without encryption. */
export function isEncryptedValue(text: string): boolean {
  return ENCRYPTED_VALUE_MEMBER in JSON.parse(text);
}

/**
 * A condition on the member `name` of a stored value: `condition` makes it of the member's name and of what is wanted,
 * each as it is or as a token. With encryption it holds for items of before too, which are as they were.
 */
export function memberCondition(
  cipher: Cipher,
  name: string,
  wanted: unknown,
  condition: (name: string, wanted: unknown) => Sql | DialectSql,
): Sql | DialectSql {
  if (!cipher.enabled) return condition(name, wanted);
  const sealed = condition(memberBlindIndex(cipher, name), valueBlindIndex(cipher, name, wanted));
  return sql`case when ${IS_ENCRYPTED} then ${sealed} else ${condition(name, wanted)} end`;
}

const IS_ENCRYPTED = raw(`store_items.value -> '${ENCRYPTED_VALUE_MEMBER}' is not null`);

/** Of no use for another member: that two of them are equal is nobody's business. Null stays, for it may be missing. */
function valueBlindIndex(cipher: Cipher, name: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => valueBlindIndex(cipher, name, each));
  return value === null ? null : cipher.blindIndex(VALUE_COLUMN, canonicalJson([name, value]));
}

function memberBlindIndex(cipher: Cipher, name: string): string {
  return cipher.blindIndex('store_items.value, names', canonicalJson(name));
}

/** What a search sees of an item, where the item says so itself: nothing, or these paths. */
export type IndexRule = false | readonly string[] | null;

const INDEX_RULE_COLUMN = 'store_items.index_rule';

export function encryptRule(cipher: Cipher, rule: IndexRule): string | null {
  return rule === null ? null : cipher.encryptJson(INDEX_RULE_COLUMN, toJson(rule));
}

export function decryptRule(cipher: Cipher, text: string | null): IndexRule {
  return text === null ? null : JSON.parse(cipher.decryptJson(INDEX_RULE_COLUMN, text));
}
