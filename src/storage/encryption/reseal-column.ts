import { METADATA_SEALED, openMetadata, sealMetadata } from '../checkpoint-metadata.ts';
import { type DialectSql, raw, type Sql, type SqlValue, sql } from '../sql.ts';
import { openedValue, storedValue, VALUE_SEALED } from '../store/sealed-value.ts';
import type { SealedForm } from './columns.ts';
import type { SealingCipher } from './sealing-cipher.ts';

export interface SealedColumn {
  readonly name: string;
  /** As `runs.kwargs`. */
  readonly sealed_as: string;
  readonly form: SealedForm;
}

/** An object of tokens. */
interface Searched {
  /** That is sealed. */
  readonly member: string;
  /** Makes all of it anew. */
  reseal(cipher: SealingCipher, text: string): string;
}

const SEARCHED: Readonly<Record<string, Searched>> = {
  'checkpoints.metadata': {
    member: METADATA_SEALED,
    reseal: (cipher, text) => sealMetadata(cipher, openMetadata(cipher, text)),
  },
  'store_items.value': {
    member: VALUE_SEALED,
    reseal: (cipher, text) => storedValue(cipher, openedValue(cipher, text)),
  },
};

/** True in SQL when the column holds something that is not sealed under the current key. */
export function isStale(cipher: SealingCipher, { name, form, sealed_as }: SealedColumn): Sql {
  const beginning = (text: Sql | DialectSql, mark: string | Uint8Array) =>
    sql`(${raw(name)} is not null and coalesce(substr(${text}, 1, ${raw(String(mark.length))}) <> ${mark}, true))`;
  switch (form) {
    case 'text':
      return beginning(raw(name), cipher.prefix);
    case 'json':
      return beginning(raw(`cast(${name} as text)`), `"${cipher.prefix}`);
    case 'bytes':
      return beginning(raw(name), cipher.bytesPrefix);
    case 'searched':
      return beginning(raw(`(${name} ->> '${searched(sealed_as).member}')`), cipher.prefix);
  }
}

/** What is stored, sealed under the current key. Throws `Unreadable`. */
export function resealed(
  cipher: SealingCipher,
  { form, sealed_as }: SealedColumn,
  stored: SqlValue,
): SqlValue {
  switch (form) {
    case 'text':
      return cipher.sealText(sealed_as, cipher.openText(sealed_as, stored as string));
    case 'json':
      return cipher.sealJson(sealed_as, cipher.openJson(sealed_as, stored as string));
    case 'bytes':
      return cipher.sealBytes(sealed_as, cipher.openBytes(sealed_as, stored as Uint8Array));
    case 'searched':
      return searched(sealed_as).reseal(cipher, stored as string);
  }
}

function searched(sealed_as: string): Searched {
  const found = SEARCHED[sealed_as];
  if (!found) throw new Error(`It is not known how ${sealed_as} is sealed anew.`);
  return found;
}
