import { get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RemoteRun } from '../support/remote-runs.ts';
import { type SseEvent, sseEvents } from '../support/sse.ts';

/** A client of a run's stream that comes back after the last event it has, until the run has ended. */
export class CutReader {
  readonly seen: SseEvent[] = [];
  /** How often the connection was cut on purpose. */
  cuts = 0;
  /** How often it could not be had, or broke by itself. */
  failures = 0;
  readonly #stream: string;

  constructor(url: string, { thread_id, run_id }: RemoteRun) {
    this.#stream = `${url}/threads/${thread_id}/runs/${run_id}/stream`;
  }

  /** Cuts the first connections after so many bytes, wherever in an event that is. */
  async read(cut_after: readonly number[]): Promise<void> {
    for (;;) {
      try {
        if ((await this.#readSome(cut_after[this.cuts] ?? Number.POSITIVE_INFINITY)) === 'end') return;
        this.cuts++;
      } catch {
        this.failures++;
        await sleep(50);
      }
    }
  }

  async #readSome(bytes: number): Promise<'cut' | 'end'> {
    const response = await open(this.#stream, this.seen.at(-1)?.id ?? '-1');
    const outcome = { isCut: false };
    for await (const event of sseEvents(firstBytes(response, bytes, outcome))) this.seen.push(event);
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
