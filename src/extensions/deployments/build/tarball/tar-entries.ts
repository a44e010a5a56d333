import { yieldToEventLoop } from '../../../../core/event-loop.ts';
import { BLOCK, parsePaxRecords, parseTarHeader, type TarHeader } from './tar-header.ts';

export interface TarEntry extends TarHeader {
  /** The data of a file, to be read before the next entry; unread data is skipped. */
  readonly data: AsyncIterable<Buffer>;
}

/** Extended headers of one entry: a global one, its records, its long path, its long target. */
const MAX_EXTENSIONS = 4;
/** Maximum size of an extended header, bytes: paths and attributes are far shorter. */
const MAX_EXTENSION_BYTES = 64 * 1024;
/** Of all extended headers of an archive, which compress a thousandfold. */
const MAX_EXTENSIONS_BYTES = 32 * 1024 * 1024;

/** Yields the entries of an archive, with the paths and sizes that extended headers give them. */
export async function* tarEntries(source: AsyncIterable<Buffer>): AsyncGenerator<TarEntry> {
  const bytes = new ByteReader(source);
  let extended = new Map<string, string>();
  let [extensions, extension_bytes] = [0, 0];
  for (;;) {
    // What is in memory already is read without a pause otherwise.
    await yieldToEventLoop();
    const block = await bytes.exactly(BLOCK);
    const header = block && parseTarHeader(block);
    if (!header) return;
    if ('xgLK'.includes(header.type)) {
      extensions += 1;
      extension_bytes += header.size;
      if (extensions > MAX_EXTENSIONS || extension_bytes > MAX_EXTENSIONS_BYTES)
        throw new Error('the archive has too many extended headers');
      const records = extensionOf(header, await extension(bytes, header.size));
      // Global records, such as the commit id of `git archive`, describe no single entry.
      if (header.type !== 'g') extended = new Map([...extended, ...records]);
      continue;
    }
    extensions = 0;
    const size = extended.has('size') ? Number(extended.get('size')) : header.size;
    if (!Number.isSafeInteger(size) || size < 0)
      throw new Error('an entry of the archive has an invalid size');
    const path = extended.get('path') ?? header.path;
    const target = extended.get('linkpath') ?? header.target;
    const isSparse = [...extended.keys()].some((key) => key.startsWith('GNU.sparse.'));
    extended = new Map();
    const length = '07'.includes(header.type) ? size : 0;
    const data = bytes.next(length);
    yield { ...header, path, target, size: length, type: isSparse ? 'S' : header.type, data };
    // Skip the rest of the data that the caller did not read.
    for await (const _ of data);
    await bytes.exactly((BLOCK - (length % BLOCK)) % BLOCK);
  }
}

function extensionOf(header: TarHeader, data: Buffer): Map<string, string> {
  if (header.type === 'x' || header.type === 'g') return parsePaxRecords(data);
  const text = data.toString('utf8').split('\0', 1)[0] as string;
  return new Map([[header.type === 'L' ? 'path' : 'linkpath', text]]);
}

async function extension(bytes: ByteReader, size: number): Promise<Buffer> {
  if (size > MAX_EXTENSION_BYTES) throw new Error('an extended header of the archive is too large');
  const data = await bytes.exactly(size);
  await bytes.exactly((BLOCK - (size % BLOCK)) % BLOCK);
  if (!data) throw new Error('the archive is truncated');
  return data;
}

/** Reads chunks of given lengths from a stream of chunks. */
class ByteReader {
  readonly #source: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** `undefined` at the end of the stream; throws if the stream ends within the chunk. */
  async exactly(length: number): Promise<Buffer | undefined> {
    const chunks: Buffer[] = [];
    for await (const chunk of this.next(length, true)) chunks.push(chunk);
    return chunks.length === 0 && length > 0 ? undefined : Buffer.concat(chunks);
  }

  /** The next `length` bytes as they come. With `mayEnd` the stream may end before the first of them. */
  async *next(length: number, mayEnd = false): AsyncGenerator<Buffer> {
    for (let left = length; left > 0; ) {
      if (this.#rest.length === 0) {
        const { done, value } = await this.#source.next();
        if (done && mayEnd && left === length) return;
        if (done) throw new Error('the archive is truncated');
        this.#rest = value;
        continue;
      }
      const chunk = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(chunk.length);
      left -= chunk.length;
      yield chunk;
    }
  }
}
