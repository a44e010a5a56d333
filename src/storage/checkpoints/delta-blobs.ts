/** How a channel's value is stored: whole, or as what it has more than the list in `base_version`. */
export interface BlobRow {
  readonly channel: string;
  readonly version: string;
  readonly base_version: string | null;
  /** How often the list was appended to since it was last stored whole. */
  readonly appends: number;
  /** The serialiser's name for its format; lists are recognised in `json`. */
  readonly type: string;
  /** With a base: the new elements with commas between them, or nothing when it did not change. */
  readonly value: Uint8Array;
  /** Why `value` cannot be had; it is empty then. Only in rows that were read. */
  readonly damage?: string | undefined;
}

/** A value with what is needed to store the next version of it as an appendix. */
export interface StoredValue {
  readonly version: string;
  readonly type: string;
  readonly bytes: Uint8Array;
  readonly appends: number;
  readonly milestone: Milestone;
  /** Why the bytes cannot be had: a row it stands on is missing, or cannot be decrypted. They are empty then. */
  readonly damage?: string | undefined;
}

interface Milestone {
  readonly version: string;
  /** Of the whole value at that version. */
  readonly bytes: number;
}

/**
 * Every so many appends, one repeats all since the last milestone and names that as its base. A list of n appends is
 * then read from n/16 + 16 rows and stored at most twice, whatever n is. Without milestones reading cost 4 µs a row on
 * SQLite, 8 ms for 2000 appends; with full copies instead the storage would grow with the square of n.
 */
const MILESTONE_EVERY = 16;

const COMMA = 0x2c;
const CLOSE = 0x5d;

/** A row has about as much beside its value: below this, putting a value together costs more than it saves. */
const WHOLE_BELOW_BYTES = 256;

/** The row of a value's next version; `base` is any earlier version that is in the database. */
export function nextVersion(
  base: StoredValue | undefined,
  next: Pick<StoredValue, 'version' | 'type' | 'bytes'>,
  channel: string,
): { row: BlobRow; value: StoredValue } {
  const { version, type, bytes } = next;
  if (!base || !continues(base, next)) {
    const row = { channel, version, base_version: null, appends: 0, type, value: bytes };
    return { row, value: { ...next, appends: 0, milestone: { version, bytes: bytes.length } } };
  }
  const appends = base.appends + 1;
  const atMilestone = appends % MILESTONE_EVERY === 0;
  const from = atMilestone ? base.milestone : { version: base.version, bytes: base.bytes.length };
  const value = bytes.subarray(from.bytes, -1);
  return {
    row: { channel, version, base_version: from.version, appends, type, value },
    value: { ...next, appends, milestone: atMilestone ? { version, bytes: bytes.length } : base.milestone },
  };
}

/**
 * True when `next` is the same as `base`, or the same list with elements after it. A list that more than doubled is
 * stored whole, which costs no more and ends the chain.
 */
function continues(base: StoredValue, next: Pick<StoredValue, 'type' | 'bytes'>): boolean {
  const [had, has] = [base.bytes, next.bytes];
  if (base.type !== next.type || had.length < WHOLE_BELOW_BYTES || has.length > 2 * had.length) return false;
  return has.length === had.length
    ? Buffer.compare(had, has) === 0
    : base.type === 'json' && extendsList(had, has);
}

/**
 * Where the text of a complete list closes, the text of another that is the same up to there can only close too or go
 * on with a comma: comparing the bytes compares the elements, also one that was changed in place.
 */
function extendsList(had: Uint8Array, has: Uint8Array): boolean {
  const end = had.length - 1;
  return (
    had[end] === CLOSE &&
    has[end] === COMMA &&
    Buffer.compare(had.subarray(0, end), has.subarray(0, end)) === 0
  );
}

/** Puts a version together from the rows it stands on. Undefined when there is no such version. */
export function readVersion(rows: ReadonlyMap<string, BlobRow>, version: string): StoredValue | undefined {
  const last = rows.get(version);
  if (!last) return undefined;
  const chain: BlobRow[] = [last];
  for (let row = last; row.base_version !== null; chain.push(row)) {
    const base = rows.get(row.base_version);
    // Rows that name each other as their base are damage too, and would be followed for ever.
    if (!base || chain.length === rows.size) return damaged(last, 'a part of it is missing');
    row = base;
  }
  const damage = chain.find((row) => row.damage !== undefined)?.damage;
  return damage === undefined ? unfold(chain.reverse()) : damaged(last, damage);
}

/** Nothing can be appended to it: it is empty. */
function damaged({ version, type }: BlobRow, damage: string): StoredValue {
  return { version, type, bytes: new Uint8Array(), appends: 0, milestone: { version, bytes: 0 }, damage };
}

/** From the whole value to the last appendix. */
function unfold(chain: readonly BlobRow[]): StoredValue {
  const [whole, ...appendices] = chain as [BlobRow, ...BlobRow[]];
  let milestone = { version: whole.version, bytes: whole.value.length };
  let bytes = whole.value.length;
  const parts: Uint8Array[] = [whole.value];
  for (const { value, version, appends } of appendices) {
    if (value.length > 0) {
      parts.push(value);
      // One for the comma before it.
      bytes += value.length + 1;
    }
    if (appends % MILESTONE_EVERY === 0) milestone = { version, bytes };
  }
  const { version, type, appends } = chain.at(-1) as BlobRow;
  return {
    version,
    type,
    appends,
    milestone,
    bytes: parts.length === 1 ? whole.value : joined(parts, bytes),
  };
}

function joined(parts: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    // The first overwrites the bracket that closed the list before it.
    if (at > 0) bytes[at - 1] = COMMA;
    at += part.length + (at === 0 ? 0 : 1);
  }
  bytes[length - 1] = CLOSE;
  return bytes;
}
