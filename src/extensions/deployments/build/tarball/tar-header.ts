/** A tar archive consists of blocks of 512 bytes. */
export const BLOCK = 512;

/** The header of an entry (POSIX ustar with GNU extensions). */
export interface TarHeader {
  readonly path: string;
  /** Type flag: `0` file, `1` hard link, `2` symbolic link, `5` folder; `x`, `g`, `L` and `K` extend other headers. */
  readonly type: string;
  readonly size: number;
  readonly mode: number;
  /** Target of a link. */
  readonly target: string;
}

/** Parses a header. `undefined` for the empty block at the end; throws if the checksum is wrong. */
export function parseTarHeader(block: Buffer): TarHeader | undefined {
  if (block.every((byte) => byte === 0)) return undefined;
  if (numberAt(block, 148, 8) !== checksum(block)) throw new Error('a header of the archive is damaged');
  const prefix = textAt(block, 257, 5) === 'ustar' && block[263] === 0x30 ? textAt(block, 345, 155) : '';
  const name = textAt(block, 0, 100);
  return {
    path: prefix ? `${prefix}/${name}` : name,
    type: block[156] === 0 ? '0' : String.fromCharCode(block[156] as number),
    size: numberAt(block, 124, 12),
    mode: numberAt(block, 100, 8),
    target: textAt(block, 157, 100),
  };
}

/** Records of a pax header: `LENGTH KEY=VALUE` and a line break, where the length counts the whole record. */
export function parsePaxRecords(data: Buffer): Map<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < data.length; ) {
    const space = data.indexOf(0x20, at);
    const length = Number(data.toString('latin1', at, space));
    if (space < 0 || !Number.isSafeInteger(length) || length <= space - at) {
      throw new Error('an extended header of the archive is damaged');
    }
    const record = data.toString('utf8', space + 1, at + length - 1);
    const equals = record.indexOf('=');
    records.set(record.slice(0, equals), record.slice(equals + 1));
    at += length;
  }
  return records;
}

function textAt(block: Buffer, start: number, length: number): string {
  const end = block.indexOf(0, start);
  return block.toString('utf8', start, end < 0 || end > start + length ? start + length : end);
}

/** Octal digits; or a binary number if the highest bit is set, for values of more than twelve digits. */
function numberAt(block: Buffer, start: number, length: number): number {
  if ((block[start] as number) & 0x80) {
    const value = block.readUIntBE(start + length - 6, 6);
    if (block.subarray(start + 1, start + length - 6).some((byte) => byte !== 0)) {
      throw new Error('an entry of the archive has an invalid size');
    }
    return value;
  }
  const text = block.toString('latin1', start, start + length).split('\0', 1)[0] as string;
  const value = text.trim() === '' ? 0 : Number.parseInt(text.trim(), 8);
  if (!Number.isSafeInteger(value) || value < 0) throw new Error('a numeric field of the archive is damaged');
  return value;
}

/** Sum of all bytes, with the checksum field itself read as spaces. */
function checksum(block: Buffer): number {
  let sum = 8 * 0x20;
  for (const [at, byte] of block.entries()) if (at < 148 || at >= 156) sum += byte;
  return sum;
}
