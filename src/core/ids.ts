import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Clock } from './clock.ts';
import { bufferedRandomBytes } from './random.ts';

/** Makes ids; passed in so that tests can fix them. */
export interface Ids {
  /** Time-ordered: threads, runs and crons (CONTRACT §1). */
  uuid7(): string;
  /** Random: assistants and copied threads. */
  uuid4(): string;
  /** 256 bits that nobody can guess, in base64url. */
  secret(): string;
}

export function systemIds(clock: Clock): Ids {
  const random = bufferedRandomBytes();
  let lastMs = 0;
  let counter = 0;
  return {
    uuid7() {
      const now = clock.now();
      // Within one millisecond the 12 bits after the version count up, so that ids of one process sort by creation.
      if (now > lastMs) {
        lastMs = now;
        counter = random(1)[0] as number;
      } else if (++counter > 0xfff) {
        lastMs += 1;
        counter = 0;
      }
      const bytes = random(16);
      bytes.writeUIntBE(lastMs, 0, 6);
      bytes.writeUInt16BE(0x7000 | counter, 6);
      bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
      return format(bytes);
    },
    uuid4: randomUUID,
    secret: () => randomBytes(32).toString('base64url'),
  };
}

/** Not one of RFC 4122's namespaces: note `b821` (CONTRACT §2.1). */
const ASSISTANT_NAMESPACE = '6ba7b821-9dad-11d1-80b4-00c04fd430c8';

/** The id of the system assistant of a graph: uuid5 of its name, so every server agrees on it (CONTRACT §2.1). */
export function systemAssistantId(graph_id: string): string {
  return uuid5(ASSISTANT_NAMESPACE, graph_id);
}

/** uuid5: the same id for the same name, wherever it is made (RFC 9562 §5.5). */
export function uuid5(namespace: string, name: string): string {
  const prefix = Buffer.from(namespace.replaceAll('-', ''), 'hex');
  const bytes = createHash('sha1').update(prefix).update(name).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return format(bytes);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Any version, also 0: clients bring ids of every kind. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

function format(bytes: Buffer): string {
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
