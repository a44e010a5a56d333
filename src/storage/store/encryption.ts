import { toJson } from '../../core/json.ts';
import type { Cipher } from '../../db/encryption/cipher.ts';
import { canonicalJson } from '../../db/json.ts';
import { type DialectSql, raw, type Sql, sql } from '../../db/sql.ts';

const VALUE_COLUMN = 'store_items.value';
/** The member of a stored value that has the value itself, sealed; the others are tokens for what filters ask. */
export const VALUE_SEALED = 'agent-server:sealed';

/**
 * What is stored of an item's value: the value itself, as `canonicalJson`. With encryption an object of tokens, by which
 * the database can tell whether a member equals something and a list has something, and the value sealed beside them.
 * Names of members are data too: `{"ada@example.org": true}`.
 */
export function storedValue(cipher: Cipher, value: Record<string, unknown>): string {
  const text = canonicalJson(value);
  if (!cipher.on) return text;
  const members = Object.entries(JSON.parse(text)).map(([name, member]) => [
    memberToken(cipher, name),
    valueToken(cipher, name, member),
  ]);
  return canonicalJson({
    ...Object.fromEntries(members),
    [VALUE_SEALED]: cipher.sealText(VALUE_COLUMN, text),
  });
}

/** The value of an item, from what is stored of it. Throws `Unreadable`. */
export function openedValue(cipher: Cipher, text: string): Record<string, unknown> {
  const stored = JSON.parse(text) as Record<string, unknown>;
  const sealed = cipher.on ? stored[VALUE_SEALED] : undefined;
  if (typeof sealed !== 'string') return stored;
  const opened = cipher.openText(VALUE_COLUMN, sealed);
  // An item from before may happen to have that member.
  return opened === sealed ? stored : JSON.parse(opened);
}

/** False for what was stored without encryption. */
export function isSealedValue(text: string): boolean {
  return VALUE_SEALED in JSON.parse(text);
}

/**
 * A condition on the member `name` of a stored value: `condition` makes it of the member's name and of what is wanted,
 * each as it is or as a token. With encryption it holds for items of before too, which are as they were.
 */
export function onMember(
  cipher: Cipher,
  name: string,
  wanted: unknown,
  condition: (name: string, wanted: unknown) => Sql | DialectSql,
): Sql | DialectSql {
  if (!cipher.on) return condition(name, wanted);
  const sealed = condition(memberToken(cipher, name), valueToken(cipher, name, wanted));
  return sql`case when ${IS_SEALED} then ${sealed} else ${condition(name, wanted)} end`;
}

const IS_SEALED = raw(`store_items.value -> '${VALUE_SEALED}' is not null`);

/** Of no use for another member: that two of them are equal is nobody's business. Null stays, for it may be missing. */
function valueToken(cipher: Cipher, name: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => valueToken(cipher, name, each));
  return value === null ? null : cipher.token(VALUE_COLUMN, canonicalJson([name, value]));
}

function memberToken(cipher: Cipher, name: string): string {
  return cipher.token('store_items.value, names', canonicalJson(name));
}

/** What a search sees of an item, where the item says so itself: nothing, or these paths. */
export type IndexRule = false | readonly string[] | null;

const INDEX_RULE_COLUMN = 'store_items.index_rule';

export function storedRule(cipher: Cipher, rule: IndexRule): string | null {
  return rule === null ? null : cipher.sealJson(INDEX_RULE_COLUMN, toJson(rule));
}

export function openedRule(cipher: Cipher, text: string | null): IndexRule {
  return text === null ? null : JSON.parse(cipher.openJson(INDEX_RULE_COLUMN, text));
}
