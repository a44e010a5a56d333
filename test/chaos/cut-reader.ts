import { get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type SseEvent, sseEvents } from '../support/sse.ts';

export interface CutStream {
  readonly path: string;
  /** The id that stands for all of it. */
  readonly all: string;
  /** The last event of a stream that does not end by itself. */
  readonly isLast?: (event: SseEvent) => boolean;
}

/** A client of an event stream that comes back after the last event it has, until the stream has ended. */
export class CutReader {
  readonly seen: SseEvent[] = [];
  /** How often the connection was cut on purpose. */
  cuts = 0;
  /** How often it could not be had, or broke by itself. */
  failures = 0;
  readonly #url: string;
  readonly #stream: CutStream;

  constructor(url: string, stream: CutStream) {
    this.#url = url + stream.path;
    this.#stream = stream;
  }

  /** Cuts the first connections after so many bytes, wherever in an event that is. */
  async read(cut_after: readonly number[]): Promise<void> {
    for (;;) {
      try {
        if ((await this.#readSome(cut_after[this.cuts] ?? Number.POSITIVE_INFINITY)) === 'end') return;
        this.cuts++;
      } catch {
        this.failures++;
        await sleep(100);
      }
    }
  }

  async #readSome(bytes: number): Promise<'cut' | 'end'> {
    const { all, isLast } = this.#stream;
    const response = await open(this.#url, this.seen.at(-1)?.id ?? all);
    const outcome = { isCut: false };
    for await (const event of sseEvents(firstBytes(response, bytes, outcome))) {
      this.seen.push(event);
      if (isLast?.(event)) {
        response.destroy();
        return 'end';
      }
    }
    return outcome.isCut ? 'cut' : 'end';
  }
}

function open(url: string, last_event_id: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false, headers: { 'last-event-id': last_event_id } }, (response) => {
      if (response.statusCode === 200) resolve(response);
      else reject(new Error(`${url} ${response.resume().statusCode}`));
    }).on('error', reject);
  });
}

async function* firstBytes(response: IncomingMessage, bytes: number, outcome: { isCut: boolean }) {
  const decoder = new TextDecoder();
  let left = bytes;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    const piece = chunk.subarray(0, left);
    left -= piece.length;
    yield decoder.decode(piece, { stream: true });
    if (left > 0) continue;
    outcome.isCut = true;
    response.destroy();
    return;
  }
}
