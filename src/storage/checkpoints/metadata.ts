import { isObject, type JsonObject, toJson } from '../../core/json.ts';
import { blindDocument } from '../../db/encryption/blind-index.ts';
import type { Cipher } from '../../db/encryption/cipher.ts';
import { contains } from '../../db/json.ts';
import { type DialectSql, or, type Sql, sql } from '../../db/sql.ts';

/** Cipher column, and purpose of the blind index. */
const METADATA_COLUMN = 'checkpoints.metadata';

/**
 * Stored metadata is a blind index, which the database can search, with the encrypted original in one more member. In a
 * copy of a thread, which only the database has touched, another member names the new thread.
 */
interface StoredMetadata extends JsonObject {
  readonly __sealed?: string;
  readonly __thread_id?: string;
}

export const ENCRYPTED_METADATA_MEMBER = '__sealed' satisfies keyof StoredMetadata;

/** Stored form of the metadata, as JSON text. */
export function encryptMetadata(cipher: Cipher, text: string): string {
  if (!cipher.enabled) return text;
  const blinded = blindDocument(cipher, METADATA_COLUMN, JSON.parse(text)) as JsonObject;
  return toJson({ ...blinded, __sealed: cipher.encryptText(METADATA_COLUMN, text) } satisfies StoredMetadata);
}

/** The original JSON text; in a copy of a thread, it names the copy. */
export function decryptMetadata(cipher: Cipher, text: string): string {
  if (!cipher.enabled) return text;
  const { __sealed, __thread_id } = JSON.parse(text) as StoredMetadata;
  if (__sealed === undefined) return text;
  const original = cipher.decryptText(METADATA_COLUMN, __sealed);
  if (__thread_id === undefined) return original;
  const metadata: unknown = JSON.parse(original);
  return isObject(metadata) && 'thread_id' in metadata
    ? toJson({ ...metadata, thread_id: __thread_id })
    : original;
}

/** True if the metadata in `column` contains `wanted`, encrypted or not: a row may predate the encryption. */
export function metadataContains(cipher: Cipher, column: string, wanted: JsonObject): Sql {
  const plain = contains(column, wanted);
  return cipher.enabled
    ? or([contains(column, blindDocument(cipher, METADATA_COLUMN, wanted)), plain])
    : sql`${plain}`;
}

/** The metadata with another thread's id, where it names a thread. */
export function withThreadId(cipher: Cipher, thread_id: string): Sql {
  const plain: DialectSql = {
    sqlite: sql`json_replace(metadata, '$.thread_id', ${thread_id})`,
    postgres: sql`jsonb_set(metadata, '{thread_id}', to_jsonb(${thread_id}::text), false)`,
  };
  if (!cipher.enabled) return sql`${plain}`;
  const token = (blindDocument(cipher, METADATA_COLUMN, { thread_id }) as { thread_id: string }).thread_id;
  const encrypted: DialectSql = {
    sqlite: sql`json_set(json_replace(metadata, '$.thread_id', ${token}), '$.__thread_id', ${thread_id})`,
    postgres: sql`jsonb_set(jsonb_set(metadata, '{thread_id}', to_jsonb(${token}::text), false),
      '{__thread_id}', to_jsonb(${thread_id}::text))`,
  };
  return sql`case when metadata -> '__sealed' is null then ${plain} else ${encrypted} end`;
}
