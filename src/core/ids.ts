import { randomBytes, randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { v5 as uuid5, v7 as uuid7 } from 'uuid';
import type { Clock } from './clock.ts';
import { bufferedRandomBytes } from './random.ts';

/** Generates ids; injected so that tests can fix them. */
export interface Ids {
  /** Time-ordered: threads, runs and crons (contract §1). */
  uuid7(): string;
  /** Random: assistants and copied threads. */
  uuid4(): string;
  /** 256 random bits, in base64url. */
  secret(): string;
}

export function systemIds(clock: Clock): Ids {
  const random = bufferedRandomBytes();
  let msecs = 0;
  let seq = 0;
  return {
    uuid7() {
      const bytes = random(16);
      const now = clock.now();
      // Monotonic: within one millisecond, and while the clock is behind, the sequence increments, so that ids of one
      // process sort by creation. It starts below 2^31 and has 32 bits.
      seq = now > msecs ? bytes.readUInt32BE(6) >>> 1 : seq + 1;
      msecs = Math.max(now, msecs);
      return uuid7({ msecs, seq, random: bytes });
    },
    uuid4: randomUUID,
    secret: () => randomBytes(32).toString('base64url'),
  };
}

/** Not one of RFC 4122's namespaces: note `b821` (contract §2.1). */
const ASSISTANT_NAMESPACE = '6ba7b821-9dad-11d1-80b4-00c04fd430c8';

/** By graph: each request of a run asks for those of all graphs. */
const systemAssistants = new LRUCache<string, string>({ max: 1000 });

/** Id of a graph's system assistant: uuid5 of its name, the same on every server (contract §2.1). */
export function systemAssistantId(graph_id: string): string {
  const known = systemAssistants.get(graph_id);
  if (known !== undefined) return known;
  const id = uuid5(graph_id, ASSISTANT_NAMESPACE);
  systemAssistants.set(graph_id, id);
  return id;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

const UUID_6 = /^[0-9a-f]{8}-[0-9a-f]{4}-6[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Start of the time in UUIDs, 15 October 1582, in ticks of 100 ns before the epoch. */
const UUID_EPOCH = 0x01b21dd213814000n;

/** Time at which a version 6 UUID was made, epoch ms with fractions; `undefined` for any other id. */
export function uuid6Time(id: string): number | undefined {
  if (!UUID_6.test(id)) return undefined;
  const ticks = BigInt(`0x${id.slice(0, 8)}${id.slice(9, 13)}${id.slice(15, 18)}`);
  return Number(ticks - UUID_EPOCH) / 10_000;
}

/** The lowest version 6 UUID of a time, epoch ms: those that are made earlier sort before it. */
export function firstUuid6(time: number): string {
  const ticks = (BigInt(Math.floor(time)) * 10_000n + UUID_EPOCH).toString(16).padStart(15, '0');
  return `${ticks.slice(0, 8)}-${ticks.slice(8, 12)}-6${ticks.slice(12)}-0000-000000000000`;
}

/** Any version, including 0: clients send ids of every kind. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
