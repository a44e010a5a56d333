import { toJson } from '../../core/json.ts';
import type { Cipher } from '../encryption/cipher.ts';

/** What a search sees of an item, where the item says so itself: nothing, or these paths. */
export type IndexRule = false | readonly string[] | null;

const COLUMN = 'store_items.index_rule';

export function storedRule(cipher: Cipher, rule: IndexRule): string | null {
  return rule === null ? null : cipher.sealJson(COLUMN, toJson(rule));
}

export function openedRule(cipher: Cipher, text: string | null): IndexRule {
  return text === null ? null : JSON.parse(cipher.openJson(COLUMN, text));
}
