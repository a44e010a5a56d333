import type { Options } from 'msgpackr';
import { Packr, RESERVE_START_SPACE, RESET_BUFFER_MODE } from 'msgpackr/pack';

/** Limit of a message, bytes: a larger one is an error of the run or the request that it belongs to. */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

const HEADER_BYTES = 4;

/** A message is too large to be sent, or what arrived is no frame. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
}

/** Plain maps instead of msgpackr's own records, and no members without a value: other libraries know neither. */
const OPTIONS: Options & { skipValues: unknown[] } = { useRecords: false, skipValues: [undefined] };
const packr = new Packr(OPTIONS);

/** Each message is packed over the one before, after room for its header. */
const OVERWRITE = RESERVE_START_SPACE | RESET_BUFFER_MODE | HEADER_BYTES;
/** Messages are packed into memory of this size, bytes, and of a larger one after a larger message, up to a limit. */
const MAX_PACKING_BYTES = 4 * 1024 * 1024;
const PACKING_BYTES = 8192;

/** A frame: the length of the message (unsigned, 32 bits, big-endian), then the message as MessagePack. */
export function encodeFrame(message: unknown): Buffer {
  const packed = packr.pack(message, OVERWRITE);
  if (packed.buffer.byteLength > MAX_PACKING_BYTES) packr.useBuffer(Buffer.allocUnsafeSlow(PACKING_BYTES));
  const length = packed.length - HEADER_BYTES;
  if (length > MAX_MESSAGE_BYTES) {
    throw new FrameError(
      `A value of ${length} bytes exceeds the limit of a graph host, ${MAX_MESSAGE_BYTES} bytes: store large data elsewhere, and its address in the state.`,
    );
  }
  const frame = Buffer.from(packed);
  frame.writeUInt32BE(length);
  return frame;
}

/** Splits a stream of bytes into messages. */
export class FrameDecoder {
  /** Unread bytes, in order. */
  #chunks: Buffer[] = [];
  #length = 0;

  /** The messages that `chunk` completes. Throws `FrameError` for anything but frames of MessagePack. */
  decode(chunk: Buffer): unknown[] {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    const messages: unknown[] = [];
    for (let size = this.#frameSize(); size !== undefined; size = this.#frameSize()) {
      const bytes = this.#joined();
      messages.push(decodeMessage(bytes.subarray(HEADER_BYTES, size)));
      const rest = bytes.subarray(size);
      this.#chunks = rest.length > 0 ? [rest] : [];
      this.#length = rest.length;
    }
    return messages;
  }

  /** Size of the first frame with its header, if it has arrived completely. */
  #frameSize(): number | undefined {
    if (this.#length < HEADER_BYTES) return undefined;
    const [first] = this.#chunks as [Buffer];
    const size = (first.length >= HEADER_BYTES ? first : this.#joined()).readUInt32BE();
    if (size > MAX_MESSAGE_BYTES) throw new FrameError(`A frame announces ${size} bytes.`);
    return this.#length >= HEADER_BYTES + size ? HEADER_BYTES + size : undefined;
  }

  #joined(): Buffer {
    const all = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
    this.#chunks = [all];
    return all;
  }
}

function decodeMessage(bytes: Buffer): unknown {
  try {
    return packr.unpack(bytes);
  } catch (cause) {
    throw new FrameError('A frame is not valid MessagePack.', { cause });
  }
}
